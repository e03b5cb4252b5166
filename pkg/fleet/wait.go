package fleet

import (
	"context"
	"fmt"
	"time"
)

// A wait says for whom to wait.
type wait int

const (
	forEvery   wait = iota // client: the first one that fails is an error that names it
	forCounted             // one whose share counts: the wait goes on without one that fails
	forPresent             // one that is still spoken to, though its share may not count
)

// await waits until the clients are done. One that makes no progress within
// the timeout has failed.
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

// countWaiting counts the clients that are not done. The lock is held.
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

// failed says whether the client can do no more. Too many failed requests are
// the run's failure, and not its own. The lock is held.
func (l *link) failed() bool {
	return l.status.Error != "" && !(l.status.Outcome != nil && l.status.Outcome.TooMany)
}

// passWarnings says what the client has to say. The lock is held.
func (f *Fleet) passWarnings(l *link) {
	for ; l.warn < len(l.status.Warning); l.warn++ {
		f.options.Logf("client %s: %s", l.name(), l.status.Warning[l.warn])
	}
}
