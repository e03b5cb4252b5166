package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"warp/cli/exit"
	"warp/pkg/bench"
	"warp/pkg/store"
)

// A Benchmark is a [Load] with a preparation, whose objects can be kept for other runs.
type Benchmark interface {
	Load
	// Hold uploads the objects of the benchmark, prints what runs need to find them, and keeps them until standard input ends: a
	// parent that is killed ends it, too. Then it removes them. Nothing is measured.
	Hold(ctx context.Context) error
}

// NewBenchmark returns the load of a benchmark, which clients make if there are any. It calls full when the embedded store is full.
func NewBenchmark(ctx context.Context, s *Session, op bench.Op, full func(error)) (Benchmark, error) {
	if s.Flags.Fleet.Clients != "" {
		return newFleet(ctx, s, op)
	}
	return NewLocal(ctx, s, op, full)
}

// errReleased ends a hold when nobody needs the objects any more.
var errReleased = errors.New("released")

// Hold implements [Benchmark].
func (l *Local) Hold(ctx context.Context) error {
	defer l.Close()
	err := l.Open(ctx)
	if err == nil {
		l.Runner.Gate = l.hold
		out := l.Runner.Run(ctx)
		if err = out.Fatal; errors.Is(err, errReleased) {
			err = nil
		} else if err != nil {
			err = l.Session.Flags.Target.Explain(err)
		}
	}
	_, failed := l.CleanUp(ctx, err)
	return exit.Join(err, failed)
}

// hold is the gate of the run, between its preparation and what would be measured.
func (l *Local) hold(ctx context.Context) (time.Time, error) {
	o := &l.Session.Options
	return time.Time{}, l.Session.hold(ctx, l.Target.Client, o.FullPrefix(), l.Target.EmbeddedAddr())
}

// Unlisted is printed in place of the seed if the store does not list the objects, which runs need to find them.
const Unlisted = "-"

// hold prints the seed of the objects, with the address of an embedded store that has them, and waits.
func (s *Session) hold(ctx context.Context, client *store.Client, prefix, embedded string) error {
	pool, listed := strconv.FormatUint(s.Options.Seed, 10), false
	err := client.List(ctx, store.List{Bucket: s.Options.Bucket, Prefix: prefix, MaxKeys: 1}, func() {}, func(store.Object) bool {
		listed = true
		return false
	})
	switch {
	case err != nil:
		return err
	case !listed:
		pool = Unlisted
	case embedded != "":
		pool += "@" + embedded
	}
	if _, err := fmt.Fprintln(s.Out, pool); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, s.In)
	}()
	select {
	case <-ended:
		return errReleased
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Hold implements [Benchmark]. The clients upload them and are free then: this process takes over their
// leases.
func (l *Fleet) Hold(ctx context.Context) error {
	defer l.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	adopted, err := l.prepareToHold(ctx, cancel)
	if err == nil {
		err = l.s.hold(ctx, l.target.Client, adopted[0].Options.FullPrefix(), "")
	}
	var failed error
	for _, r := range adopted {
		failed = exit.Join(failed, r.Cleanup(ctx))
	}
	if errors.Is(err, errReleased) {
		err = nil
	}
	return exit.Join(err, failed)
}

// prepareToHold returns the runs whose leases it has taken over from clients.
func (l *Fleet) prepareToHold(ctx context.Context, lapsed func(error)) (adopted []*bench.Runner, err error) {
	if err = l.Open(ctx); err == nil {
		stop := l.watch()
		err = l.explain(l.fleet.Prepare(ctx, *l.plan))
		stop()
	}
	if err == nil {
		adopted, err = l.adopt(ctx, lapsed)
	}
	if err == nil {
		return adopted, l.fleet.HandOver(context.WithoutCancel(ctx))
	}
	return adopted, exit.Join(err, l.fleet.Abort(context.WithoutCancel(ctx), err))
}

func (l *Fleet) adopt(ctx context.Context, lapsed func(error)) (adopted []*bench.Runner, err error) {
	s, clients := l.s, l.fleet.Clients()
	if l.target, err = s.Flags.Target.Open(ctx, s.Invocation, s.Options.Concurrency, nil); err != nil {
		return nil, err
	}
	for i, c := range clients {
		o := s.Options
		o.LeaseID, o.Client, o.Clients = c.ID, i, len(clients)
		r := &bench.Runner{Client: l.target.Client, Options: o, Progress: &Progress{Session: s}}
		adopted = append(adopted, r)
		if err := r.Adopt(ctx, lapsed); err != nil {
			return adopted, s.Flags.Target.ExplainOpen(ctx, err)
		}
	}
	return adopted, nil
}
