package aggregate

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A markedLog has marks before the first row that ended after each.
type markedLog struct {
	memoryLog
	marks []oplog.Mark
}

func (l *markedLog) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	known, shown := oplog.Window{}, 0
	tell := func(end int64) error {
		n, changed := shown, false
		for ; n < len(l.marks) && l.marks[n].At < end; n++ {
			changed = true
		}
		for _, w := range l.windows {
			if latest(w) < end && latest(w) > latest(known) {
				known, changed = w, true
			}
		}
		if shown = n; changed {
			return decided(known, l.marks[:n])
		}
		return nil
	}
	for i := range l.rows {
		if err := tell(l.rows[i].End()); err != nil {
			return oplog.Trailer{}, err
		}
		if err := rows(l.rows[i : i+1]); err != nil {
			return oplog.Trailer{}, err
		}
	}
	return l.trailer, tell(math.MaxInt64)
}

const sec = int64(time.Second)

// frozen returns the requests of workers to a store that answers each in ms and freezes for a
// while. Requests in flight wait until the freeze ends.
func frozen(workers int, until int64, freezes ...[2]int64) (rows []oplog.Record) {
	for w := range workers {
		for at := int64(w) * 1e5; at < until; {
			end := at + 1e6 + int64(w)*1e4
			for _, f := range freezes {
				if end > f[0] && at < f[1] {
					end = max(end, f[1]+int64(w)*1e4)
				}
			}
			rows = append(rows, oplog.Record{Op: "GET", Client: "c", Thread: uint32(w), Objects: 1, Bytes: 1000, Start: at + 100*sec, Duration: time.Duration(end - at)})
			at = end
		}
	}
	slices.SortFunc(rows, func(a, b oplog.Record) int { return int(a.End() - b.End()) })
	return rows
}

func marked(rows []oplog.Record, w oplog.Window, marks ...oplog.Mark) *markedLog {
	return &markedLog{*windowed(rows, w), marks}
}

// TestMarksOfAFreeze checks that the recovery is within one second of the truth, and that the
// phases before, during and after add up.
func TestMarksOfAFreeze(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		marks        []float64 // s after the start
		freeze       [2]float64
		recovery     []float64 // NaN = never
		gap          []float64
		during, tail bool // of the first mark
	}{
		{"mark at the freeze", []float64{8}, [2]float64{8, 11}, []float64{3}, []float64{3}, true, true},
		{"mark before the freeze", []float64{7.25}, [2]float64{8, 11}, []float64{3.75}, []float64{3}, true, true},
		{"marks around the freeze", []float64{8, 11}, [2]float64{8, 11}, []float64{3, 0}, []float64{3, .001}, true, false},
		{"never back", []float64{8}, [2]float64{8, 40}, []float64{math.NaN()}, []float64{12}, true, false},
		{"no effect", []float64{8}, [2]float64{50, 51}, []float64{0}, []float64{.001}, false, true},
		{"too close to the end", []float64{17}, [2]float64{50, 51}, []float64{math.NaN()}, []float64{.001}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			at := func(s float64) int64 { return 100*sec + int64(s*1e9) }
			w := oplog.Window{Start: 100*sec - 1, Begin: 102 * sec, End: 120 * sec}
			rows := frozen(8, 20*sec, [2]int64{int64(test.freeze[0] * 1e9), int64(test.freeze[1] * 1e9)})
			var marks []oplog.Mark
			for i, s := range test.marks {
				marks = append(marks, oplog.Mark{At: at(s), Text: fmt.Sprint("mark ", i)})
			}
			r := analyzeLog(t, marked(rows, w, marks...), Options{})
			if len(r.Marks) != len(marks) {
				t.Fatalf("marks %+v", r.Marks)
			}
			for i, m := range r.Marks {
				if !m.At.Equal(marks[i].Time()) || m.Text != marks[i].Text {
					t.Errorf("mark %+v, want %v", m, marks[i])
				}
				if want := test.recovery[i]; math.IsNaN(want) != (m.RecoveryS == nil) || m.RecoveryS != nil && math.Abs(*m.RecoveryS-want) > 1 {
					t.Errorf("mark %d: recovery %v, want %v", i, show(m.RecoveryS), want)
				}
				if m.LongestGapS == nil || math.Abs(*m.LongestGapS-test.gap[i]) > .1 {
					t.Errorf("mark %d: longest gap %v, want %v", i, show(m.LongestGapS), test.gap[i])
				}
			}
			first := r.Marks[0]
			if (first.During != nil) != test.during || (first.After != nil) != test.tail || first.Before == nil {
				t.Errorf("before %v, during %v, after %v", first.Before, first.During, first.After)
			}
			// Everything in the window is in exactly one phase of a mark, once the phases before later marks are left out.
			requests, seconds, objects := uint64(0), 0., 0.
			phases := []*results.MarkPhase{first.Before}
			for _, m := range r.Marks {
				phases = append(phases, m.During, m.After)
			}
			for _, p := range phases {
				if p != nil {
					requests, seconds, objects = requests+p.Requests, seconds+p.Seconds, objects+p.ObjectsPerS*p.Seconds
				}
			}
			op := r.Operations[0]
			if requests != op.Inside+op.Errors || math.Abs(seconds-op.WindowS) > 1e-6 || math.Abs(objects-op.Objects) > .01 {
				t.Errorf("phases have %d requests, %g objects in %g s; the window has %d, %g, %g", requests, objects, seconds, op.Inside, op.Objects, op.WindowS)
			}
		})
	}
}

