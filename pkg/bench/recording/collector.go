package recording

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/oplog"
)

// Intervals of the collector, and the bound of the queues.
const (
	sweepInterval = 100 * time.Millisecond
	// warmInterval replaces sweepInterval while the start of the window depends
	// on the rows that arrive.
	warmInterval  = 10 * time.Millisecond
	flushInterval = time.Second
	// maxBacklog bounds the chunks of all queues while the collector is stuck, for
	// example on a disk that hangs: about 105 MiB.
	maxBacklog = 18000
)

// A Collector moves records from the queues of the workers to the sinks. Between
// the records it announces the instants of the window.
type Collector struct {
	sinks   []Sink
	window  *Window
	backlog backlog
	fail    func(error)   // called once, when a sink fails
	maxLag  time.Duration // read after Close
	longest atomic.Int64  // duration of a request so far, in ns
	pauses  pauses        // read after Close

	mu     sync.Mutex
	queues []*Queue

	from    *Queue // queue of the batch that is being written
	warming bool   // the start of the window depends on the rows that arrive
	seen    []bool // workers with a row of the measured part
	cold    int    // number of workers without one
	rows    int64  // rows of the measured part

	syncs chan chan struct{}
	stop  chan struct{}
	done  chan struct{}
	err   error // of the first sink that failed; read after Close
}

// Start returns a collector that is running. Close must follow. If a sink fails it
// calls fail once, and goes on with the others.
func Start(sinks []Sink, w *Window, fail func(error)) *Collector {
	c := &Collector{sinks: sinks, window: w, fail: fail, syncs: make(chan chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
	c.backlog.max.Store(maxBacklog)
	go c.loop()
	return c
}

// NewQueue returns a queue for one worker, or for one of its lanes. Workers are
// numbered from 0.
func (c *Collector) NewQueue(worker int) *Queue {
	q := newQueue(&c.backlog)
	q.worker = worker
	c.backlog.max.Add(2) // chunks that an idle queue has
	c.mu.Lock()
	c.queues = append(c.queues, q)
	c.mu.Unlock()
	return q
}

// Longest returns the longest duration of a request so far.
func (c *Collector) Longest() time.Duration { return time.Duration(c.longest.Load()) }

// MaxLag returns how far the collector was behind its schedule at most. It is
// called after Close.
func (c *Collector) MaxLag() time.Duration { return c.maxLag }

// Pauses returns the times in which the process did not run and that overlap the
// given ones. It is called after Close.
func (c *Collector) Pauses(from, to time.Time) []oplog.Pause { return c.pauses.inside(from, to) }

func (c *Collector) loop() {
	defer close(c.done)
	interval := sweepInterval
	tick := time.NewTicker(interval)
	defer tick.Stop()
	lastSweep, lastFlush := time.Now(), time.Now()
	for {
		stopping := false
		var synced chan struct{}
		wait := startWait()
		select {
		case <-tick.C:
			lastSweep = lastSweep.Add(c.pauses.addWait(wait)) // the collector did not fall behind
		case synced = <-c.syncs:
		case <-c.window.wake:
		case <-c.stop:
			stopping = true
			c.window.closeMarks()
		}
		began := time.Now()
		if !stopping && synced == nil && c.window.mustWait(c.backlog.chunks.Load()) {
			lastSweep = began
			continue
		}
		c.sweep()
		// What a worker recorded right after the previous sweep is safe only now.
		c.maxLag = max(c.maxLag, time.Since(lastSweep)-sweepInterval)
		lastSweep = began
		if now := c.updateWindow(); now != interval {
			interval = now
			tick.Reset(interval)
		}
		if synced != nil {
			close(synced)
		}
		if stopping || time.Since(lastFlush) >= flushInterval-sweepInterval/2 {
			c.flush()
			lastFlush = time.Now()
		}
		if stopping {
			return
		}
	}
}

// Sync returns when every sink has all records so far.
func (c *Collector) Sync() {
	synced := make(chan struct{})
	c.syncs <- synced
	<-synced
}

// updateWindow advances the window after a sweep and returns how long to wait for
// the next one.
func (c *Collector) updateWindow() time.Duration {
	c.announce()
	if c.warming {
		c.window.warm(c.rows, c.cold, true)
		c.announce()
	}
	if c.warming {
		return warmInterval
	}
	return sweepInterval
}

// announce sends the sinks the instants of the window that have passed.
func (c *Collector) announce() {
	for w, more := c.window.next(c.rows, c.cold); more; w, more = c.window.next(c.rows, c.cold) {
		if c.seen == nil {
			c.cold = c.window.warmUp.Workers
			c.seen = make([]bool, c.cold)
		}
		c.warming = w.Begin == 0 && w.End == 0
		for _, s := range c.sinks {
			if s, ok := s.(WindowSink); ok {
				c.keepError(s.SetWindow(w))
			}
		}
	}
	c.announceMarks()
}

// sweep writes the records of all queues.
func (c *Collector) sweep() {
	c.mu.Lock()
	queues := c.queues
	c.mu.Unlock()
	for _, q := range queues {
		c.from = q
		q.drain(c.write)
	}
}

// write passes a batch to every sink. After a failure the queues are still
// emptied, so that the run can end in good order.
func (c *Collector) write(batch []oplog.Record) {
	c.announce()
	c.track(batch)
	for _, s := range c.sinks {
		c.keepError(s.Write(batch))
	}
	if c.warming { // a sweep takes long if a sink is slow
		c.window.warm(c.rows, c.cold, false)
	}
}

// track counts rows for the window, and finds the longest request.
func (c *Collector) track(batch []oplog.Record) {
	longest := time.Duration(c.longest.Load())
	for i := range batch {
		longest = max(longest, batch[i].Duration)
	}
	c.longest.Store(int64(longest))
	if c.seen == nil {
		return // preparation
	}
	c.rows += int64(len(batch))
	if id := c.from.worker; !c.seen[id] {
		c.seen[id] = true
		c.cold--
	}
}

func (c *Collector) flush() {
	for _, s := range c.sinks {
		if s, ok := s.(Watcher); ok {
			s.InFlight(c.inFlight())
		}
		c.keepError(s.Flush())
	}
}

// inFlight counts requests in flight by operation.
func (c *Collector) inFlight() map[string]int {
	c.mu.Lock()
	queues := c.queues
	c.mu.Unlock()
	byOp := make(map[string]int)
	for _, q := range queues {
		if op := q.busy.Load(); op != nil {
			byOp[*op]++
		}
	}
	return byOp
}

func (c *Collector) keepError(err error) {
	if err == nil || c.err != nil {
		return
	}
	c.err = fmt.Errorf("record the requests: %w", err)
	c.fail(c.err)
}

// Close writes the records that are left in the queues. It returns the error of the
// first sink that failed.
func (c *Collector) Close() error {
	close(c.stop)
	<-c.done
	return c.err
}
