package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A slump is a time in which a store does only a share of its work. Its ends may
// be ramps.
type slump struct{ from, to, depth, ramp float64 } // s

// speed returns how fast the store works, as a share of usual.
func speed(at float64, slumps []slump) float64 {
	f := 1.
	for _, s := range slumps {
		switch {
		case at >= s.from && at < s.to:
			f -= s.depth
		case at >= s.to && at < s.to+s.ramp:
			f -= s.depth * (1 - (at-s.to)/s.ramp)
		}
	}
	return max(f, 0)
}

// slumped returns the requests of workers to such a store, each of which takes
// 20 ms on average. In an open loop they are due at a rate of half of what the
// workers can do.
func slumped(length float64, open bool, noise float64, slumps ...slump) (rows []oplog.Record) {
	const workers, step = 8, .005
	rng := rand.New(rand.NewPCG(1, uint64(noise*100)))
	free := [workers]float64{}
	for i := range free {
		free[i] = float64(i) * .02 / workers
	}
	due := 0.
	for {
		w := 0
		for i := range free {
			if free[i] < free[w] {
				w = i
			}
		}
		start := free[w]
		r := oplog.Record{Op: "GET", Client: "c", Thread: uint32(w), Objects: 1}
		if open {
			start = max(start, due)
			r.Due = 100*sec + int64(due*1e9)
			due += .005
		}
		if start >= length {
			break
		}
		work, end := .02*(1+noise*(rng.ExpFloat64()-1)), start
		for work > 0 && end < length+10 {
			f := speed(end, slumps)
			if part := math.Min(step, (math.Floor(end/step+1e-9)+1)*step-end); work > part*f {
				work, end = work-part*f, end+part
			} else {
				work, end = 0, end+work/f
			}
		}
		free[w] = end
		r.Start, r.Duration = 100*sec+int64(start*1e9), time.Duration((end-start)*1e9)
		rows = append(rows, r)
	}
	testlog.SortByEnd(rows)
	return rows
}

// marksOf analyses a run of so many seconds with marks.
func marksOf(t *testing.T, rows []oplog.Record, length float64, at ...float64) []results.MarkReport {
	t.Helper()
	w := oplog.Window{Start: 100*sec - 1, Begin: 101 * sec, End: 100*sec + int64(length*1e9)}
	var marks []oplog.Mark
	for _, s := range at {
		marks = append(marks, oplog.Mark{At: 100*sec + int64(s*1e9), Text: fmt.Sprint(s)})
	}
	return analyzeLog(t, marked(rows, w, marks...), Options{}).Marks
}

// TestRecoveryOfGeneratedLogs has drops of every depth and length, in closed and
// open loops, with and without noise.
func TestRecoveryOfGeneratedLogs(t *testing.T) {
	t.Parallel()
	for _, noise := range []float64{0, .5, 1} {
		for _, depth := range []float64{.05, .08, .2, .5, 1} {
			for _, length := range []float64{1, 3, 10, 60} {
				const mark = 15
				name := fmt.Sprintf("noise %g, a drop of %g for %g s", noise, depth, length)
				m := marksOf(t, slumped(mark+length+20, false, noise, slump{mark, mark + length, depth, 0}), mark+length+20, mark)[0]
				near := .5
				if noise == 1 {
					near = 1 // a segment
				}
				switch {
				case depth*length <= .25 || depth <= .05: // does not reduce a mean over 5 s below 95 %
				case m.Noise && depth < .2:
				case m.RecoveryS == nil:
					t.Errorf("%s: %+v", name, m)
				case depth >= .2 && math.Abs(*m.RecoveryS-length) > near+1e-9, *m.RecoveryFromS > length+near, *m.RecoveryS < length-near:
					t.Errorf("%s: recovery after %g to %g s", name, *m.RecoveryFromS, *m.RecoveryS)
				}
			}
		}
	}
}

// TestRecoveryInAnOpenLoop waits for the response times: after an outage the
// requests that were due in it are answered late.
func TestRecoveryInAnOpenLoop(t *testing.T) {
	t.Parallel()
	for _, length := range []float64{1, 3, 10} {
		const mark = 15
		rows := slumped(mark+3*length+20, true, .5, slump{mark, mark + length, 1, 0})
		m := marksOf(t, rows, mark+3*length+20, mark)[0]
		back := 0. // the backlog is gone: it is worked off at the same rate as it grew
		for i := range rows {
			if r := &rows[i]; r.Start-r.Due > sec/10 {
				back = max(back, float64(r.Due-100*sec)/1e9-mark)
			}
		}
		if m.RecoveryS == nil || math.Abs(*m.RecoveryS-back) > .5 || back < 1.7*length {
			t.Errorf("an outage of %g s, sends late until %g s: %+v, recovery %s", length, back, m, show(m.RecoveryS))
		}
	}
}

