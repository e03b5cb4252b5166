package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"warp/internal/pause"
	"warp/pkg/aggregate"
	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/monitor"
	"warp/pkg/sink"
)

// A link is the coordinator's side of one client. It outlives connections. The
// fleet's lock guards everything except the spool.
type link struct {
	fleet  *Fleet
	member Member
	id     string // client id

	host           string
	admitted       bool
	job            *protocol.Job
	desired        protocol.DesiredState
	status         protocol.Status
	progressed     time.Time // time of the last change of the status
	contact        time.Time // time of the client's last message
	lost           error     // why its share of the run does not count
	gone           error     // why it is no longer connected to
	counted        bool      // its share is complete, even if the client is lost later
	reportedSilent bool      // the silence was reported
	reportedLost   bool      // the loss was reported
	orphanRemoved  bool      // another client has removed its objects
	note           string    // why it is not admitted yet

	dialError error // of the latest attempt, before it is admitted

	samples     int // clock samples still wanted
	now         clock.Offset
	first, last clock.Offset // before the job, and the latest

	live   *monitor.State
	liveAt int64
	counts *sink.Counts // for Prometheus; nil if there are none

	summary *aggregate.Summary // of the client; nil if not received
	soFar   []byte             // the latest interim summary, encoded

	spool    *logcopy.Spool
	verified bool  // the spool matches the client's complete log
	tail     *tail // nil if its rows are not wanted
	unread   error // why some of its rows were not passed on

	wakeUp chan struct{} // signals that there is something to send
	warn   int           // number of warnings already passed on
}

func (l *link) name() string { return l.member.Addr }

// wake makes the session send what is new.
func (l *link) wake() {
	select {
	case l.wakeUp <- struct{}{}:
	default:
	}
}

// run keeps the client connected as long as it counts.
func (l *link) run(ctx context.Context) {
	backoff := 100 * time.Millisecond
	began := time.Now()
	for ctx.Err() == nil {
		talked, err := l.connect(ctx)
		switch {
		case ctx.Err() != nil || l.released():
			return
		case talked:
			// Try once more even after a long silence: this process may have been
			// suspended.
			backoff = 100 * time.Millisecond
		case l.shouldGiveUp(err, began):
			l.giveUp(err)
			return
		}
		pause.For(ctx, backoff)
		backoff = min(2*backoff, 2*time.Second)
	}
}

// shouldGiveUp reports whether to stop reconnecting: at once if a retry cannot
// help, and otherwise after a timeout without messages.
func (l *link) shouldGiveUp(err error, began time.Time) bool {
	l.fleet.mu.Lock()
	defer l.fleet.mu.Unlock()
	var refused *refusedError
	switch {
	case transport.Final(err), !l.admitted && l.fleet.options.finalAtStart(err), errors.As(err, &refused) && !refused.wait:
		return true
	case refused != nil:
		return time.Since(began) > l.fleet.options.BusyTimeout
	case l.admitted:
		return time.Since(l.contact) > l.fleet.options.Timeout
	}
	return time.Since(began) > l.fleet.options.ConnectTimeout
}

// finalAtStart reports whether to stop trying to reach a client that was never
// reached. While clients are being started, another server may still be at
// their address.
func (o *Options) finalAtStart(err error) bool {
	return transport.Final(err) || !o.Starting && errors.Is(err, transport.ErrNotWarp)
}

// released reports whether the client needs no more messages. A client that
// does not count must still clean up.
func (l *link) released() bool {
	l.fleet.mu.Lock()
	defer l.fleet.mu.Unlock()
	return l.status.Phase == protocol.Released || l.gone != nil
}

func (l *link) giveUp(err error) { l.fleet.update(func() { l.giveUpLocked(err) }) }

// giveUpLocked gives the client up. The caller holds the fleet's lock.
func (l *link) giveUpLocked(err error) {
	if l.gone == nil {
		l.gone = err
	}
	l.discount(err)
}

// discount excludes the client's share from the run, unless it is complete. The
// caller holds the fleet's lock.
func (l *link) discount(err error) {
	if l.lost == nil && !l.counted {
		l.lost = err
	}
}

// A refusedError is a client's reason for refusing to take part.
type refusedError struct {
	text string
	wait bool
}

func (e *refusedError) Error() string { return e.text }

