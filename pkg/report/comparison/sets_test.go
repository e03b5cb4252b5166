package comparison

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

func number(x float64) *float64 { return &x }

// verdictsOfAllKinds returns a comparison with a row of every kind.
func verdictsOfAllKinds() *compare.Verdicts {
	sample := func(median, spread float64) compare.Sample {
		s := compare.Sample{Values: make([]float64, 6), Median: median}
		if spread > 0 {
			s.Spread = &spread
		}
		return s
	}
	row := func(metric string, unit results.Unit, before, after, low, change, high float64) compare.Row {
		return compare.Row{Metric: metric, Unit: unit, Before: sample(before, 2), After: sample(after, 12.3),
			Change: &change, Low: &low, High: &high, Level: .98}
	}
	judged := func(r compare.Row, p float64, v compare.Verdict) compare.Row {
		r.Judged, r.P, r.Adjusted, r.Verdict = true, &p, &p, v
		return r
	}
	undecided := judged(row("p99", results.Milliseconds, 1.5, 1.6, -3, 5, 14), .1797, compare.Undecided)
	undecided.Detectable, undecided.Target, undecided.Needed = number(9.4), number(5), 17
	zero := compare.Row{Metric: "errors", Unit: results.Share, Before: sample(0, 0), After: sample(.0004, 0)}
	return &compare.Verdicts{
		Version: 1, Kind: "verdicts", MinEffect: 2, Needed: 5, Verdict: compare.Undecided,
		Before:     compare.Side{Name: "before-*.csv.zst", Runs: 6, Warnings: []string{"one", "two", "three", "four", "five", "six"}},
		After:      compare.Side{Name: "after", Runs: 6},
		Parameters: []compare.Parameter{{Name: "concurrent", Before: "8", After: "16", Workload: true}, {Name: "host", Before: "old:9000", After: "new:9000"}},
		Missing:    []string{"STAT"},
		Subjects: []compare.Subject{
			{Rows: []compare.Row{
				judged(row("throughput", results.BytesPerSecond, 100<<20, 120<<20, 15, 20, 25), .0022, compare.Better), row("mean", results.Milliseconds, .9, 1, -1, .1, 2),
				judged(row("p50", results.Milliseconds, .5, .501, -.4, .2, 1), .4, compare.Equivalent), undecided, zero,
			}},
			{Op: "GET", Host: "http://new:9000", Rows: []compare.Row{judged(row("p50", results.Milliseconds, 1, 2, 90, 100, 110), .00001, compare.Worse)}},
		},
	}
}

func TestVerdictsGolden(t *testing.T) {
	t.Parallel()
	v := verdictsOfAllKinds()
	v.Before.Workload, v.After.Workload = "0123456789abcdef", "fedcba9876543210"
	golden(t, "verdicts.txt", func(w io.Writer) error { return SetsText(w, compare.Single(v), printer.Options{}) })
	golden(t, "verdicts-80.txt", func(w io.Writer) error { return SetsText(w, compare.Single(v), printer.Options{Width: 80}) })
	golden(t, "verdicts-60.txt", func(w io.Writer) error { return SetsText(w, compare.Single(v), printer.Options{Width: 60}) })
	drifting := verdictsOfAllKinds()
	drifting.Sequence = &compare.Sequence{First: "after", DistanceS: 754.2}
	p99 := &drifting.Subjects[0].Rows[3]
	p99.Verdict, p99.Withheld = compare.Withheld, "it drifts within the sides, which makes +3.0% (+1.0%…+5.2%) from one to the other"
	golden(t, "verdicts-drift.txt", func(w io.Writer) error {
		return SetsText(w, compare.Single(drifting), printer.Options{Width: 80})
	})
	drifting.Sequence.DistanceS = 12 * 24 * 3600
	if text := strings.Join(Remarks(compare.Single(drifting)), "\n"); !strings.Contains(text, "after was made first, 12 days before before-*.csv.zst.") {
		t.Error(text)
	}
	few := verdictsOfAllKinds()
	few.Withheld, few.Warnings = []string{"1 of the 3 runs before ended early: x"}, []string{"the runs are not of the same kind"}
	few.Before.Runs, few.Needed, few.Paired, few.Unfinished = 3, 7, true, true
	for i := range few.Subjects[0].Rows {
		if r := &few.Subjects[0].Rows[i]; r.Judged {
			r.P, r.Low, r.High, r.Level, r.Verdict = nil, nil, nil, 0, compare.TooFew
		}
	}
	golden(t, "verdicts-few.txt", func(w io.Writer) error { return SetsText(w, compare.Single(few), printer.Options{}) })
}

