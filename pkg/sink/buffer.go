package sink

import (
	"sync"
	"time"
)

// A buffer lies between the run, which never waits, and a receiver, which may
// be slow: a queue with a bound, and a goroutine that delivers what is in it.
// All sinks that send have one, so what does not fit, what fails, and what does
// not arrive in time is counted in one place.
type buffer[T any] struct {
	max     int           // sizes that may wait
	deliver func(T) error // called by one goroutine, in order
	broken  func(error)   // where the first failure ends everything; it must not wait

	mu        sync.Mutex
	changed   sync.Cond
	queue     []parcel[T]
	size      int  // of the queue, and of what is being delivered
	wait      bool // what does not fit waits, rather than be dropped
	ending    bool // nothing follows
	closed    bool // nothing is delivered any more
	offered   int64
	delivered int64
	err       error     // the receiver's latest
	moved     time.Time // when the receiver last took something
	done      chan struct{}
}

// A parcel is delivered as a whole. It counts as n rows, points, or datagrams.
type parcel[T any] struct {
	content T
	size    int
	n       int64
}

func newBuffer[T any](max int, deliver func(T) error) *buffer[T] {
	b := &buffer[T]{max: max, deliver: deliver, done: make(chan struct{})}
	b.changed.L = &b.mu
	return b
}

// start begins to deliver.
func (b *buffer[T]) start() *buffer[T] {
	go b.flush()
	return b
}

// room is how much fits. Where parcels wait for room it waits for some.
func (b *buffer[T]) room() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.wait && b.size >= b.max && !b.closed {
		b.changed.Wait()
	}
	switch {
	case b.closed:
		return 0
	case b.wait:
		return 2 * b.max // a whole parcel, whatever is left
	}
	return max(0, b.max-b.size)
}

// over says that nothing is delivered any more.
func (b *buffer[T]) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// offer counts what is to be delivered. What is never put is lost.
func (b *buffer[T]) offer(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offered += n
}

// put queues what was offered, which must fit. The last parcel of all need not.
func (b *buffer[T]) put(content T, size int, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.queue = append(b.queue, parcel[T]{content, size, n})
	b.size += size
	b.changed.Broadcast()
}

// offerWhole offers and queues a parcel of size 1, or drops it.
func (b *buffer[T]) offerWhole(content T, n int64) {
	b.offer(n)
	if b.room() > 0 {
		b.put(content, 1, n)
	}
}

// drop lets nothing wait for room from now on.
func (b *buffer[T]) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait = false
	b.changed.Broadcast()
}

func (b *buffer[T]) flush() {
	defer close(b.done)
	for {
		p, ok := b.next()
		if !ok {
			return
		}
		b.took(p, b.deliver(p.content))
	}
}

// next waits for a parcel; there is none once nothing follows.
func (b *buffer[T]) next() (p parcel[T], ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 && !b.ending && !b.closed {
		b.changed.Wait()
	}
	if len(b.queue) == 0 || b.closed {
		return p, false
	}
	p = b.queue[0]
	b.queue[0] = parcel[T]{} // or its content would live as long as the slice
	b.queue = b.queue[1:]
	return p, true
}

// took notes what became of a parcel.
func (b *buffer[T]) took(p parcel[T], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.changed.Broadcast()
	b.size -= p.size
	b.moved = time.Now()
	switch {
	case err == nil:
		b.delivered += p.n
	case b.closed: // it was given up, and is lost already
	default:
		b.err = err
		if b.broken != nil {
			b.closed, b.queue, b.size = true, nil, 0
			b.broken(err)
		}
	}
}

// end says that nothing follows.
func (b *buffer[T]) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	b.changed.Broadcast()
}

// await returns when everything is delivered, or why it waits no longer: enough
// says so, and is asked every now and then.
func (b *buffer[T]) await(enough func() (why string)) (why string) {
	b.mu.Lock()
	b.moved = time.Now()
	b.mu.Unlock()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.done:
			return ""
		case <-tick.C:
			if why := enough(); why != "" {
				return why
			}
		}
	}
}

// abandon gives up what is not delivered.
func (b *buffer[T]) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}

// idle is for how long the receiver has taken nothing of what there is.
func (b *buffer[T]) idle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 {
		b.moved = time.Now()
	}
	return time.Since(b.moved)
}

// lost is how much of what was offered was not delivered, and the receiver's
// latest error.
func (b *buffer[T]) lost() (lost, offered int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.offered - b.delivered, b.offered, b.err
}

// finish delivers the rest, for a limited time, and returns how much is lost.
func (b *buffer[T]) finish(limit time.Duration) (lost, offered int64, err error) {
	b.end()
	deadline := time.Now().Add(limit)
	late := b.await(func() string {
		if time.Now().Before(deadline) {
			return ""
		}
		return "it did not answer within " + limit.String() + " of the end"
	})
	b.abandon()
	lost, offered, err = b.lost()
	if lost > 0 && err == nil && late != "" {
		err = lateError(late)
	}
	return lost, offered, err
}

// A lateError says that warp gave up. It is reported only where no better
// reason is known.
type lateError string

func (e lateError) Error() string { return string(e) }

// every calls tick after first, and then again and again, until stop is called.
func every(first, interval time.Duration, tick func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	timer := time.NewTimer(first)
	go func() {
		defer close(ended)
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case <-timer.C:
				tick()
				timer.Reset(interval)
			}
		}
	}()
	return func() { close(done); <-ended }
}
