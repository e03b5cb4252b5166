package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/results"
)

// A scipySet has the values of two metrics by run.
type scipySet struct {
	Throughput, P50 []float64
}

// A scipyRow is a comparison of one metric of two sets.
type scipyRow struct {
	Before, After int
	Metric        string
	P, Adjusted   float64
	Rejected      bool
}

// runs returns runs with these values.
func (s *scipySet) runs(name string) (all []Run) {
	for i, x := range s.Throughput {
		run := runsOf(fmt.Sprintf("%s-%d-", name, i), x)[0]
		op := &run.Report.Operations[1]
		op.BytesPerS = x
		op.Duration = &results.Stats{Mean: 1, P50: s.P50[i], P90: 1, P99: 1, P999: 1, Max: 1}
		all = append(all, run)
	}
	return all
}

// Eight sets, each against the first and all pairs, have the p-values of SciPy and Holm's correction of statsmodels.
func TestSetsAgreeWithSciPy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/sets.json")
	check.OK(t, err)
	var want struct {
		Sets         []scipySet
		First, Pairs []scipyRow
	}
	check.OK(t, json.Unmarshal(text, &want))
	var sets []Set
	index := map[string]int{}
	for i := range want.Sets {
		name := string(rune('a' + i))
		index[name] = i
		sets = append(sets, Set{name, want.Sets[i].runs(name)})
	}
	o := Options{MinEffect: 1e-9, MaxErrors: MaxErrors}
	o.Judge, _ = ParseChoices("throughput,p50")
	for _, all := range []bool{false, true} {
		got, err := JudgeSets(sets, all, o)
		check.OK(t, err)
		rows := want.First
		if all {
			rows = want.Pairs
		}
		if got.Together != len(rows) || len(got.Comparisons) != len(rows)/2 {
			t.Fatalf("all pairs %v: %d comparisons with %d p-values, want %d", all, len(got.Comparisons), got.Together, len(rows))
		}
		for i, w := range rows {
			v := got.Comparisons[i/2]
			r, _ := v.Row("", w.Metric)
			if index[v.Before.Name] != w.Before || index[v.After.Name] != w.After {
				t.Fatalf("comparison %d is of %s and %s", i/2, v.Before.Name, v.After.Name)
			}
			if r.P == nil || math.Abs(*r.P-w.P) > 1e-12 || math.Abs(*r.Adjusted-w.Adjusted) > 1e-12 {
				t.Errorf("%s and %s, %s: p %v, %v adjusted; SciPy has %v, %v", v.Before.Name, v.After.Name, w.Metric, *r.P, *r.Adjusted, w.P, w.Adjusted)
			}
			if shown := r.Verdict == Better || r.Verdict == Worse; shown != w.Rejected {
				t.Errorf("%s and %s, %s: %s, and statsmodels rejects it: %v", v.Before.Name, v.After.Name, w.Metric, r.Verdict, w.Rejected)
			}
		}
	}
}

// What withholds the verdict on one set does not withhold the others.
func TestSetsAreJudgedByThemselves(t *testing.T) {
	t.Parallel()
	base := []float64{100, 101, 102, 103, 104, 105, 106, 107}
	scaled := func(factor float64) (all []float64) {
		for _, x := range base {
			all = append(all, x*factor)
		}
		return all
	}
	early := runsOf("b", scaled(1.5)...)
	early[0].Report.End = "interrupted"
	got, err := JudgeSets([]Set{{"a", runsOf("a", base...)}, {"b", early}, {"c", runsOf("c", scaled(1.3)...)}, {"d", runsOf("d", scaled(2)[:3]...)}}, false, options())
	check.OK(t, err)
	for i, want := range []Verdict{Withheld, Better, TooFew} {
		if v := got.Comparisons[i]; v.Verdict != want {
			t.Errorf("%s: %s, want %s", v.After.Name, v.Verdict, want)
		}
	}
	// Three metrics of two sets: runs that are too few for any verdict do not count.
	if got.Together != 6 || got.Verdict != Withheld {
		t.Errorf("%d p-values together, verdict %s", got.Together, got.Verdict)
	}
	other := runsOf("e", base...)
	for _, r := range other {
		r.Report.Benchmark = "put"
	}
	_, err = JudgeSets([]Set{{"a", runsOf("a", base...)}, {"c", runsOf("c", base...)}, {"e", other}}, false, options())
	if err == nil || !strings.Contains(err.Error(), "a and e: the runs are not of the same kind") {
		t.Error(err)
	}
}
