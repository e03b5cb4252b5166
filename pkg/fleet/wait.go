package fleet

import (
	"context"
	"fmt"
	"time"
)

// A wait selects the clients to wait for.
type wait int

const (
	forEvery   wait = iota // every client: the first failure is an error that names the client
	forCounted             // clients whose share counts: the wait continues without failed ones
	forPresent             // clients that are still connected, even if their share does not count
)

// await waits until the clients are done. A client without progress within the
// timeout has failed.
func (f *Fleet) await(ctx context.Context, what string, timeout time.Duration, whom wait, done func(*link) bool) error {
	f.update(func() {
		for _, l := range f.links {
			l.progressed = time.Now()
		}
	})
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		f.mu.Lock()
		waiting, err := f.countWaiting(what, timeout, whom, done)
		changed := f.changed
		f.mu.Unlock()
		if err != nil || waiting == 0 {
			return err
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// countWaiting counts the clients that are not done. The caller holds the lock.
func (f *Fleet) countWaiting(what string, timeout time.Duration, whom wait, done func(*link) bool) (waiting int, err error) {
	for _, l := range f.links {
		f.passWarnings(l)
		if l.failed() {
			l.discount(l.status.Err())
		}
		out := l.lost
		if whom == forPresent {
			out = l.gone
		}
		switch {
		case out != nil || done(l):
		case time.Since(l.progressed) <= timeout:
			waiting++
		case whom == forPresent:
			l.giveUpLocked(stuck(timeout, what))
		default:
			l.discount(stuck(timeout, what))
		}
		if whom == forEvery && l.lost != nil {
			return 0, &Error{l.name(), l.lost}
		}
	}
	return waiting, nil
}

func stuck(timeout time.Duration, what string) error {
	return fmt.Errorf("waited %v for it while it was %s, without any progress", timeout, what)
}

// failed reports whether the client cannot continue. Too many failed requests
// are a failure of the run, not of the client. The caller holds the lock.
func (l *link) failed() bool {
	return l.status.Error != "" && !(l.status.Outcome != nil && l.status.Outcome.TooMany)
}

// passWarnings passes on the client's warnings. The caller holds the lock.
func (f *Fleet) passWarnings(l *link) {
	for ; l.warn < len(l.status.Warning); l.warn++ {
		f.options.Logf("client %s: %s", l.name(), l.status.Warning[l.warn])
	}
}
