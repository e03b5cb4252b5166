package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/oplog"
)

const (
	sweepInterval = 100 * time.Millisecond
	// warmInterval replaces sweepInterval while the begin of the window depends
	// on the rows that arrive.
	warmInterval  = 10 * time.Millisecond
	flushInterval = time.Second
	// backlogChunks bounds the queues while the collector is stuck, say on a disk
	// that hangs: about 105 MiB.
	backlogChunks = 18000
)

// A collector moves records from the workers' queues to the sinks, and between
// them announces the instants of the window.
type collector struct {
	sinks     []Sink
	window    *window
	allocated atomic.Int64 // chunks over all queues
	fail      func(error)  // called once, when a sink fails
	lagMax    time.Duration
	longest   atomic.Int64 // request so far, in ns
	pauses    pauses       // read after close

	mu     sync.Mutex
	queues []*recordQueue

	from    *recordQueue // of the batch that is written
	warming bool         // the begin of the window depends on what arrives
	seen    []bool       // workers that have a row of the measured part
	cold    int          // workers that have none
	rows    int64        // of the measured part

	syncs chan chan struct{}
	stop  chan struct{}
	done  chan struct{}
	err   error // the first sink's failure; read after close
}

func startCollector(sinks []Sink, w *window, fail func(error)) *collector {
	c := &collector{sinks: sinks, window: w, fail: fail, syncs: make(chan chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
	go c.loop()
	return c
}

// newQueue returns a queue for one worker, or for one of its lanes.
func (c *collector) newQueue(worker int) *recordQueue {
	q := newRecordQueue(&c.allocated)
	q.worker = worker
	c.mu.Lock()
	c.queues = append(c.queues, q)
	c.mu.Unlock()
	return q
}

func (c *collector) loop() {
	defer close(c.done)
	interval := sweepInterval
	tick := time.NewTicker(interval)
	defer tick.Stop()
	lastSweep, lastFlush := time.Now(), time.Now()
	write := c.write
	for {
		stopping := false
		var synced chan struct{}
		wait := startWait()
		select {
		case <-tick.C:
			lastSweep = lastSweep.Add(c.pauses.note(wait)) // the collector did not fall behind
		case synced = <-c.syncs:
		case <-c.window.wake:
		case <-c.stop:
			stopping = true
			c.window.closeMarks()
		}
		began := time.Now()
		if !stopping && synced == nil && c.window.mustHold(c.allocated.Load()) {
			lastSweep = began
			continue
		}
		c.sweep(write)
		// What a worker recorded right after the previous sweep is safe only now.
		c.lagMax = max(c.lagMax, time.Since(lastSweep)-sweepInterval)
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

// sync returns when every sink has all records made so far.
func (c *collector) sync() {
	synced := make(chan struct{})
	c.syncs <- synced
	<-synced
}

// updateWindow advances the window after a sweep and returns how long to wait for
// the next one.
func (c *collector) updateWindow() time.Duration {
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
func (c *collector) announce() {
	for w, more := c.window.next(c.rows, c.cold); more; w, more = c.window.next(c.rows, c.cold) {
		if c.seen == nil {
			c.cold = c.window.warmUp.workers
			c.seen = make([]bool, c.cold)
		}
		c.warming = w.Begin == 0 && w.End == 0
		for _, s := range c.sinks {
			if s, ok := s.(WindowSink); ok {
				c.record(s.SetWindow(w))
			}
		}
	}
	c.announceMarks()
}

func (c *collector) sweep(write func([]oplog.Record) error) {
	c.mu.Lock()
	queues := c.queues
	c.mu.Unlock()
	for _, q := range queues {
		c.from = q
		_ = q.drain(write) // write never fails: it records the error
	}
}

// write hands a batch to every sink. After a failure the queues are still
// emptied, so that the run can end in good order.
func (c *collector) write(batch []oplog.Record) error {
	c.announce()
	c.track(batch)
	for _, s := range c.sinks {
		c.record(s.Write(batch))
	}
	if c.warming { // a sweep takes long if a sink is slow
		c.window.warm(c.rows, c.cold, false)
	}
	return nil
}

// track keeps what the window and the drain depend on.
func (c *collector) track(batch []oplog.Record) {
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

func (c *collector) flush() {
	for _, s := range c.sinks {
		if s, ok := s.(Watcher); ok {
			s.InFlight(c.inFlight())
		}
		c.record(s.Flush())
	}
}

// inFlight counts requests by operation.
func (c *collector) inFlight() map[string]int {
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

func (c *collector) record(err error) {
	if err == nil || c.err != nil {
		return
	}
	c.err = fmt.Errorf("record the requests: %w", err)
	c.fail(c.err)
}

// close writes what is left in the queues and returns the first failure.
func (c *collector) close() error {
	close(c.stop)
	<-c.done
	return c.err
}
