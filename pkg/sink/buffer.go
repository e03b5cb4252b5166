package sink

import (
	"sync"
	"time"
)

// A buffer decouples the run, which never waits, from a receiver, which may be slow. It is a
// bounded queue and a goroutine that delivers its contents. All sinks that send use one, so that
// records that do not fit, fail or are late are counted in one place.
type buffer[T any] struct {
	max     int           // max size of the queue
	deliver func(T) error // called by one goroutine, in order
	broken  func(error)   // called at the first failure, which ends everything; it must not wait; may be nil

	mu        sync.Mutex
	changed   sync.Cond
	queue     []batch[T]
	size      int  // of the queue, and of the batch being delivered
	wait      bool // wait for room instead of dropping
	ending    bool // nothing follows
	closed    bool // no more deliveries
	offered   int64
	delivered int64
	err       error     // the receiver's latest error
	moved     time.Time // when the receiver last accepted something
	done      chan struct{}
}

// A batch is delivered as a whole. It counts as n rows, points, or datagrams.
type batch[T any] struct {
	content T
	size    int
	n       int64
}

func newBuffer[T any](max int, deliver func(T) error) *buffer[T] {
	b := &buffer[T]{max: max, deliver: deliver, done: make(chan struct{})}
	b.changed.L = &b.mu
	return b
}

// start starts delivery.
func (b *buffer[T]) start() *buffer[T] {
	go b.flush()
	return b
}

// room returns how much fits. If batches wait for room, it first waits for some.
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
		return 2 * b.max // a whole batch, whatever is left
	}
	return max(0, b.max-b.size)
}

// over reports whether there will be no more deliveries.
func (b *buffer[T]) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// offer counts what is to be delivered. What is never put counts as lost.
func (b *buffer[T]) offer(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offered += n
}

// put queues what was offered, which must fit, except for the very last batch.
func (b *buffer[T]) put(content T, size int, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.queue = append(b.queue, batch[T]{content, size, n})
	b.size += size
	b.changed.Broadcast()
}

// offerWhole offers and queues a batch of size 1, or drops it.
func (b *buffer[T]) offerWhole(content T, n int64) {
	b.offer(n)
	if b.room() > 0 {
		b.put(content, 1, n)
	}
}

// drop stops all waiting for room from now on.
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
		b.record(p, b.deliver(p.content))
	}
}

// next waits for a batch. It returns false at the end.
func (b *buffer[T]) next() (p batch[T], ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 && !b.ending && !b.closed {
		b.changed.Wait()
	}
	if len(b.queue) == 0 || b.closed {
		return p, false
	}
	p = b.queue[0]
	b.queue[0] = batch[T]{} // or its content would live as long as the slice
	b.queue = b.queue[1:]
	return p, true
}

// record records the result of a delivery.
func (b *buffer[T]) record(p batch[T], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.changed.Broadcast()
	b.size -= p.size
	b.moved = time.Now()
	switch {
	case err == nil:
		b.delivered += p.n
	case b.closed: // it was abandoned, and already counts as lost
	default:
		b.err = err
		if b.broken != nil {
			b.closed, b.queue, b.size = true, nil, 0
			b.broken(err)
		}
	}
}

// end announces that no more batches follow.
func (b *buffer[T]) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	b.changed.Broadcast()
}

// await waits until everything is delivered, or until enough, which it calls repeatedly, returns a
// reason to stop.
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

// abandon drops what is not delivered.
func (b *buffer[T]) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}

// idle returns for how long the receiver has accepted nothing although something was queued.
func (b *buffer[T]) idle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 {
		b.moved = time.Now()
	}
	return time.Since(b.moved)
}

// lost returns how much of what was offered was not delivered, and the receiver's latest error.
func (b *buffer[T]) lost() (lost, offered int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.offered - b.delivered, b.offered, b.err
}

// finish delivers the rest, within a time limit, and returns how much is lost.
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

// A lateError means that warp stopped waiting. It is reported only if no better reason is known.
type lateError string

func (e lateError) Error() string { return string(e) }

// every calls tick after the duration first and then regularly until stop is called.
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
