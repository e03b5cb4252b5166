package aggregate

import (
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// sections are figures of the requests that started in a window, each with a section of its own in
// reports. A new one is a type with add, merge, valid and report in its own file, and a line in each
// place here.
type sections struct {
	Slowest    slowest // requests on all hosts
	Unanswered flight  // without a response at the end of the drain
	OnWire     wireTotal
}

// add counts a request.
func (s *sections) add(c clientID, r *oplog.Record, start, end int64) {
	s.Slowest.add(c, r, start, end)
	s.OnWire.add(r)
	if r.Err != "" && r.Code() == codeDrainTimeout {
		s.Unanswered.add(r.Duration)
	}
}

// merge adds the figures of another part of the run.
func (s *sections) merge(o *sections) {
	s.Slowest.merge(o.Slowest)
	s.Unanswered.merge(&o.Unanswered)
	s.OnWire.merge(&o.OnWire)
}

// valid reports whether figures from a client are safe to merge and report.
func (s *sections) valid() bool { return s.Slowest.valid() }

// report writes the figures into the report of an operation.
func (s *sections) report(op *results.Operation) {
	op.Slowest = s.Slowest.report()
	if s.Unanswered.Count > 0 {
		op.Unanswered = new(s.Unanswered.report())
	}
}
