package store

import (
	"math"
	"time"
)

// A Trace records the timing and the answers of the requests of one row. It belongs to the
// goroutine that sends them. Most methods do nothing on a nil Trace, so that engines need no
// checks; the others need a base.
type Trace struct {
	base                time.Time
	firstByte, lastByte time.Duration
	status, requests    uint16
	etag                string
	wire                wireTime

	phases *Phases       // where phases are recorded; nil = nowhere
	all    bool          // record all phases, not only phases of new connections
	stage  uint8         // current stage of the request
	began  time.Duration // start of the stage
}

// NewTrace returns a trace whose times count from base, on the monotonic clock.
func NewTrace(base time.Time) *Trace { return &Trace{base: base} }

// Reset makes t a new trace and reuses its memory.
func (t *Trace) Reset(base time.Time) { *t = Trace{base: base} }

// Expect sets the ETag that the answer probably has, so that an engine can return this string
// instead of a copy of the same bytes.
func (t *Trace) Expect(etag string) { t.etag = etag }

// FirstByte returns when the first byte of the first answer arrived; 0 = none arrived.
func (t *Trace) FirstByte() time.Duration {
	if t == nil {
		return 0
	}
	return t.firstByte
}

// LastByte returns when the last byte of payload was written to the socket; 0 = never.
func (t *Trace) LastByte() time.Duration { return t.lastByte }

// Status returns the HTTP status of the last answer; 0 = no answer.
func (t *Trace) Status() uint16 {
	if t == nil {
		return 0
	}
	return t.status
}

// Requests returns how many HTTP requests were sent, up to the max that a log can hold.
func (t *Trace) Requests() uint16 { return t.requests }

// Add adds another request to a row of several. Both traces must have the same base.
func (t *Trace) Add(o *Trace) {
	if t.firstByte == 0 {
		t.firstByte = o.firstByte
	}
	t.lastByte = max(t.lastByte, o.lastByte)
	if o.status != 0 {
		t.status = o.status
	}
	t.requests += min(o.requests, math.MaxUint16-t.requests)
	t.addWire(o)
	if t.phases != nil && o.phases != nil {
		t.phases.Merge(o.phases)
	}
}

// Next returns a trace for a further request of the same row, for [Trace.Add].
func (t *Trace) Next() *Trace {
	next := &Trace{base: t.base}
	if t.phases != nil {
		next.RecordPhases(new(Phases), t.all)
	}
	return next
}

// Received records that part of an answer has arrived. Only the first call for each request counts.
func (t *Trace) Received() {
	if t == nil || t.firstByte != 0 && (t.stage == notNoted || t.stage == inReceive) {
		return
	}
	now := time.Since(t.base)
	if t.firstByte == 0 {
		t.firstByte = now
	}
	switch t.stage {
	case inSend: // the store answered before it had all of the request
		t.enter(inReceive, PhaseSend, now)
	case inWait:
		t.enter(inReceive, PhaseWait, now)
	}
}

// Redirected records that the latest answer was a redirect. It counts as a request, but it provides
// neither the status nor the first byte of the answer, which before restores: if the next host does
// not answer, the row has neither.
func (t *Trace) Redirected(before time.Duration) {
	if t != nil {
		t.firstByte, t.status = before, 0
	}
}

// WithoutPayload records that no payload was sent so far, so that there is no last byte.
func (t *Trace) WithoutPayload() {
	if t != nil {
		t.lastByte = 0
	}
}

// Base returns the time that all others count from.
func (t *Trace) Base() time.Time { return t.base }

// ExpectedETag returns the string passed to [Trace.Expect].
func (t *Trace) ExpectedETag() string {
	if t == nil {
		return ""
	}
	return t.etag
}

// Phases returns where the engine adds the phases of new connections; nil = nowhere.
func (t *Trace) Phases() *Phases {
	if t == nil {
		return nil
	}
	return t.phases
}

// Detailed reports whether phases are recorded on reused connections too.
func (t *Trace) Detailed() bool { return t != nil && t.all }

// Requested counts a request of which at least a part was sent.
func (t *Trace) Requested() {
	if t != nil {
		t.requests++
	}
}

// Answered records the status of an answer. A row of several requests keeps the last one, or the
// one that made it fail.
func (t *Trace) Answered(status int) {
	if t != nil {
		t.status = uint16(status)
	}
}

// An Observation is the input of [Trace.Observe].
type Observation struct {
	FirstByte, LastByte time.Duration
	Status, Requests    int
}

// Observe replaces the record of requests in t.
func (t *Trace) Observe(o Observation) {
	t.firstByte, t.lastByte = o.FirstByte, o.LastByte
	t.status, t.requests = uint16(o.Status), uint16(min(o.Requests, math.MaxUint16))
}