// connect connects and uses the connection until it breaks.
func (l *link) connect(ctx context.Context) (talked bool, err error) {
	l.fleet.mu.Lock()
	timeout := l.fleet.options.ConnectTimeout
	if l.admitted { // an attempt must not outlast the timeout
		timeout = min(timeout, max(time.Second, l.fleet.options.Timeout-time.Since(l.contact)))
	}
	l.fleet.mu.Unlock()
	ch, err := l.fleet.dialer.Connect(ctx, l.member.Addr, l.member.Pin, timeout)
	l.fleet.mu.Lock()
	l.dialError = err
	l.fleet.mu.Unlock()
	if err != nil {
		return false, err
	}
	defer ch.Close()
	defer ch.CloseOn(ctx)()
	ch.Allow(maxSummary)
	l.fleet.mu.Lock()
	want := protocol.AttachRequest{Purpose: protocol.ForRun, Run: l.fleet.options.Run, Client: l.id, Key: l.fleet.key}
	if l.admitted {
		want.Purpose = protocol.ForResume
	}
	l.fleet.mu.Unlock()
	answer, err := requestAttach(ch, want)
	if err != nil {
		return false, err
	}
	if answer.Refused != "" {
		l.fleet.update(func() { l.note = answer.Refused })
		return false, &refusedError{answer.Refused, answer.Wait}
	}
	l.fleet.update(func() {
		l.admitted, l.host, l.note, l.contact = true, answer.Host, "", time.Now()
		l.setStatus(answer.Status)
	})
	return true, l.readLoop(ctx, ch, answer.HasJob)
}

// requestAttach sends the purpose of the connection.
func requestAttach(ch *transport.Conn, want protocol.AttachRequest) (*protocol.AttachReply, error) {
	if err := ch.Send(protocol.KindAttach, want); err != nil {
		return nil, err
	}
	k, body, err := ch.Receive()
	if err != nil {
		return nil, err
	}
	answer := new(protocol.AttachReply)
	if k != protocol.KindAttached {
		return nil, fmt.Errorf("a message of kind %d came instead of an answer", k)
	}
	return answer, protocol.Decode(body, answer)
}

// A clientSession is one connection to a client.
type clientSession struct {
	*link
	ch     *transport.Conn
	hasJob bool
	pulls  bool
	sent   string

	metrics   float64 // metrics that may still arrive at once
	metricsAt time.Time
}

func (l *link) readLoop(ctx context.Context, ch *transport.Conn, hasJob bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &clientSession{link: l, ch: ch, hasJob: hasJob, metrics: metricsBurst, metricsAt: time.Now()}
	go d.writeLoop(ctx)
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		if err := d.handle(k, body); err != nil {
			return err
		}
		if l.released() {
			return nil
		}
	}
}

