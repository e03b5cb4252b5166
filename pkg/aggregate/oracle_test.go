package aggregate

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// oracle is the analysis written down as it is defined, with all rows in
// memory and no thought of speed. It knows one group.
type oracle struct {
	rows       []oplog.Record
	start, end int64
	whole      bool // all requests belong to it
}

// newOracle derives the window: of each run, from when every thread has finished
// a first request to the latest start of a request; of several runs, the time
// that they have in common.
func newOracle(rows []oplog.Record) oracle {
	type key struct {
		run, client string
		thread      uint32
	}
	firstEnd, begin, end := map[key]int64{}, map[string]int64{}, map[string]int64{}
	for _, r := range rows {
		k := key{r.Run, r.Client, r.Thread}
		if e, ok := firstEnd[k]; !ok || r.End() < e {
			firstEnd[k] = r.End()
		}
		if s, ok := end[r.Run]; !ok || r.Start > s {
			end[r.Run] = r.Start
		}
	}
	for k, e := range firstEnd {
		if b, ok := begin[k.run]; !ok || e > b {
			begin[k.run] = e
		}
	}
	o := oracle{rows: rows, start: math.MinInt64, end: math.MaxInt64}
	for run := range begin {
		o.start, o.end = max(o.start, begin[run]), min(o.end, end[run])
	}
	return o
}

// started says whether a request belongs to the window: by when it was due in
// an open loop, and by when it started otherwise.
func (o oracle) started(r *oplog.Record) bool {
	at := r.Start
	if r.Due != 0 {
		at = r.Due
	}
	return o.whole || at >= o.start && at <= o.end
}

// fraction is what of an amount lies between two times, in exact fractions.
func fraction(r *oplog.Record, amount, from, to int64) *big.Rat {
	if r.Duration == 0 {
		if r.Start >= from && r.Start <= to {
			return big.NewRat(amount, 1)
		}
		return new(big.Rat)
	}
	lo, hi := max(r.Start, from), min(r.End(), to)
	if hi <= lo {
		return new(big.Rat)
	}
	return new(big.Rat).Mul(big.NewRat(amount, 1), big.NewRat(hi-lo, int64(r.Duration)))
}

func (o oracle) check(t *testing.T, op *Operation) {
	t.Helper()
	var requests, errs uint64
	var inside, first []time.Duration
	bytes, objects := new(big.Rat), new(big.Rat)
	for i := range o.rows {
		r := &o.rows[i]
		if r.Op != op.Op {
			continue
		}
		requests++
		if r.Err != "" {
			if o.started(r) {
				errs++
			}
			continue
		}
		bytes.Add(bytes, fraction(r, r.Bytes, o.start, o.end))
		objects.Add(objects, fraction(r, int64(r.Objects), o.start, o.end))
		if o.started(r) {
			inside = append(inside, r.Duration)
			if r.FirstByte > 0 {
				first = append(first, r.FirstByte)
			} else if r.LastByte > 0 {
				first = append(first, r.Duration-r.LastByte)
			}
		}
	}
	if op.Requests != requests || op.Errors != errs || op.Inside != uint64(len(inside)) {
		t.Fatalf("%s: %d requests, %d errors, %d inside; want %d, %d, %d",
			op.Op, op.Requests, op.Errors, op.Inside, requests, errs, len(inside))
	}
	seconds := float64(o.end-o.start) / 1e9
	// Each request that crosses a border may lose less than a byte.
	closeTo(t, op.Op+" bytes/s", op.BytesPerS*seconds, bytes, float64(requests))
	closeTo(t, op.Op+" objects/s", op.ObjectsPerS*seconds, objects, float64(requests)/objectUnit)
	checkStats(t, op.Op, op.Duration, inside)
	checkStats(t, op.Op+" TTFB", op.TTFB, first)
	for i := range op.Segments {
		o.checkSegment(t, op, i)
	}
}

func closeTo(t *testing.T, what string, got float64, want *big.Rat, slack float64) {
	t.Helper()
	w, _ := want.Float64()
	if math.Abs(got-w) > slack+1e-9*w {
		t.Errorf("%s: got %v, want %v", what, got, w)
	}
}

