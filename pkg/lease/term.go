package lease

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A term is the time until a lease expires unless it is renewed. A term that is over stays over: another run may use the
// names since then, and a later renewal must not allow this run to overwrite its objects.
//
// Both clocks count, since the monotonic one stops while a laptop sleeps.
type term struct {
	length time.Duration
	margin time.Duration // stores may round times to the second
	epoch  time.Time
	mono   atomic.Int64 // the end, ns since epoch
	wall   atomic.Int64 // the end, unix ns
	lapsed atomic.Bool

	mu     sync.Mutex
	notify func(error) // called when the term ends; nil = not called
}

func newTerm(length time.Duration) *term {
	t := &term{length: length, margin: min(time.Second, length/10), epoch: time.Now()}
	t.mono.Store(math.MaxInt64)
	t.wall.Store(math.MaxInt64)
	return t
}

// over reports whether the term is over at the given time. If so it stays over.
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

// renew extends the term after a write of the marker that began and ended at the given times. The store may have processed
// it at any time between, so a write that ended after the term is too late.
func (t *term) renew(began, ended time.Time) error {
	if t.over(ended) {
		return t.lapse()
	}
	t.mono.Store(int64(began.Sub(t.epoch) + t.length - t.margin))
	t.wall.Store(began.Add(t.length - t.margin).UnixNano())
	return nil
}

// limit returns a context that ends with the term, so that a repeated write is not sent later.
func (t *term) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	mono := t.mono.Load()
	if mono == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, t.epoch.Add(time.Duration(mono)), t.lapse())
}

// onLapse calls do when the term ends. If it has ended, onLapse calls do at once.
func (t *term) onLapse(do func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notify = do; t.lapsed.Load() {
		do(t.lapse())
	}
}

// A LapsedError ends a run whose lease has expired.
type LapsedError struct{ Lease time.Duration }

func (e *LapsedError) Error() string {
	return fmt.Sprintf("the lease of this run (--lease=%s) ran out, because warp was stopped or the store accepted no renewal for that long: other runs may use its names by now, so it stops writing", e.Lease)
}

func (t *term) lapse() error { return &LapsedError{t.length} }
