package compare

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// at sets the times of runs: one begins every interval after the first, and takes 50 s.
func at(first time.Duration, interval time.Duration, runs []Run) []Run {
	for i := range runs {
		begin := time.Unix(1e9, 0).Add(first + time.Duration(i)*interval)
		g := &runs[i].Report.Groups[1]
		g.WindowStart, g.WindowEnd = begin, begin.Add(50*time.Second)
	}
	return runs
}

func TestSequence(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	steady := []float64{100.2, 100.1, 100.3, 99.9, 100, 100.1}
	scaled := func(x float64) (all []float64) {
		for _, v := range steady {
			all = append(all, v*x)
		}
		return all
	}
	slower := func(from float64) (all []float64) {
		for i := range 6 {
			all = append(all, from-float64(i))
		}
		return all
	}
	for _, test := range []struct {
		name          string
		before, after []Run
		first         string
		throughput    Verdict
		drifts        bool
	}{
		{"a step", at(0, minute, runsOf("a", steady...)), at(6*minute, minute, runsOf("b", scaled(.95)...)), "before", Worse, false},
		{"drift", at(0, minute, runsOf("a", slower(100)...)), at(6*minute, minute, runsOf("b", slower(94)...)), "before", Withheld, true},
		{"drift, the runs after first", at(6*minute, minute, runsOf("a", slower(94)...)), at(0, minute, runsOf("b", slower(100)...)), "after", Withheld, true},
		{"a step against the drift", at(0, minute, runsOf("a", slower(100)...)), at(6*minute, minute, runsOf("b", slower(120)...)), "before", Better, false},
		{"a step much larger than the drift", at(0, minute, runsOf("a", slower(100)...)), at(6*minute, minute, runsOf("b", slower(60)...)), "before", Worse, false},
		{"drift that hides a step", at(0, minute, runsOf("a", 102.5, 101.5, 100.5, 99.5, 98.5, 97.5)), at(6*minute, minute, runsOf("b", 102.5, 101.5, 100.5, 99.5, 98.5, 97.5)), "before", Undecided, true},
		{"steady", at(0, minute, runsOf("a", steady...)), at(6*minute, minute, runsOf("b", slices.Clone(steady)...)), "before", Equivalent, false},
		{"in turns", at(0, 2*minute, runsOf("a", slower(100)...)), at(minute, 2*minute, runsOf("b", slower(94)...)), "", Worse, false},
		{"a baseline", at(0, minute, runsOf("a", slower(100)...)), at(50*time.Hour, minute, runsOf("b", slower(94)...)), "before", Worse, false},
		{"without times", runsOf("a", slower(100)...), runsOf("b", slower(94)...), "", Worse, false},
	} {
		v := judge(t, test.before, test.after, options())
		r, _ := v.Row("", "throughput")
		if r.Verdict != test.throughput || (r.Withheld != "") != test.drifts {
			t.Errorf("%s: %q, %q; trend %+v, change %.2f", test.name, r.Verdict, r.Withheld, r.Trend, *r.Change)
		}
		if test.drifts && !strings.HasPrefix(r.Withheld, "it drifts within the sides, which makes -") && test.first == "before" {
			t.Errorf("%s: %s", test.name, r.Withheld)
		}
		if got := v.Sequence; (got == nil) != (test.first == "") || got != nil && got.First != test.first {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
