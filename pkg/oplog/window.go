package oplog

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"
)

// A Window is the part of a run that is measured. A run decides on each of
// its instants while it lasts, and writes a comment with all that is decided
// before any row that ended after it. Times are unix ns, 0 where not decided.
type Window struct {
	Start int64 // of the run after its preparation; earlier requests are preparation
	Begin int64 // of what is measured: the workers are warm
	End   int64 // no request that starts later is measured
	Cold  int   // workers that had not finished a request at Begin
}

// windowJSON is a Window as it is written.
type windowJSON struct {
	Start *time.Time `json:"start,omitempty"`
	Begin *time.Time `json:"begin,omitempty"`
	End   *time.Time `json:"end,omitempty"`
	Cold  int        `json:"cold,omitempty"`
}

// MarshalJSON writes times as RFC 3339 with nanoseconds.
func (w Window) MarshalJSON() ([]byte, error) {
	return json.Marshal(windowJSON{instant(w.Start), instant(w.Begin), instant(w.End), w.Cold})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (w *Window) UnmarshalJSON(b []byte) error {
	var j windowJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*w = Window{Cold: max(j.Cold, 0)}
	for _, f := range []struct {
		to   *int64
		from *time.Time
	}{{&w.Start, j.Start}, {&w.Begin, j.Begin}, {&w.End, j.End}} {
		if f.from != nil {
			*f.to = f.from.UnixNano()
		}
	}
	return nil
}

func instant(ns int64) *time.Time {
	if ns == 0 {
		return nil
	}
	t := time.Unix(0, ns).UTC()
	return &t
}

// A Place is where a request belongs, relative to a window.
type Place int

// The places of requests.
const (
	BeforeWindow Place = iota - 1
	InWindow
	AfterWindow
)

// Counted returns the time that decides where the request counts: when it was
// due in an open loop, and otherwise its start.
func (r *Record) Counted() int64 {
	if r.Due != 0 {
		return r.Due
	}
	return r.Start
}

// Place decides whether the request belongs to the window from begin to end,
// which includes both. An end of 0 is not decided yet.
func (r *Record) Place(begin, end int64) Place {
	switch at := r.Counted(); {
	case at < begin:
		return BeforeWindow
	case end != 0 && at > end:
		return AfterWindow
	}
	return InWindow
}

// MoveBack moves the instants of the window by that many ns.
func (w *Window) MoveBack(ahead int64) {
	for _, at := range []*int64{&w.Start, &w.Begin, &w.End} {
		if *at != 0 {
			*at -= ahead
		}
	}
}

// MoveBack moves the times of the trailer by that many ns.
func (t *Trailer) MoveBack(ahead int64) {
	if ahead == 0 {
		return
	}
	earlier := func(at time.Time) time.Time { return at.Add(-time.Duration(ahead)) }
	if t.Window != nil {
		w := *t.Window
		w.MoveBack(ahead)
		t.Window = &w
	}
	if u := t.UnsentWaits; u != nil {
		moved := *u
		moved.FirstDue, moved.Until = earlier(u.FirstDue), earlier(u.Until)
		t.UnsentWaits = &moved
	}
	t.UnsentStages = slices.Clone(t.UnsentStages)
	for i := range t.UnsentStages {
		u := &t.UnsentStages[i]
		u.FirstDue, u.Until = earlier(u.FirstDue), earlier(u.Until)
	}
	t.Pauses = slices.Clone(t.Pauses)
	for i := range t.Pauses {
		t.Pauses[i].At = earlier(t.Pauses[i].At)
	}
}

// A windowComment is a line of the log about the window.
type windowComment struct {
	Window Window `json:"window"`
}

// SetWindow writes what is decided about the window. Rows that ended after a
// newly decided instant must come later.
func (w *Writer) SetWindow(window Window) error {
	if err := w.usable(); err != nil {
		return err
	}
	return w.comment(windowComment{window})
}

// Unsent are the requests of an open loop that were due in the window, or in a stage, and that
// nobody sent before the run ended: the last ones of its schedule.
type Unsent struct {
	Count    int64     `json:"count"`
	FirstDue time.Time `json:"first_due"`
	Interval float64   `json:"interval_ns"` // between two of them
	Until    time.Time `json:"until"`       // the run had ended: each has waited at least until then
}

// Each calls f with the time at which each request was due, and how long it had
// waited when the run ended, in ns, the longest first.
func (u *Unsent) Each(f func(due int64, wait time.Duration)) {
	if u == nil {
		return
	}
	for i := range u.Count {
		at := float64(i) * u.Interval
		if !(at >= 0 && at < math.MaxInt64) {
			at = 0
		}
		due := u.FirstDue.Add(time.Duration(at))
		f(due.UnixNano(), max(u.Until.Sub(due), 0))
	}
}

// CutOff counts requests that an interrupt ended before their answer.
type CutOff struct {
	Count    int64   `json:"count"`
	LongestS float64 `json:"longest_s"` // of them had waited
}

// Add returns the requests of both, either of which may be nil.
func (c *CutOff) Add(o *CutOff) *CutOff {
	if c == nil || o == nil {
		return cmp.Or(c, o)
	}
	return &CutOff{c.Count + o.Count, max(c.LongestS, o.LongestS)}
}

// A Pause is a time in which the process did not run: it was stopped, or the
// machine was suspended.
type Pause struct {
	At      time.Time `json:"at"`
	Seconds float64   `json:"s"`
}

// Picks count the requests of the window whose objects were chosen by popularity.
type Picks struct {
	All     int64 `json:"all"`
	Hottest int64 `json:"hottest"` // requests for the hottest 1 % of the objects
}

// Add returns the sum of both, either of which may be nil; nil if there are none.
func (p *Picks) Add(o *Picks) *Picks {
	switch {
	case o == nil || o.All == 0:
		return p
	case p == nil:
		return &Picks{o.All, o.Hottest}
	}
	return &Picks{p.All + o.All, p.Hottest + o.Hottest}
}
