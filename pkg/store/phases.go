package store

import "time"

// The phases of an HTTP request, in order. Only requests on new connections have the first three.
const (
	PhaseDNS     = iota // DNS lookup
	PhaseConnect        // TCP handshake
	PhaseTLS            // TLS handshake
	PhaseSend           // from the connection being ready to the last byte written to it
	PhaseWait           // from there to the first byte of the answer
	PhaseReceive        // from there to the end of the answer
	numPhases
)

// Phases are the times that the requests of a row spent in each phase; 0 means that the phase did
// not occur or did not end.
type Phases [numPhases]time.Duration

// Add adds a phase that has ended. A phase that is too short for the clock counts as a nanosecond.
func (p *Phases) Add(phase int, d time.Duration) { p[phase] += max(d, 1) }

// RecordPhases adds the phases of t's requests to p. Unless all is set, it records only new
// connections.
func (t *Trace) RecordPhases(p *Phases, all bool) { t.phases, t.all = p, all }

// Stages of a request whose phases are recorded.
const (
	notNoted = iota
	inSend
	inWait
	inReceive
)

// Sending records that a request has a connection and is about to be sent.
func (t *Trace) Sending() {
	if t != nil && t.all {
		t.stage, t.began = inSend, time.Since(t.base)
	}
}

// Sent records that all of a request was sent, at a time after [Trace.Base]. payload says whether
// the request ended with a payload.
func (t *Trace) Sent(payload bool, at time.Duration) {
	if t == nil || !payload && !t.all {
		return
	}
	if payload {
		t.lastByte = at
	}
	if t.stage == inSend {
		t.enter(inWait, PhaseSend, at)
	}
}

// enter ends a phase and begins the next stage.
func (t *Trace) enter(stage uint8, ended int, now time.Duration) {
	t.phases.Add(ended, now-t.began)
	t.stage, t.began = stage, now
}

// Complete records that all of the answer was received.
func (t *Trace) Complete() {
	if t != nil && t.stage == inReceive {
		t.enter(notNoted, PhaseReceive, time.Since(t.base))
	}
}

// Merge adds the phases of another request.
func (p *Phases) Merge(o *Phases) {
	for i, d := range o {
		p[i] += d
	}
}
