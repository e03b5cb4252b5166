package lease

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A term is how long a lease holds unless it is renewed. Once it is over it stays over: another run may have taken the
// names since, and its objects must not be written over on the word of a later renewal.
//
// Both clocks count, since the monotonic one stands still while a laptop sleeps.
type term struct {
	length time.Duration
	margin time.Duration // stores may tell times to the second
	epoch  time.Time
	mono   atomic.Int64 // the end, ns since epoch
	wall   atomic.Int64 // the end, unix ns
	lapsed atomic.Bool

	mu     sync.Mutex
	notify func(error) // called once it is over; nil = nobody has asked yet
}

func newTerm(length time.Duration) *term {
	t := &term{length: length, margin: min(time.Second, length/10), epoch: time.Now()}
	t.mono.Store(math.MaxInt64)
	t.wall.Store(math.MaxInt64)
	return t
}

// over reports whether the term is over at the given time, from which on it is.
func (t *term) over(now time.Time) bool {
	if now.Sub(t.epoch) <= time.Duration(t.mono.Load()) && now.UnixNano() <= t.wall.Load() {
		return t.lapsed.Load()
	}
	t.end()
	return true
}

func (t *term) end() {
	if t.lapsed.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notify != nil {
		t.notify(t.lapse())
	}
}

// renew extends the term after a write of the marker that began and ended at the given times. The store may have taken
// it as late as its end, so one that ended too late is too late.
func (t *term) renew(began, ended time.Time) error {
	if t.over(ended) {
		return t.lapse()
	}
	t.mono.Store(int64(began.Sub(t.epoch) + t.length - t.margin))
	t.wall.Store(began.Add(t.length - t.margin).UnixNano())
	return nil
}

// limit returns a context that ends with the term: a write that is repeated must not be sent later.
func (t *term) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	mono := t.mono.Load()
	if mono == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, t.epoch.Add(time.Duration(mono)), t.lapse())
}

// watch has do called when the term is over, which may be at once.
func (t *term) watch(do func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notify = do; t.lapsed.Load() {
		do(t.lapse())
	}
}

// A LapsedError ends a run whose lease ran out.
type LapsedError struct{ Lease time.Duration }

func (e *LapsedError) Error() string {
	return fmt.Sprintf("the lease of this run (--lease=%s) ran out, since warp stood still or the store took no renewal for that long: other runs may have its names by now, so it stops writing", e.Lease)
}

func (t *term) lapse() error { return &LapsedError{t.length} }
