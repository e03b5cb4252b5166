package fleet

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"warp/pkg/fleet/transport"
)

// A coordinatorSession is one connection of the coordinator of a job.
type coordinatorSession struct {
	*job
	ch         *transport.Conn
	pump       *pump
	quietUntil atomic.Int64 // ns of the process's monotonic clock, from the job's begin
	metrics    time.Time    // when they were sent
	told       time.Time    // when the figures so far were sent
	final      bool         // and whether they were the last ones
	summed     bool         // the summary was sent
}

// readLoop answers the coordinator until the connection ends. A connection that
// was there before is of no more use: the coordinator has given it up.
func (j *job) readLoop(ctx context.Context, ch *transport.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch.Allow(MaxJob + transport.MaxMessage)
	j.mu.Lock()
	if j.channel != nil {
		j.channel.Close()
	}
	j.channel = ch
	j.contact = time.Now()
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.channel == ch {
			j.channel = nil
		}
	}()
	c := &coordinatorSession{job: j, ch: ch}
	go c.writeLoop(ctx)
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		j.noteContact()
		if err := c.handle(ctx, k, body); err != nil {
			return err
		}
	}
}

func (j *job) noteContact() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.contact = time.Now()
}

func (c *coordinatorSession) handle(ctx context.Context, k transport.Kind, body []byte) error {
	switch k {
	case kindPing:
		if len(body) == 9 { // one of many, to compare the clocks: nothing shall be in the way
			c.quietUntil.Store(int64(time.Since(c.clock.at) + time.Second/2))
		}
		return pong(c.ch, body, c.clock)
	case kindJob:
		spec := new(Job)
		if err := decode(body, spec); err != nil {
			c.fail(err)
			return nil
		}
		if err := c.assign(spec); err != nil {
			c.fail(err)
		}
	case kindDesired:
		var o desiredState
		if err := decode(body, &o); err != nil {
			return err
		}
		c.apply(o)
	case kindPull:
		return c.startPump(ctx, body)
	case kindAck:
		return acknowledge(c.pump, body)
	default:
		return fmt.Errorf("a message of kind %d is not for a client", k)
	}
	return nil
}

func (c *coordinatorSession) startPump(ctx context.Context, body []byte) error {
	var want pull
	if err := decode(body, &want); err != nil {
		return err
	}
	c.mu.Lock()
	f := c.feed
	c.mu.Unlock()
	if f == nil || c.pump != nil || want.Offset < 0 {
		return fmt.Errorf("the log was asked for at %d, which cannot be", want.Offset)
	}
	c.pump = newPump(f, c.ch, want.Offset, func() bool { return int64(time.Since(c.clock.at)) < c.quietUntil.Load() })
	go func() {
		if err := c.pump.run(ctx, want.Offset); err != nil {
			c.ch.Close() // the coordinator tries again over another connection
		}
	}()
	return nil
}

// writeLoop sends the status whenever it changes and every second, and the figures
// at every full second by the coordinator's clock, so that the figures of all clients
// are of the same moment.
func (c *coordinatorSession) writeLoop(ctx context.Context) {
	defer c.ch.Close()
	for {
		s, changed := c.state()
		// First, so that they are complete where the status says that the run is over.
		if c.sendMetrics(s.Outcome != nil) != nil || c.sendSummary(s.Phase) != nil {
			return
		}
		if c.ch.Send(kindStatus, s) != nil {
			return
		}
		if c.sendLive() != nil || c.sendSoFar(s.Outcome != nil) != nil {
			return
		}
		next := time.NewTimer(c.untilFullSecond())
		select {
		case <-next.C:
		case <-changed:
			pause(ctx, 20*time.Millisecond) // changes come in groups
		case <-ctx.Done():
		}
		next.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

func (c *coordinatorSession) untilFullSecond() time.Duration {
	return time.Second - time.Duration(c.coordinatorTime()%int64(time.Second))
}

// coordinatorTime is the time by the coordinator's clock.
func (j *job) coordinatorTime() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.clock.now()
	if j.spec != nil {
		now -= j.spec.Header.ClockOffset
	}
	return now
}

func (c *coordinatorSession) sendLive() error {
	c.mu.Lock()
	task, began := c.task, c.status.Began
	c.mu.Unlock()
	if task == nil || began == 0 {
		return nil
	}
	at := binary.BigEndian.AppendUint64(nil, uint64(c.coordinatorTime()))
	return c.ch.SendBytes(kindLive, at, task.Live())
}

// metricsInterval is a little less than the second after which they are due.
const metricsInterval = 900 * time.Millisecond

// sendMetrics sends them about once a second, and when they change no more.
func (c *coordinatorSession) sendMetrics(final bool) error {
	if c.final || !final && time.Since(c.metrics) < metricsInterval {
		return nil
	}
	task := c.begunTask()
	if task == nil {
		return nil
	}
	body, err := task.Metrics()
	if body == nil || err != nil {
		return err
	}
	c.metrics, c.final = time.Now(), final
	return c.ch.SendBytes(kindMetrics, body)
}

// soFarInterval is how often a client sends what it has counted: making it up
// takes some milliseconds.
const soFarInterval = 2 * time.Second

// sendSoFar sends what was counted so far, while the run lasts.
func (c *coordinatorSession) sendSoFar(over bool) error {
	c.mu.Lock()
	task, began := c.task, c.status.Began
	c.mu.Unlock()
	if task == nil || began == 0 || over || time.Since(c.told) < soFarInterval {
		return nil
	}
	c.told = time.Now()
	body, err := task.SoFar()
	if body == nil || err != nil {
		return err
	}
	return c.ch.SendBytes(kindSoFar, body)
}

// sendSummary sends what was counted, once on each connection, before the
// status says that everything is stored.
func (c *coordinatorSession) sendSummary(p Phase) error {
	task := c.begunTask()
	if task == nil || p < Stored || c.summed {
		return nil
	}
	c.summed = true
	body, err := task.Summary()
	if err != nil {
		c.fail(err)
	}
	if body == nil {
		return nil
	}
	return c.ch.SendBytes(kindSummary, body)
}

// pause waits for d, or returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
