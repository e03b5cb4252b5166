package conformance

import (
	"math"
	"slices"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// An oracle computes the figures of the report from the rows of one operation, in the simplest way.
type oracle struct {
	rows     []oplog.Record
	from, to int64 // the window, unix ns
}

// judge reads the window of the run. The window has to begin after each thread has finished a first
// request, and to end when no more requests start.
func judge(t *testing.T, op results.Operation, rows []oplog.Record) oracle {
	t.Helper()
	o := oracle{rows: rows, from: op.WindowStart.UnixNano(), to: op.WindowEnd.UnixNano()}
	first, last := map[uint32]int64{}, int64(math.MinInt64)
	for _, r := range rows {
		if end, ok := first[r.Thread]; !ok || r.End() < end {
			first[r.Thread] = r.End()
		}
		last = max(last, r.Start)
	}
	for thread, end := range first {
		if end > o.from && rows[0].Due == 0 {
			t.Fatalf("the window begins at %s, before thread %d has finished a request", op.WindowStart, thread)
		}
	}
	if op.WindowBasis != results.Measured || last > o.to+1e6 || o.from >= o.to {
		t.Fatalf("the window is %s to %s (%s), the last request starts at %s", op.WindowStart, op.WindowEnd, op.WindowBasis, time.Unix(0, last).UTC())
	}
	return o
}

// successes returns the number of successful requests in the window, each by its share of time.
func (o oracle) successes() (n float64) {
	for _, r := range o.rows {
		if inside := min(r.End(), o.to) - max(r.Start, o.from); r.Err == "" && inside > 0 {
			n += float64(inside) / float64(r.Duration)
		}
	}
	return n
}

// sorted returns the times, in ms, of successful requests that started or were due in the window.
func (o oracle) sorted(of func(oplog.Record) time.Duration) (ms []float64) {
	for _, r := range o.rows {
		at := r.Start
		if r.Due != 0 {
			at = r.Due
		}
		if r.Err == "" && at >= o.from && at <= o.to {
			ms = append(ms, float64(of(r))/1e6)
		}
	}
	slices.Sort(ms)
	return ms
}

func service(r oplog.Record) time.Duration  { return r.Duration }
func response(r oplog.Record) time.Duration { return time.Duration(r.End() - r.Due) }

// holds compares the percentiles of s with the times in ms, within 1 %, or exactly if they are
// exact.
func holds(t *testing.T, s *results.Stats, ms []float64) {
	t.Helper()
	if s == nil || int(s.Count) != len(ms) {
		t.Fatalf("the report is about %+v, want %d requests", s, len(ms))
	}
	for _, p := range []struct {
		name string
		q    float64
		got  float64
	}{{"p50", 0.5, s.P50}, {"p90", 0.9, s.P90}, {"p99", 0.99, s.P99}, {"p99.9", 0.999, s.P999}} {
		// Definitions of percentiles differ in which of two neighbours they choose.
		at := p.q * float64(len(ms))
		low, high := ms[max(0, int(math.Ceil(at))-1)], ms[min(len(ms)-1, int(math.Ceil(at)))]
		if p.got < low*0.99 || p.got > high*1.01 {
			t.Errorf("%s is %g ms, the rows say %g to %g", p.name, p.got, low, high)
		}
	}
	sum := 0.0
	for _, x := range ms {
		sum += x
	}
	near(t, "mean", s.Mean, sum/float64(len(ms)), 1e-6)
	near(t, "min", s.Min, ms[0], 1e-9)
	near(t, "max", s.Max, ms[len(ms)-1], 1e-9)
}

// near checks that got is within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*math.Abs(want) {
		t.Errorf("%s is %g, want %g within %g %%", what, got, want, share*100)
	}
}
