// Package serverprof records profiles that a MinIO server takes of itself during a run (--serverprof).
package serverprof

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"warp/cli/exit"
	"warp/cli/target"
	"warp/cli/terminal/console"
	"warp/internal/tempfile"
	"warp/pkg/store"
)

// Profiles are the profiles of one run. Nil Profiles do nothing.
type Profiles struct {
	out     *console.Console
	kinds   []string
	path    string // of the ZIP
	client  *store.Client
	running bool // at the store, as far as warp knows
}

// Check returns an error if the value of --serverprof is invalid.
func Check(kinds string) error {
	_, err := parse(kinds)
	return err
}

func parse(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	kinds, err := store.ParseServerProfiles(text)
	if err != nil {
		return nil, exit.Usagef("--serverprof: %w", err)
	}
	return kinds, nil
}

// Options say what to record.
type Options struct {
	Kinds       string // value of --serverprof; "" = nothing
	Path        string // of the ZIP to write
	Store       func(context.Context) (*store.Client, error)
	Target      *target.Flags
	Coordinator bool // the load comes from other machines
}

// Start starts the profiles before the load, to find out whether the store takes
// them. Restart follows when the run is measured, because nobody needs profiles of the
// preparation. It returns nil without --serverprof.
func Start(ctx context.Context, out *console.Console, o Options) (*Profiles, error) {
	kinds, err := parse(o.Kinds)
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	if _, err := os.Lstat(o.Path); err == nil {
		return nil, exit.Usagef("--serverprof: %s exists already", o.Path).WithHint("choose another --benchdata or move it away")
	}
	client, err := o.Store(ctx)
	if err != nil {
		return nil, err
	}
	p := &Profiles{out: out, kinds: kinds, path: o.Path, client: client}
	return p, o.explain(p.start(ctx))
}

// explain adds to a failure of the first request what to do about it.
func (o *Options) explain(err error) error {
	var nobody *store.UnreachableError
	switch code := store.CodeOf(err); {
	case err == nil:
		return nil
	case code == store.CodeTLS:
		return exit.Errorf("--serverprof: %w", o.Target.Explain(err))
	case code == "AccessDenied" || code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch":
		return exit.Errorf("--serverprof: %w", err).WithHint("use keys of an administrator of the store, or leave it out")
	case o.Coordinator && errors.As(err, &nobody):
		return exit.Errorf("--serverprof: %v", nobody).WithHint("with --warp-client the coordinator asks for the profiles, but it cannot reach the store: start it on a machine that can, or leave out --serverprof")
	}
	return exit.Errorf("--serverprof: %w", err).WithHint("leave it out")
}

// start starts the profiles. If they run already, they start from the beginning.
func (p *Profiles) start(ctx context.Context) error {
	err := p.client.StartServerProfiles(ctx, p.kinds)
	p.running = p.running || err == nil || ctx.Err() != nil // it may have arrived
	return err
}

// Restart starts the profiles from the beginning. Call it before the measured
// time, because a MinIO that starts "mem" collects its garbage before it answers.
func (p *Profiles) Restart(ctx context.Context) {
	if p == nil {
		return
	}
	if err := p.start(ctx); err != nil && ctx.Err() == nil {
		p.out.Warnf("--serverprof: %v", err)
	}
}

// Lead is the time from Restart to a start at a fixed time. With a longer one, the
// profiles would be full of waiting.
const Lead = 2 * time.Second

// Wait waits until a run of this process may be measured, and restarts the profiles
// right before. sync waits for the time of --syncstart; nil = start now.
func (p *Profiles) Wait(ctx context.Context, sync func(context.Context) (time.Time, error)) (time.Time, error) {
	if sync == nil {
		p.Restart(ctx)
		return time.Now(), nil
	}
	start, err := sync(ctx)
	if err != nil {
		return start, err
	}
	soon := time.NewTimer(time.Until(start.Add(-Lead)))
	defer soon.Stop()
	select {
	case <-ctx.Done():
		return start, context.Cause(ctx)
	case <-soon.C:
	}
	p.Restart(ctx)
	return start, nil
}

// Save stops the profiles and writes the ZIP. It cannot be interrupted, because the run
// is over.
func (p *Profiles) Save() {
	if p == nil || !p.running {
		return
	}
	p.running = false
	if err := p.save(); err != nil {
		p.out.Warnf("--serverprof: %v", err)
		return
	}
	p.out.Notef("server profiles written to %q", p.path)
}

func (p *Profiles) save() error {
	fetched := false
	err := tempfile.Replace(p.path, func(w io.Writer) error {
		fetched = true
		return p.client.ServerProfilesTo(context.Background(), w)
	})
	if !fetched {
		err = errors.Join(err, p.stop())
	}
	return err
}

// Discard stops the profiles of a run that was not measured. The store would
// profile itself until somebody fetches the result.
func (p *Profiles) Discard() {
	if p == nil || !p.running {
		return
	}
	p.running = false
	if err := p.stop(); err != nil {
		p.out.Warnf("--serverprof: the store may still profile itself: %v", err)
	}
}

func (p *Profiles) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return p.client.ServerProfilesTo(ctx, io.Discard)
}
