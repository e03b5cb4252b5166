package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/internal/check"
)

// pastRuns returns runs of a day each, whose throughput and latencies have 1 % of noise each, and a step.
func pastRuns(seed uint64, n, at int, step float64) (all []Past) {
	random := rand.New(rand.NewPCG(seed, 31))
	noise := func() float64 { return math.Exp(.01 * random.NormFloat64()) }
	for i := range n {
		factor := 1.0
		if at > 0 && i >= at {
			factor = 1 + step
		}
		r := runsOf(fmt.Sprintf("%d-%d-", seed, i), 1000)[0]
		op := &r.Report.Operations[1]
		op.BytesPerS *= factor * noise()
		op.Duration.P50 *= noise() / factor
		op.Duration.P99 *= noise() / factor
		start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		r.Report.Groups[1].WindowStart, r.Report.Groups[1].WindowEnd = start, start.Add(time.Minute)
		r.Report.Warp = "1.0"
		if factor != 1 {
			r.Report.Warp = "1.1"
		}
		all = append(all, Past{Run: r, Label: fmt.Sprint("c", i)})
	}
	return all
}

func historyOf(t *testing.T, runs []Past) *History {
	t.Helper()
	h, err := NewHistory(runs, options())
	check.OK(t, err)
	return h
}

// In 100 histories of 60 runs with 1 % of noise, a step of 5 % is found within three runs of its place; without one, at
// most 5 of 100 have a change in any of three metrics.
func TestHistoryFindsSteps(t *testing.T) {
	t.Parallel()
	alarms, far := 0, 0
	for seed := range uint64(100) {
		at := 6 + int(seed*29%49)
		runs := pastRuns(seed, 60, at, -.05)
		random := rand.New(rand.NewPCG(seed, 5))
		random.Shuffle(len(runs), func(a, b int) { runs[a], runs[b] = runs[b], runs[a] }) // the order is that of time
		w := historyOf(t, runs).Workloads[0]
		for _, metric := range []string{"throughput", "p50", "p99"} {
			c := w.Total(metric)
			if !slices.ContainsFunc(c.Changes, func(p ChangePoint) bool { return p.Run >= at-3 && p.Run <= at+3 && p.Verdict == Worse }) {
				far++
				t.Errorf("history %d: %s changed at run %d, and the changes are %+v", seed, metric, at, c.Changes)
			}
		}
		for _, c := range historyOf(t, pastRuns(1000+seed, 60, 0, 0)).Workloads[0].Series {
			if len(c.Changes) > 0 {
				alarms++
				break
			}
		}
	}
	t.Logf("%d of 100 histories without a change have one; %d of 300 steps are not found", alarms, far)
	if alarms > 5 {
		t.Errorf("%d of 100 histories without a change have one", alarms)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	runs := pastRuns(3, 40, 25, -.1)
	runs[10].Report.End = "interrupted"
	runs[10].Report.Operations[1].BytesPerS /= 3
	other := runsOf("other", 5)[0]
	other.Report.Parameters = map[string]string{"obj.size": "4KiB", "concurrent": "8"}
	h := historyOf(t, append(runs, Past{Run: other}))
	if len(h.Workloads) != 2 || len(h.Workloads[0].Runs)+len(h.Workloads[1].Runs) != 41 {
		t.Fatalf("%d workloads", len(h.Workloads))
	}
	w := h.Workloads[1]
	if w.Name != "get 1MiB, concurrent 8" || w.Runs[10].Unfit == "" {
		t.Errorf("%s, run 10 is unfit because %q", w.Name, w.Runs[10].Unfit)
	}
	c := w.Main()
	if len(c.Changes) != 1 || c.Changes[0].Run != 25 || len(c.Stretches) != 2 || c.Stretches[0].Runs != 24 || c.Stretches[1].Runs != 15 {
		t.Fatalf("changes %+v, stretches %+v", c.Changes, c.Stretches)
	}
	if p := c.Changes[0]; math.Abs(*p.Change+10) > 1.5 || *p.Low > -10 || *p.High < -10 || len(p.Parameters) != 1 || p.Parameters[0].Name != "(warp version)" {
		t.Errorf("%+v", p)
	}
	r := w.Runs[25]
	if r.Verdict != Worse || len(r.Details) != 3 || r.Change == nil || *r.Change > -5 {
		t.Errorf("%+v", r)
	}
	if w.Runs[24].Verdict != "" || w.Runs[0].Change != nil {
		t.Errorf("run 24: %+v, run 0: %+v", w.Runs[24], w.Runs[0])
	}
}

// The sets of a baseline are compared with the one before.
func TestHistoryOfBaselines(t *testing.T) {
	t.Parallel()
	runs := pastRuns(3, 24, 16, -.1)
	for i := range runs {
		runs[i].Set = fmt.Sprint("v", i/8)
	}
	w := historyOf(t, runs).Workloads[0]
	for i, want := range map[int]Verdict{0: "", 8: Undecided, 16: Worse, 17: ""} {
		if got := w.Runs[i].Verdict; got != want && !(want == Undecided && got == Equivalent) {
			t.Errorf("run %d: %s, want %s", i, got, want)
		}
	}
	if d := w.Runs[16].Details; len(d) != 3 {
		t.Errorf("%v", d)
	}
}
