package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"warp/cli/exit"
)

// errReleased ends a hold when nobody needs the objects any more.
var errReleased = errors.New("released")

// Hold uploads the objects of the benchmark, prints their prefix, and keeps them until standard input ends: a parent that is
// killed ends it, too. Then it removes them. Nothing is measured.
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

// hold prints the prefix and waits. It is the gate of a run, between its preparation and what would be measured.
func (l *Local) hold(ctx context.Context) (time.Time, error) {
	if _, err := fmt.Fprintln(l.Session.Out, l.Session.Options.FullPrefix()); err != nil {
		return time.Time{}, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, l.Session.In)
	}()
	select {
	case <-ended:
		return time.Time{}, errReleased
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}