// writeLoop sends updates, and a heartbeat every second.
func (d *clientSession) writeLoop(ctx context.Context) {
	defer d.ch.Close()
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	d.wake()
	for {
		var err error
		select {
		case <-beat.C:
			err = d.ping(false)
		case <-d.wakeUp:
			err = d.sendState()
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (d *clientSession) ping(burst bool) error {
	return d.ch.SendBytes(protocol.KindPing, protocol.Ping(d.fleet.clock.Now(), burst))
}

// sendState sends the job, the desired state and the request for the log when
// each is due.
func (d *clientSession) sendState() error {
	f := d.fleet
	f.mu.Lock()
	job, o, samples := d.job, d.desired, d.samples
	pulls, have := d.spool != nil && d.status.Log && !d.pulls, int64(0)
	if pulls {
		have = d.spool.Size()
	}
	f.mu.Unlock()
	if job != nil && !d.hasJob {
		d.hasJob = true
		if err := d.ch.Send(protocol.KindJob, job); err != nil {
			return err
		}
	}
	if text := fmt.Sprint(o); text != d.sent {
		d.sent = text
		if err := d.ch.Send(protocol.KindDesired, o); err != nil {
			return err
		}
	}
	if pulls {
		d.pulls = true
		if err := d.ch.Send(protocol.KindPull, protocol.Pull{Offset: have}); err != nil {
			return err
		}
	}
	if samples > 0 {
		return d.ping(true)
	}
	return nil
}

func (d *clientSession) handle(k transport.Kind, body []byte) error {
	received := d.fleet.clock.Now()
	f := d.fleet
	f.mu.Lock()
	d.contact = time.Now()
	f.mu.Unlock()
	switch k {
	case protocol.KindStatus:
		var s protocol.Status
		if err := protocol.Decode(body, &s); err != nil {
			return err
		}
		f.update(func() { d.setStatus(s) })
		d.wake()
	case protocol.KindPong:
		return d.handlePong(body, received)
	case protocol.KindLive:
		return d.handleLive(body)
	case protocol.KindMetrics:
		return d.handleMetrics(body)
	case protocol.KindSummary:
		return d.handleSummary(body)
	case protocol.KindSoFar:
		return d.handleSoFar(body)
	case protocol.KindChunk:
		return d.handleChunk(body)
	default:
		return fmt.Errorf("a message of kind %d is not for a coordinator", k)
	}
	return nil
}

// setStatus records the client's status. The caller holds the fleet's lock.
func (l *link) setStatus(s protocol.Status) {
	if s.Phase != l.status.Phase || s.Done != l.status.Done || s.Title != l.status.Title {
		l.progressed = time.Now()
	}
	s.Phase = max(s.Phase, l.status.Phase)
	l.status = s
	if s.CoordinatorLost {
		l.discount(errors.New("it got no message from the coordinator for too long, so it stopped and cleaned up by itself"))
	}
}

func (d *clientSession) handlePong(body []byte, received int64) error {
	o, err := protocol.ReadPong(body, received)
	if err != nil {
		return err
	}
	f := d.fleet
	f.mu.Lock()
	more := d.samples > 0
	if more {
		d.now.Add(o)
		d.samples--
		more = d.samples > 0
	}
	done := d.now.Samples > 0 && !more
	f.mu.Unlock()
	if done {
		f.update(func() {})
	}
	if more {
		return d.ping(true)
	}
	return nil
}

func (d *clientSession) handleLive(body []byte) error {
	if len(body) < 8 {
		return errors.New("a message cannot be read: figures without a time")
	}
	d.fleet.mu.Lock()
	ahead := d.first.Ahead
	d.fleet.mu.Unlock()
	live, err := monitor.Read(body[8:], int64(ahead)) // slow, so do not hold the lock
	if err != nil {
		return err
	}
	d.fleet.mu.Lock()
	defer d.fleet.mu.Unlock()
	d.live, d.liveAt = live, int64(binary.BigEndian.Uint64(body))
	d.fleet.figures++
	return nil
}

// Metrics arrive once a second. No message costs more to read, so a higher rate
// or burst is refused.
const (
	metricsRate  = 2
	metricsBurst = 10
)

func (d *clientSession) handleMetrics(body []byte) error {
	now := time.Now()
	d.metrics = min(metricsBurst, d.metrics+now.Sub(d.metricsAt).Seconds()*metricsRate) - 1
	d.metricsAt = now
	d.fleet.mu.Lock()
	wanted := d.job != nil && d.job.Exports.Metrics
	d.fleet.mu.Unlock()
	switch {
	case !wanted:
		return errors.New("unexpected metrics arrived")
	case d.metrics < 0:
		return fmt.Errorf("metrics arrived more than %d times a second", metricsRate)
	}
	counts, err := sink.ReadCounts(body)
	if err != nil {
		return err
	}
	d.fleet.mu.Lock()
	defer d.fleet.mu.Unlock()
	d.counts = counts
	return nil
}

// handleChunk adds a chunk of the log to the spool.
func (d *clientSession) handleChunk(body []byte) error {
	chunk, err := logcopy.ReadChunk(body)
	if err != nil {
		return err
	}
	d.fleet.mu.Lock()
	spool := d.spool
	d.fleet.mu.Unlock()
	if spool == nil {
		err = errors.New("an unexpected chunk of a log arrived")
	} else {
		err = spool.Add(chunk) // not under the lock: a slow disk must not keep messages from the clients
	}
	if err != nil {
		d.giveUp(err) // our disk is full, or the client misbehaves
		return err
	}
	d.fleet.update(func() {
		d.progressed = time.Now()
		if d.tail != nil {
			d.tail.grown.Signal()
		}
	})
	return d.ch.SendBytes(protocol.KindAck, spool.Ack())
}
