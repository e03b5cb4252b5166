package fleet

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"warp/pkg/fleet/transport"
)

// A conversation is one connection of the coordinator of a job.
type conversation struct {
	*job
	ch         *transport.Conn
	pump       *pump
	quietUntil atomic.Int64 // ns of the process's monotonic clock, from the job's begin
	metrics    time.Time    // when they were sent
	final      bool         // and whether they were the last ones
	summed     bool         // the summary was sent
}

// serve answers the coordinator until the connection ends. A connection that
// was there before is of no more use: the coordinator has given it up.
func (j *job) serve(ctx context.Context, ch *transport.Conn) error {
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
	c := &conversation{job: j, ch: ch}
	go c.tell(ctx)
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		j.heard()
		if err := c.answer(ctx, k, body); err != nil {
			return err
		}
	}
}

func (j *job) heard() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.contact = time.Now()
}

func (c *conversation) answer(ctx context.Context, k transport.Kind, body []byte) error {
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
	case kindOrder:
		var o order
		if err := decode(body, &o); err != nil {
			return err
		}
		c.obey(o)
	case kindPull:
		return c.startPump(ctx, body)
	case kindAck:
		return acknowledge(c.pump, body)
	default:
		return fmt.Errorf("a message of kind %d is not for a client", k)
	}
	return nil
}

func (c *conversation) startPump(ctx context.Context, body []byte) error {
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

// tell sends the status whenever it changes and every second, and the figures
// at every full second by the coordinator's clock, so that those of all clients
// are of the same moment.
func (c *conversation) tell(ctx context.Context) {
	defer c.ch.Close()
	for {
		s, changed := c.state()
		// First, so that they are complete where the status says that the run is over.
		if c.tellMetrics(s.Outcome != nil) != nil || c.tellSummary(s.Phase) != nil {
			return
		}
		if c.ch.Send(kindStatus, s) != nil {
			return
		}
		if c.tellLive() != nil {
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

func (c *conversation) untilFullSecond() time.Duration {
	return time.Second - time.Duration(c.common()%int64(time.Second))
}

// common is the time by the coordinator's clock.
func (j *job) common() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.clock.now()
	if j.spec != nil {
		now -= j.spec.Header.ClockOffset
	}
	return now
}

func (c *conversation) tellLive() error {
	c.mu.Lock()
	task, began := c.task, c.status.Began
	c.mu.Unlock()
	if task == nil || began == 0 {
		return nil
	}
	at := binary.BigEndian.AppendUint64(nil, uint64(c.common()))
	return c.ch.SendBytes(kindLive, at, task.Live())
}

// metricsInterval is a little less than the second after which they are due.
const metricsInterval = 900 * time.Millisecond

// tellMetrics sends them about once a second, and when they change no more.
func (c *conversation) tellMetrics(final bool) error {
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

// tellSummary sends what was counted, once on each connection, before the
// status says that everything is stored.
func (c *conversation) tellSummary(p Phase) error {
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
