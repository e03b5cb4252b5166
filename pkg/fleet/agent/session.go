package agent

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"warp/internal/pause"
	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
)

// A coordinatorSession is one connection from the coordinator of a job.
type coordinatorSession struct {
	*job
	ch         *transport.Conn
	pump       *logcopy.Pump
	quietUntil atomic.Int64 // ns of the process's monotonic clock, from the job's begin
	metrics    time.Time    // time of the last metrics
	soFarAt    time.Time    // time of the last interim summary
	final      bool         // the final metrics were sent
	summed     bool         // the summary was sent
}

// readLoop answers the coordinator until the connection ends. It closes an
// earlier connection, which the coordinator has given up.
func (j *job) readLoop(ctx context.Context, ch *transport.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ch.Allow(protocol.MaxJob + transport.MaxMessage)
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
	case protocol.KindPing:
		burst, err := pong(c.ch, body, c.clock)
		if burst { // do not delay the next ping
			c.quietUntil.Store(int64(c.clock.Elapsed() + time.Second/2))
		}
		return err
	case protocol.KindJob:
		spec := new(protocol.Job)
		if err := protocol.Decode(body, spec); err != nil {
			c.fail(err)
			return nil
		}
		if err := c.assign(spec); err != nil {
			c.fail(err)
		}
	case protocol.KindDesired:
		var o protocol.DesiredState
		if err := protocol.Decode(body, &o); err != nil {
			return err
		}
		c.apply(o)
	case protocol.KindPull:
		return c.sendLog(ctx, body)
	case protocol.KindAck:
		return c.pump.Ack(body)
	default:
		return fmt.Errorf("a message of kind %d is not for a client", k)
	}
	return nil
}

func (c *coordinatorSession) sendLog(ctx context.Context, body []byte) error {
	var want protocol.Pull
	if err := protocol.Decode(body, &want); err != nil {
		return err
	}
	c.mu.Lock()
	f := c.feed
	c.mu.Unlock()
	if f == nil || c.pump != nil || want.Offset < 0 {
		return fmt.Errorf("the log was requested from the invalid offset %d", want.Offset)
	}
	c.pump = startPump(ctx, c.ch, f, want.Offset, func() bool { return int64(c.clock.Elapsed()) < c.quietUntil.Load() })
	return nil
}

// writeLoop sends the status at each change and every second. It sends the
// figures at each full second of the coordinator's clock, so that the figures
// of all clients refer to the same moment.
func (c *coordinatorSession) writeLoop(ctx context.Context) {
	defer c.ch.Close()
	for {
		s, changed := c.state()
		// Send figures first, so that they are complete when the status reports
		// the end of the run.
		if c.sendMetrics(s.Outcome != nil) != nil || c.sendSummary(s.Phase) != nil {
			return
		}
		if c.ch.Send(protocol.KindStatus, s) != nil {
			return
		}
		if c.sendLive() != nil || c.sendSoFar(s.Outcome != nil) != nil {
			return
		}
		next := time.NewTimer(c.untilFullSecond())
		select {
		case <-next.C:
		case <-changed:
			pause.For(ctx, 20*time.Millisecond) // batch changes that come together
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

// coordinatorTime returns the time by the coordinator's clock.
func (j *job) coordinatorTime() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.clock.Now()
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
	return c.ch.SendBytes(protocol.KindLive, at, task.live.Append(nil))
}

// metricsInterval is slightly less than the second between metrics.
const metricsInterval = 900 * time.Millisecond

// sendMetrics sends metrics about once a second, and a last time when they are
// final.
func (c *coordinatorSession) sendMetrics(final bool) error {
	if c.final || !final && time.Since(c.metrics) < metricsInterval {
		return nil
	}
	task := c.begunTask()
	if task == nil {
		return nil
	}
	body, err := task.metrics()
	if body == nil || err != nil {
		return err
	}
	c.metrics, c.final = time.Now(), final
	return c.ch.SendBytes(protocol.KindMetrics, body)
}

// soFarInterval is how often a client sends interim summaries; encoding one
// takes some milliseconds.
const soFarInterval = 2 * time.Second

// sendSoFar sends an interim summary during the run.
func (c *coordinatorSession) sendSoFar(over bool) error {
	c.mu.Lock()
	task, began := c.task, c.status.Began
	c.mu.Unlock()
	if task == nil || began == 0 || over || time.Since(c.soFarAt) < soFarInterval {
		return nil
	}
	c.soFarAt = time.Now()
	body, err := task.soFar()
	if body == nil || err != nil {
		return err
	}
	return c.ch.SendBytes(protocol.KindSoFar, body)
}

// sendSummary sends the final summary once on each connection, before the
// status reports that everything is stored.
func (c *coordinatorSession) sendSummary(p protocol.Phase) error {
	task := c.begunTask()
	if task == nil || p < protocol.Stored || c.summed {
		return nil
	}
	c.summed = true
	body, err := task.summary()
	if err != nil {
		c.fail(err)
	}
	if body == nil {
		return nil
	}
	return c.ch.SendBytes(protocol.KindSummary, body)
}

// pong answers a ping, and reports whether more follow at once.
func pong(ch *transport.Conn, ping []byte, c clock.Clock) (burst bool, err error) {
	arrived := c.Now()
	burst, err = protocol.ReadPing(ping)
	if err != nil {
		return false, err
	}
	return burst, ch.SendBytes(protocol.KindPong, protocol.Pong(ping, arrived, c.Now()))
}

// startPump sends a log from offset on, except while quiet, which may be nil, returns true.
func startPump(ctx context.Context, ch *transport.Conn, f *logcopy.Feed, offset int64, quiet func() bool) *logcopy.Pump {
	p := logcopy.NewPump(f, offset, func(parts ...[]byte) error { return ch.SendBytes(protocol.KindChunk, parts...) }, quiet)
	go func() {
		if err := p.Run(ctx); err != nil {
			ch.Close() // the coordinator reconnects
		}
	}()
	return p
}
