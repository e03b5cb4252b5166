package store

import (
	"math"
	"time"
)

// A Trace collects what was seen on the wire of one row's requests. It belongs
// to the goroutine that sends them. Engines report to it; the methods that they
// call do nothing on a nil Trace.
type Trace struct {
	base                time.Time
	firstByte, lastByte time.Duration
	status, requests    uint16
	etag                string

	phases *Phases       // where they are noted; nil = nowhere
	all    bool          // record all phases, not only those of new connections
	stage  uint8         // that the request is in
	began  time.Duration // of that stage
}

// NewTrace returns a trace whose times count from base, by the monotonic clock.
func NewTrace(base time.Time) *Trace { return &Trace{base: base} }

// Reset makes t a new trace, for those who send request after request.
func (t *Trace) Reset(base time.Time) { *t = Trace{base: base} }

// Expect names the ETag that the answer probably carries, so that an engine
// can hand out this string instead of copying the same bytes each time.
func (t *Trace) Expect(etag string) { t.etag = etag }

// FirstByte is when the first byte of the first answer arrived; 0 = not seen.
func (t *Trace) FirstByte() time.Duration { return t.firstByte }

// LastByte is when the last payload byte was handed to the socket; 0 = not seen.
func (t *Trace) LastByte() time.Duration { return t.lastByte }

// Status is the HTTP status of the last answer; 0 = no answer.
func (t *Trace) Status() uint16 {
	if t == nil {
		return 0
	}
	return t.status
}

// Requests is how many HTTP requests were sent, up to what a log can hold.
func (t *Trace) Requests() uint16 { return t.requests }

// Add counts what was seen of another request into a row of several. Both
// traces count from the same time.
func (t *Trace) Add(o *Trace) {
	if t.firstByte == 0 {
		t.firstByte = o.firstByte
	}
	t.lastByte = max(t.lastByte, o.lastByte)
	if o.status != 0 {
		t.status = o.status
	}
	t.requests += min(o.requests, math.MaxUint16-t.requests)
	if t.phases != nil && o.phases != nil {
		t.phases.Merge(o.phases)
	}
}

// Next returns a trace for a further request of the same row, see Add.
func (t *Trace) Next() *Trace {
	next := &Trace{base: t.base}
	if t.phases != nil {
		next.RecordPhases(new(Phases), t.all)
	}
	return next
}

// Received notes that some of an answer has arrived. Only the first call for each request counts.
func (t *Trace) Received() {
	if t == nil || t.firstByte != 0 && (t.stage == notNoted || t.stage == inReceive) {
		return
	}
	now := time.Since(t.base)
	if t.firstByte == 0 {
		t.firstByte = now
	}
	switch t.stage {
	case inSend: // the store does not want to have all of the request
		t.enter(inReceive, PhaseSend, now)
	case inWait:
		t.enter(inReceive, PhaseWait, now)
	}
}

// Base is the time that all others count from.
func (t *Trace) Base() time.Time { return t.base }

// ExpectedETag is the string that [Trace.Expect] was given.
func (t *Trace) ExpectedETag() string {
	if t == nil {
		return ""
	}
	return t.etag
}

// Phases is where the engine adds the phases of new connections; nil = nowhere.
func (t *Trace) Phases() *Phases {
	if t == nil {
		return nil
	}
	return t.phases
}

// Detailed says whether the phases of requests count as well.
func (t *Trace) Detailed() bool { return t != nil && t.all }

// Requested counts a request that was sent, or a part of it.
func (t *Trace) Requested() {
	if t != nil {
		t.requests++
	}
}

// Answered notes the status of an answer: of the last one, or of the one that made a row of several requests fail.
func (t *Trace) Answered(status int) {
	if t != nil {
		t.status = uint16(status)
	}
}

// An Observation is what somebody else has seen of the requests of a [Trace].
type Observation struct {
	FirstByte, LastByte time.Duration
	Status, Requests    int
}

// Observed replaces what t has seen of its requests.
func (t *Trace) Observed(o Observation) {
	t.firstByte, t.lastByte = o.FirstByte, o.LastByte
	t.status, t.requests = uint16(o.Status), uint16(min(o.Requests, math.MaxUint16))
}
