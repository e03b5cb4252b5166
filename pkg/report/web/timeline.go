package web

import (
	"time"

	"warp/internal/exact"
	"warp/pkg/monitor"
	"warp/pkg/results"
)

// maxSegments limits a timeline. If there are more, neighbours are merged.
const maxSegments = 400

// A Timeline makes a report from live figures if there is no other report before the end of the run,
// as at the coordinator of a fleet.
type Timeline struct {
	Base             results.Report // known before the run
	Workers, Clients int

	begin, last int64
	ops         []*opTimeline
}

type opTimeline struct {
	now      monitor.Op
	segments []results.Segment
}

// Add adds the figures of another moment.
func (c *Timeline) Add(s monitor.Snapshot) {
	if c.begin == 0 && len(s.Ops) > 0 {
		for _, op := range s.Ops {
			c.begin = max(c.begin, s.At-int64(op.Elapsed)) // the latest one: the first segment contains what began before
		}
		c.last = c.begin
	}
	if s.At <= c.last {
		return
	}
	for i := range s.Ops {
		c.op(s.Ops[i].Op).add(&s.Ops[i], c.last, s.At)
	}
	c.last = s.At
	for _, op := range c.ops {
		if len(op.segments) > maxSegments {
			op.halve()
		}
	}
}

func (c *Timeline) op(name string) *opTimeline {
	for _, op := range c.ops {
		if op.now.Op == name {
			return op
		}
	}
	op := &opTimeline{now: monitor.Op{Op: name}}
	c.ops = append(c.ops, op)
	return op
}

func (o *opTimeline) add(now *monitor.Op, from, to int64) {
	less := func(a, b uint64) uint64 { // the figures of a lost client are removed
		if a < b {
			return 0
		}
		return a - b
	}
	s := results.Segment{
		Start: time.Unix(0, from).UTC(), DurationS: float64(to-from) / 1e9, Bytes: less(now.Bytes, o.now.Bytes), Objects: float64(less(now.Objects, o.now.Objects)),
		OpsEnded: less(now.Requests, o.now.Requests), Errors: less(now.Errors, o.now.Errors),
	}
	o.now = *now
	o.segments = append(o.segments, withRates(s))
}

// halve merges pairs of segments.
func (o *opTimeline) halve() {
	kept := o.segments[:0]
	for i := 0; i < len(o.segments); i += 2 {
		s := o.segments[i]
		if i+1 < len(o.segments) {
			t := &o.segments[i+1]
			s.DurationS, s.Bytes, s.Objects = s.DurationS+t.DurationS, s.Bytes+t.Bytes, s.Objects+t.Objects
			s.OpsEnded, s.Errors = s.OpsEnded+t.OpsEnded, s.Errors+t.Errors
		}
		kept = append(kept, withRates(s))
	}
	o.segments = kept
}

func withRates(s results.Segment) results.Segment {
	s.BytesPerS, s.ObjectsPerS = exact.Ratio(float64(s.Bytes), s.DurationS), exact.Ratio(s.Objects, s.DurationS)
	return s
}

// Elapsed returns the duration of the timeline.
func (c *Timeline) Elapsed() time.Duration { return time.Duration(c.last - c.begin) }

// Report returns the report so far.
func (c *Timeline) Report() *results.Report {
	r := c.Base
	r.Version = 2
	if len(c.ops) == 0 {
		return &r
	}
	seconds := c.Elapsed().Seconds()
	g := results.GroupReport{Kind: "measured", WindowStart: time.Unix(0, c.begin).UTC(), WindowEnd: time.Unix(0, c.last).UTC(), WindowS: seconds,
		WindowBasis: results.Measured, Concurrency: c.Workers, Clients: c.Clients}
	total := uint64(0)
	for _, o := range c.ops {
		total += o.now.Requests
	}
	for _, o := range c.ops {
		now := &o.now
		done := now.Requests - min(now.Errors, now.Requests)
		size := now.Bytes / max(done, 1)
		op := results.Operation{
			Op: now.Op, Requests: now.Requests, Errors: now.Errors, Inside: done, Share: exact.Ratio(float64(now.Requests), float64(total)),
			WindowStart: g.WindowStart, WindowEnd: g.WindowEnd, WindowS: seconds, WindowBasis: results.Whole, Concurrency: c.Workers, Clients: c.Clients,
			BytesPerS: exact.Ratio(float64(now.Bytes), seconds), ObjectsPerS: exact.Ratio(float64(now.Objects), seconds),
			Objects: float64(now.Objects), Bytes: now.Bytes, ObjectBytes: results.SizeRange{Min: size, Max: size, Mean: float64(size)},
			Duration: now.Latency, Segments: append([]results.Segment(nil), o.segments...),
		}
		if n := len(o.segments); n > 0 {
			op.SegmentS = o.segments[0].DurationS
		}
		g.Operations = append(g.Operations, now.Op)
		g.Requests, g.Errors = g.Requests+now.Requests, g.Errors+now.Errors
		g.BytesPerS, g.ObjectsPerS = g.BytesPerS+op.BytesPerS, g.ObjectsPerS+op.ObjectsPerS
		r.Operations = append(r.Operations, op)
	}
	r.Groups = []results.GroupReport{g}
	return &r
}
