package oplog

import "math"

// A Preparation tells which requests of a log belong to the preparation of their run. Without an answer in the log, none do.
type Preparation struct {
	windowed bool
	start    int64            // of the measured part
	starts   map[client]int64 // the same in a merged log, whose window is no single run's
}

type client struct{ run, id string }

// NewPreparation returns the preparation in a log with this header.
func NewPreparation(h *Header) *Preparation {
	p := &Preparation{windowed: h.Windowed, start: math.MaxInt64}
	if len(h.Merged) == 0 {
		return p
	}
	p.starts = make(map[client]int64)
	for _, o := range h.Merged {
		if o.Window != nil {
			p.starts[client{o.Run, o.Client}] = startOf(*o.Window)
		}
	}
	return p
}

// Decided is called when more of the window is known, see [Reader.EachInWindow].
func (p *Preparation) Decided(w Window) { p.start = startOf(w) }

// startOf returns when the measured part begins; never, if the log ends before.
func startOf(w Window) int64 {
	if w.Start == 0 {
		return math.MaxInt64
	}
	return w.Start
}

// Has reports whether a request belongs to the preparation. Scripts have none.
func (p *Preparation) Has(r *Record) bool {
	if p.starts != nil {
		return r.Start < p.starts[client{r.Run, r.Client}]
	}
	return p.windowed && r.Statement.Number == 0 && r.Start < p.start
}
