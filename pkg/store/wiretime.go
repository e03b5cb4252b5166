package store

import "time"

// A wireTime adds up how long the requests of a row were on the wire: for each, from the system call that sent its last
// byte to the arrival of its answer's last byte in the kernel. The rest of the row's time is the client's.
type wireTime struct {
	sent    time.Duration // when the current request was sent, after base; 0 = it was not
	arrived int64         // when the latest part of its answer arrived in the kernel, unix ns; 0 = unknown
	read    int64         // when the client received that part, unix ns; 0 = it was small
	stalled time.Duration // how long the store may have waited for the client, at most

	total       time.Duration // of the requests before the current one
	first, last time.Duration // when the first of these was sent, and when the answer to the last arrived
	requests    uint16        // how many these are
	unknown     bool
}

// SentAll records that the last byte of a request was handed to the kernel, at a time after [Trace.Base].
func (t *Trace) SentAll(at time.Duration) {
	t.endWire(time.Now)
	t.wire.sent = max(at, 1)
}

// A client that receives a part of an answer later than lateRead makes the store wait if there is no room for more, and delays
// acknowledgements even if there is. An idle core needs less to wake up.
const lateRead = 200 * time.Microsecond

// maxStalled is the max part of a request's time on the wire in which the store may have waited for the client.
const maxStalled = .05

// Arrived records when the latest part of an answer arrived in the kernel, by the kernel's clock in unix ns (0 = the kernel
// did not say), and when the client received it (0 = the part was small). piled says that the part is so large that the client
// should have received its begin earlier; nobody knows when that arrived, except that it was after the part before.
func (t *Trace) Arrived(at, read int64, piled bool) {
	w := &t.wire
	if late := w.read - w.arrived; w.read != 0 && w.arrived != 0 && late > int64(lateRead) {
		w.stalled += time.Duration(max(min(late, at-w.arrived), 0))
	}
	if since := at - max(w.read, w.arrived); piled && since > int64(lateRead) {
		w.stalled += time.Duration(since)
	}
	w.arrived, w.read = at, read
}

// NoWireTime records that nobody can tell the client's part of the row's time from the rest: a connection was opened, the
// client was slow enough to make the store wait, or the row's requests overlap.
func (t *Trace) NoWireTime() {
	if t != nil {
		t.wire.unknown = true
	}
}

// WireTime returns how long the row's requests, which have ended now, were on the wire. ok is false if that is unknown for
// any of them.
func (t *Trace) WireTime(now time.Time) (d time.Duration, ok bool) {
	t.endWire(func() time.Time { return now })
	w := &t.wire
	return w.total, !w.unknown && w.requests > 0 && w.requests == t.requests
}

// endWire ends the current request. Clocks are only compared with themselves: the kernel's stamp with the wall clock, which
// it is taken from, and the rest by the monotonic clock. So a clock that is set during a run does no harm.
func (t *Trace) endWire(clock func() time.Time) {
	w := &t.wire
	if w.sent == 0 {
		return
	}
	now := clock()
	waited := now.UnixNano() - w.arrived
	arrived := now.Sub(t.base) - time.Duration(waited)
	if w.arrived == 0 || waited < 0 || arrived < w.sent || float64(w.stalled) > maxStalled*float64(arrived-w.sent) {
		w.unknown = true
	} else {
		if w.requests == 0 {
			w.first = w.sent
		}
		w.total += arrived - w.sent
		w.last = arrived
		w.requests++
	}
	w.sent, w.arrived, w.read, w.stalled = 0, 0, 0, 0
}

// addWire adds the requests of o, which came after t's. Requests that overlap have no wire time together.
func (t *Trace) addWire(o *Trace) {
	t.endWire(time.Now)
	o.endWire(time.Now)
	w, p := &t.wire, &o.wire
	w.unknown = w.unknown || p.unknown || w.requests > 0 && p.requests > 0 && p.first < w.last
	if w.requests == 0 {
		w.first = p.first
	}
	w.total, w.last, w.requests = w.total+p.total, max(w.last, p.last), w.requests+p.requests
}