// TestRecoveryWithFastCatchUp has a store that answers at once what waited while it was frozen. This piece of a
// high rate must not hide where the throughput rose.
func TestRecoveryWithFastCatchUp(t *testing.T) {
	t.Parallel()
	const mark, length, frozen, thawed = 15, 60, 17 * sec, 20 * sec
	var rows []oplog.Record
	thaw := int64(thawed)
	for due := int64(0); due < length*sec; due += sec / 50 {
		r := oplog.Record{Op: "GET", Client: "c", Objects: 1, Due: 100*sec + due, Start: 100*sec + due, Duration: time.Millisecond}
		if due >= frozen && due < thawed {
			thaw += sec / 3000
			r.Start = 100*sec + thaw
		}
		rows = append(rows, r)
	}
	testlog.SortByEnd(rows)
	m := marksOf(t, rows, length, mark)[0]
	if m.RecoveryS == nil || math.Abs(*m.RecoveryFromS-5) > .3 || math.Abs(*m.RecoveryS-5) > .3 {
		t.Errorf("recovery after %s to %s s, want 5", show(m.RecoveryFromS), show(m.RecoveryS))
	}
}

// TestRecoveryAfterTwoStalls has a store that freezes twice, the second time before it was as before for 5 s. Around the end
// of the second freeze the throughput is the same before and after, but freezes are no noise.
func TestRecoveryAfterTwoStalls(t *testing.T) {
	t.Parallel()
	rows := slumped(40, false, 1, slump{17, 20, 1, 0}, slump{20, 24, -.4, 0}, slump{24, 24.9, 1, 0})
	m := marksOf(t, rows, 40, 15)[0]
	if m.Noise || m.RecoveryS == nil || *m.RecoveryFromS < 9.5 {
		t.Errorf("noise %t, recovery after %s to %s s, want 10 or more", m.Noise, show(m.RecoveryFromS), show(m.RecoveryS))
	}
}

// TestRecoveryOfRamps ends outages slowly. The recovery is between the instant
// from which the mean is as before and the end of the ramp.
func TestRecoveryOfRamps(t *testing.T) {
	t.Parallel()
	for _, ramp := range []float64{1, 2, 5, 10} {
		m := marksOf(t, slumped(60, false, .2, slump{15, 25, .8, ramp}), 60, 15)[0]
		if m.RecoveryS == nil || *m.RecoveryS > 10+ramp+.3 || *m.RecoveryS < 10+ramp-max(1, .4*ramp) {
			t.Errorf("a ramp of %g s after 10 s: recovery %s", ramp, show(m.RecoveryS))
		}
	}
}

// TestOverlappingMarks compares a mark within an outage with the time before the
// outage.
func TestOverlappingMarks(t *testing.T) {
	t.Parallel()
	rows := slumped(70, false, .2, slump{15, 35, .6, 0}, slump{50, 55, 1, 0})
	all := marksOf(t, rows, 70, 15, 25, 34, 50)
	for i, want := range []float64{20, 10, 1, 5} {
		if m := all[i]; m.RecoveryS == nil || math.Abs(*m.RecoveryS-want) > .2 || m.RelapseS != nil {
			t.Errorf("mark %d: recovery %s, want %g; relapse %s", i, show(m.RecoveryS), want, show(m.RelapseS))
		}
	}
}

// TestLateOutages has a store that dies 6 s after the mark, for a while or for
// ever, and one that relapses.
func TestLateOutages(t *testing.T) {
	t.Parallel()
	never := math.NaN()
	for name, test := range map[string]struct {
		slumps                  []slump
		drop, recovery, relapse float64
	}{
		"dies for ever":   {[]slump{{21, 90, 1, 0}}, 6, never, never},
		"dies for 10 s":   {[]slump{{21, 31, 1, 0}}, 6, 16, never},
		"relapses":        {[]slump{{15, 19, .7, 0}, {35, 40, 1, 0}}, 0, 4, 20},
		"dies at the end": {[]slump{{58.5, 90, 1, 0}}, 43.5, never, never},
		"no effect":       {nil, never, 0, never},
	} {
		m := marksOf(t, slumped(60, false, .5, test.slumps...), 60, 15)[0]
		for what, v := range map[string][2]*float64{"drop": {m.DropS, &test.drop}, "recovery": {m.RecoveryS, &test.recovery}, "relapse": {m.RelapseS, &test.relapse}} {
			if math.IsNaN(*v[1]) != (v[0] == nil) || v[0] != nil && math.Abs(*v[0]-*v[1]) > .3 {
				t.Errorf("%s: %s %s, want %g", name, what, show(v[0]), *v[1])
			}
		}
	}
}