// The report uses the width that it has, and no line is longer.
func TestVerdictsFit(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 100, 120} {
		var b bytes.Buffer
		v := verdictsOfAllKinds()
		words := []string{strings.Repeat("many words ", 30)}
		v.Withheld, v.Warnings, v.Before.Warnings, v.After.Warnings = words, words, words, words
		check.OK(t, SetsText(&b, compare.Single(v), printer.Options{Width: width}))
		for l := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > width {
				t.Errorf("%d characters where %d fit: %s", n, width, l)
			}
		}
	}
}

// threeSets returns comparisons of which one has no verdict because of its runs.
func threeSets(allPairs bool) *compare.Comparisons {
	first, second := verdictsOfAllKinds(), verdictsOfAllKinds()
	first.Named, second.Named = true, true
	first.Before.Name, first.After.Name = "old", "new"
	second.Before.Name, second.After.Name = "old", "tuned/2026-*.csv.zst"
	second.Withheld = []string{"1 of the 6 runs of tuned/2026-*.csv.zst ended early: x"}
	second.Missing = nil
	second.Parameters = append(second.Parameters, compare.Parameter{Name: "concurrent", Before: "8", After: "16"})
	for i := range second.Subjects[0].Rows {
		if r := &second.Subjects[0].Rows[i]; r.Judged {
			r.Verdict = compare.Withheld
		}
	}
	c := &compare.Comparisons{Version: 1, Kind: "comparisons", AllPairs: allPairs, Together: 6, Verdict: compare.Withheld, Comparisons: []*compare.Verdicts{first, second}}
	if allPairs {
		third := verdictsOfAllKinds()
		third.Named, third.Before, third.After = true, first.After, second.After
		c.Together, c.Comparisons = 9, append(c.Comparisons, third)
	}
	return c
}

func TestSeveralSetsGolden(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		golden(t, fmt.Sprintf("several-%d.txt", width), func(w io.Writer) error { return SetsText(w, threeSets(false), printer.Options{Width: width}) })
		var b bytes.Buffer
		check.OK(t, SetsText(&b, threeSets(true), printer.Options{Width: width, Verbose: true}))
		for l := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > width {
				t.Errorf("%d characters where %d fit: %s", n, width, l)
			}
		}
	}
	golden(t, "several-pairs.txt", func(w io.Writer) error { return SetsText(w, threeSets(true), printer.Options{Verbose: true}) })
}

// Wide intervals, long names and warnings of a set fit, too.
func TestSeveralSetsFit(t *testing.T) {
	t.Parallel()
	low, high := -1078.1, 14340.2
	for _, width := range []int{60, 80, 100} {
		c := threeSets(false)
		for _, v := range c.Comparisons {
			v.After.Name = "a very long name of " + v.After.Name
			v.After.Warnings = []string{strings.Repeat("many words ", 30)}
			for i := range v.Subjects[0].Rows {
				r := &v.Subjects[0].Rows[i]
				r.Low, r.High = &low, &high
				if r.Judged {
					r.Verdict = compare.Undecided
				}
			}
		}
		if width == 60 {
			golden(t, "several-stacked.txt", func(w io.Writer) error { return SetsText(w, c, printer.Options{Width: width}) })
		}
		var b bytes.Buffer
		check.OK(t, SetsText(&b, c, printer.Options{Width: width}))
		if !strings.Contains(b.String(), "~ undecided") {
			t.Errorf("at %d columns, the verdicts are not there", width)
		}
		if !strings.Contains(b.String(), "-1078.1%…+14340.2%") {
			t.Errorf("at %d columns, the intervals are not there", width)
		}
		for l := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > width {
				t.Errorf("%d characters where %d fit: %s", n, width, l)
			}
		}
	}
}

func TestTwoDigits(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{.01234: "0.012", 2.35: "2.4", 14.2: "14", 437: "440", 27182: "27000"} {
		if got := twoDigits(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
