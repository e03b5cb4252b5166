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
	flushInterval = time.Second
	// backlogChunks bounds what waits for a collector that is stuck, say on a
	// disk that hangs: about 105 MiB.
	backlogChunks = 18000
)

// A collector moves records from the workers' tapes to the sinks.
type collector struct {
	sinks     []Sink
	allocated atomic.Int64 // chunks over all tapes
	fail      func(error)  // told once when a sink fails
	lagMax    time.Duration

	mu    sync.Mutex
	tapes []*tape

	phase chan phase
	stop  chan struct{}
	done  chan struct{}
	err   error // the first sink's failure; read after close
}

// A phase is a message to the collector that another part of the run begins.
type phase struct {
	threads int
	begun   chan struct{}
}

func startCollector(sinks []Sink, fail func(error)) *collector {
	c := &collector{sinks: sinks, fail: fail, phase: make(chan phase), stop: make(chan struct{}), done: make(chan struct{})}
	go c.loop()
	return c
}

func (c *collector) newTape() *tape {
	t := newTape(&c.allocated)
	c.mu.Lock()
	c.tapes = append(c.tapes, t)
	c.mu.Unlock()
	return t
}

func (c *collector) loop() {
	defer close(c.done)
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	lastSweep, lastFlush := time.Now(), time.Now()
	for {
		stopping := false
		var next phase
		select {
		case <-tick.C:
		case next = <-c.phase:
		case <-c.stop:
			stopping = true
		}
		began := time.Now()
		c.sweep()
		// What a worker recorded right after the sweep before is safe only now.
		c.lagMax = max(c.lagMax, time.Since(lastSweep)-sweepInterval)
		lastSweep = began
		c.enter(next)
		if stopping || time.Since(lastFlush) >= flushInterval-sweepInterval/2 {
			c.flush()
			lastFlush = time.Now()
		}
		if stopping {
			return
		}
	}
}

// beginPhase returns when every sink has all records of the phase before.
func (c *collector) beginPhase(threads int) {
	p := phase{threads, make(chan struct{})}
	c.phase <- p
	<-p.begun
}

func (c *collector) enter(p phase) {
	if p.begun == nil {
		return
	}
	for _, s := range c.sinks {
		if s, ok := s.(Phaser); ok {
			s.BeginPhase(p.threads)
		}
	}
	close(p.begun)
}

func (c *collector) sweep() {
	c.mu.Lock()
	tapes := c.tapes
	c.mu.Unlock()
	for _, t := range tapes {
		_ = t.drain(c.write) // write never fails; it remembers
	}
}

// write hands a batch to every sink. After a failure the tapes are still
// emptied, so that the run can end in good order.
func (c *collector) write(batch []oplog.Record) error {
	for _, s := range c.sinks {
		c.note(s.Write(batch))
	}
	return nil
}

func (c *collector) flush() {
	for _, s := range c.sinks {
		if s, ok := s.(Watcher); ok {
			s.InFlight(c.inFlight())
		}
		c.note(s.Flush())
	}
}

// inFlight counts requests by operation.
func (c *collector) inFlight() map[string]int {
	c.mu.Lock()
	tapes := c.tapes
	c.mu.Unlock()
	byOp := make(map[string]int)
	for _, t := range tapes {
		if op := t.busy.Load(); op != nil {
			byOp[*op]++
		}
	}
	return byOp
}

func (c *collector) note(err error) {
	if err == nil || c.err != nil {
		return
	}
	c.err = fmt.Errorf("record the requests: %w", err)
	c.fail(c.err)
}

// close takes what is still on the tapes and returns the first failure.
func (c *collector) close() error {
	close(c.stop)
	<-c.done
	return c.err
}