func show(x *float64) string {
	if x == nil {
		return "null"
	}
	return fmt.Sprint(*x)
}

// TestMarksInAnOpenLoop checks the recovery when the missed requests are sent after the freeze. The
// mean over 5 s is then unchanged, but the recovery is still at the end of the freeze.
func TestMarksInAnOpenLoop(t *testing.T) {
	t.Parallel()
	w := oplog.Window{Start: 100*sec - 1, Begin: 102 * sec, End: 120 * sec}
	var rows []oplog.Record
	for due := 100 * sec; due < 120*sec; due += sec / 100 {
		start := due
		if due > 108*sec && due < 110*sec {
			start = 110*sec + (due-108*sec)/20
		}
		rows = append(rows, oplog.Record{Op: "PUT", Objects: 1, Bytes: 1, Start: start, Due: due, Duration: time.Millisecond})
	}
	slices.SortFunc(rows, func(a, b oplog.Record) int { return int(a.End() - b.End()) })
	r := analyzeLog(t, marked(rows, w, oplog.Mark{At: 107*sec + 950e6, Text: "freeze"}), Options{})
	if m := r.Marks[0]; m.RecoveryS == nil || math.Abs(*m.RecoveryS-2.05) > .15 || *m.LongestGapS < 1.9 {
		t.Errorf("recovery %s, longest gap %s", show(m.RecoveryS), show(m.LongestGapS))
	}
}

// TestMarksDoNotDependOnTheOrder checks that the figures stay the same for a merged log, which is
// sorted by start and has its marks first.
func TestMarksDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	w := oplog.Window{Start: 100*sec - 1, Begin: 102 * sec, End: 120 * sec}
	rows := frozen(8, 20*sec, [2]int64{8 * sec, 11 * sec})
	for i := range rows {
		if rows[i].Start%7 == 0 {
			rows[i].Err = "failed"
		}
	}
	marks := []oplog.Mark{{At: 101 * sec, Text: "before the start"}, {At: 108*sec + 5, Text: "first"}, {At: 111*sec - 77, Text: "second"}, {At: 125 * sec, Text: "after the end"}}
	want := render(t, analyzeLog(t, marked(rows, w, marks...), Options{}))
	s := NewSummary(Options{})
	check.OK(t, s.SetWindow(w))
	for _, m := range marks {
		check.OK(t, s.AddMark(m))
	}
	check.OK(t, s.Write(shuffled(rows, 1)))
	s.Close(oplog.Trailer{End: "completed", Window: &w})
	r, err := s.Report()
	check.OK(t, err)
	r.Describe(oplog.Header{Warp: "test", Windowed: true}, oplog.Trailer{End: "completed", Window: &w})
	same(t, "shuffled", render(t, r), want)
	for _, i := range []int{0, 3} {
		if m := r.Marks[i]; m.Before != nil || m.During != nil || m.After != nil || m.LongestGapS != nil || m.RecoveryS != nil {
			t.Errorf("a mark outside of the window has figures: %+v", m)
		}
	}
}