func checkStats(t *testing.T, what string, s *Stats, values []time.Duration) {
	t.Helper()
	if len(values) == 0 {
		if s != nil {
			t.Errorf("%s: %+v out of nothing", what, s)
		}
		return
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	near := func(name string, got, want, relative float64) {
		if math.Abs(got-want) > want*relative {
			t.Errorf("%s %s: got %v, want %v", what, name, got, want)
		}
	}
	near("mean", s.Mean, sum/float64(len(values))/1e6, 1e-9)
	near("min", s.Min, float64(values[0])/1e6, 0)
	near("max", s.Max, float64(values[len(values)-1])/1e6, 0)
	for perMille, got := range map[int]float64{250: s.P25, 500: s.P50, 750: s.P75, 900: s.P90, 990: s.P99, 999: s.P999} {
		near(strconv.Itoa(perMille)+"‰", got, float64(nearestRank(values, perMille))/1e6, 1.0/256)
	}
}

func (o oracle) checkSegment(t *testing.T, op *Operation, i int) {
	t.Helper()
	s := op.Segments[i]
	from := s.Start.UnixNano()
	to := op.segmentEnd(i).UnixNano()
	var want Segment
	bytes := new(big.Rat)
	for k := range o.rows {
		r := &o.rows[k]
		if r.Op != op.Op || r.Duration == 0 {
			continue // at a border these could be in either; see TestNoDuration
		}
		start, end := r.Start, r.End()
		if r.Err != "" {
			if at := min(max(start, o.start), o.end-1); o.started(r) && at >= from && at < to {
				want.Errors++
			}
			continue
		}
		if start < to && end > from {
			if start >= from && end <= to {
				want.FullOps++
			} else {
				want.PartialOps++
			}
		}
		if start >= from && start < to {
			want.OpsStarted++
		}
		if end > from && end <= to {
			want.OpsEnded++
		}
		bytes.Add(bytes, fraction(r, r.Bytes, from, to))
	}
	if s.FullOps != want.FullOps || s.PartialOps != want.PartialOps || s.OpsStarted != want.OpsStarted ||
		s.OpsEnded != want.OpsEnded || s.Errors != want.Errors {
		t.Fatalf("%s segment %d: got %+v, want %+v", op.Op, i, s, want)
	}
	closeTo(t, op.Op+" segment", float64(s.Bytes), bytes, float64(len(o.rows)))
}

func TestOracle(t *testing.T) {
	t.Parallel()
	for name, l := range loads() {
		if name == "short" || name == "apart" || name == "failing" || name == "day" {
			continue // no active window, or too long for a slow oracle
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.zeros = false
			l.length = min(l.length, 10*time.Minute)
			for seed := range uint64(3) {
				rows := l.make(seed)
				dur := time.Duration(0)
				if seed == 1 {
					dur = l.latency * 3 / 2 // most requests cross a border
				}
				r := analyze(t, shuffled(rows, seed), Options{SegmentDur: dur})
				o := newOracle(rows)
				for i := range r.Operations {
					op := &r.Operations[i]
					if op.WindowBasis != Derived || op.WindowStart.UnixNano() != o.start || op.WindowEnd.UnixNano() != o.end {
						t.Fatalf("window %v to %v (%s)", op.WindowStart, op.WindowEnd, op.WindowBasis)
					}
					if len(op.Segments) > 60 {
						op.Segments = nil // the oracle is slow
					}
					o.check(t, op)
				}
				e := r.Operations[0].Throughput
				checkExtremes(t, e, r.Operations[0].Segments, dur)
			}
		})
	}
}

func checkExtremes(t *testing.T, e *Extremes, all []Segment, dur time.Duration) {
	t.Helper()
	if len(all) < 2 {
		return
	}
	full := slices.Clone(all[:e.Segments])
	rate := func(s Segment) float64 {
		if e.By == "bytes" {
			return s.BytesPerS
		}
		return s.ObjectsPerS
	}
	slices.SortStableFunc(full, func(a, b Segment) int { return cmp.Compare(rate(a), rate(b)) })
	if rate(e.Fastest) != rate(full[len(full)-1]) || rate(e.Slowest) != rate(full[0]) || rate(e.Median) != rate(full[(len(full)-1)/2]) {
		t.Errorf("%v segments: %+v", dur, e)
	}
}
