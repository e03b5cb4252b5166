package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/hostload"
	"warp/pkg/results"
)

// runsOf returns a run for each throughput, whose latencies are the inverse.
func runsOf(side string, throughput ...float64) (all []Run) {
	for i, x := range throughput {
		id := fmt.Sprintf("%s%d", side, i+1)
		all = append(all, Run{id, &results.Report{
			Benchmark: "get", Runs: []string{id}, End: "completed", Parameters: map[string]string{"obj.size": "1MiB", "concurrent": "8"},
			Groups: []results.GroupReport{{Kind: "preparation"}, {Kind: "measured"}},
			Operations: []results.Operation{
				{Op: "PUT", Inside: 10, Duration: &results.Stats{P50: 1}},
				{Op: "GET", Group: 1, Inside: 10_000, ObjectBytes: results.SizeRange{Min: 1 << 20, Max: 1 << 20, Mean: 1 << 20},
					BytesPerS: x * 1e6, ObjectsPerS: x,
					Duration: &results.Stats{Mean: 1000 / x, P50: 900 / x, P90: 1500 / x, P99: 2000 / x, P999: 3000 / x, Max: 5000 / x},
					Hosts: []results.Part{{Name: "http://one", Inside: 10_000, BytesPerS: x * 1e6, ObjectsPerS: x,
						Duration: &results.Stats{P50: 900 / x, P99: 2000 / x}}}},
			},
		}})
	}
	return all
}

// minEffect is the usual --min-effect.
const minEffect = .02

func options() Options { return Options{MinEffect: minEffect, MaxErrors: MaxErrors} }

func judge(t *testing.T, before, after []Run, o Options) *Verdicts {
	t.Helper()
	v, err := Judge(before, after, o)
	check.OK(t, err)
	return v
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	base := []float64{100, 101, 102, 103, 104, 105}
	scaled := func(factor float64, jitter ...float64) []float64 {
		all := slices.Clone(base)
		for i := range all {
			all[i] = all[i] * factor
			if len(jitter) > 0 {
				all[i] += jitter[i%len(jitter)]
			}
		}
		return all
	}
	for _, test := range []struct {
		name       string
		before     []float64
		after      []float64
		paired     bool
		throughput Verdict
		p99        Verdict
	}{
		{"faster", base, scaled(1.2), false, Better, Better},
		{"slower", base, scaled(.8), false, Worse, Worse},
		{"slower, so few that only they can tell", base[:5], scaled(.8)[:5], false, Worse, Worse},
		{"too few", base[:4], scaled(2)[:4], false, TooFew, TooFew},
		{"too few on one side", base, scaled(2)[:3], false, TooFew, TooFew},
		{"the same", base, scaled(1.001), false, Undecided, Undecided},
		{"the same as exactly as pairs show", append(base, 99, 98), append(scaled(1.001), 99.05, 98.05), true, Equivalent, Equivalent},
		{"a small difference that is certain", append(base, 99, 98), append(scaled(1.01), 100, 99), true, Equivalent, Equivalent},
		{"pairs, slower", append(base, 99, 98), append(scaled(.9, 0, .3, -.2), 89, 88), true, Worse, Worse},
		{"too few pairs", base, scaled(.5), true, TooFew, TooFew},
		{"noise", base, scaled(1.01, 3, -3, 1), false, Undecided, Undecided},
	} {
		o := options()
		o.Paired = test.paired
		v := judge(t, runsOf("a", test.before...), runsOf("b", test.after...), o)
		for metric, want := range map[string]Verdict{"throughput": test.throughput, "p99": test.p99} {
			r, ok := v.Row("", metric)
			if !ok || !r.Judged || r.Verdict != want {
				t.Errorf("%s: %s is %q (judged %v), want %q", test.name, metric, r.Verdict, r.Judged, want)
			}
			if want == TooFew && (r.P != nil || r.Low != nil) {
				t.Errorf("%s: %s has p %v and an interval from %v", test.name, metric, r.P, r.Low)
			}
			if want == Undecided && (r.Detectable == nil || r.Needed == 0) {
				t.Errorf("%s: %s does not say what would have been enough", test.name, metric)
			}
		}
		if r, ok := v.Row("GET", "p90"); !ok || r.Judged || r.Verdict != "" || r.P != nil {
			t.Errorf("%s: p90 is judged: %+v", test.name, r)
		}
		if _, ok := v.Row("PUT", "p50"); ok {
			t.Errorf("%s: the preparation is compared", test.name)
		}
	}
}

// The number of needed runs is that for the first step of Holm's procedure.
func TestRunsNeededForAnyVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		metrics string
		paired  bool
		want    int
	}{
		{"p99", false, 4}, {"p50,p99", false, 5}, {"throughput,p50,p99", false, 5}, {"throughput,objs,mean,p50,p90,p99,p99.9", false, 6},
		{"p99", true, 6}, {"p50,p99", true, 7}, {"throughput,p50,p99", true, 7}, {"throughput,objs,mean,p50,p90,p99,p99.9", true, 9},
	} {
		o := options()
		o.Paired = test.paired
		o.Judge, _ = ParseChoices(test.metrics)
		v := judge(t, runsOf("a", 1), runsOf("b", 2), o)
		if v.Needed != test.want || v.Verdict != TooFew {
			t.Errorf("%s, paired %v: %d are needed, want %d; %q", test.metrics, test.paired, v.Needed, test.want, v.Verdict)
		}
	}
}

func TestWithheld(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*results.Report)
		say    string
	}{
		"the client": {func(r *results.Report) {
			r.Warnings = hostload.Limits(&hostload.Load{WallSeconds: 10, Cores: 1, CPUSeconds: 10}, 1, false)
		}, "1 of the 6 runs after may have measured warp's machine"},
		"errors":      {func(r *results.Report) { r.Operations[1].Errors = 11 }, "more than 0.1 % errors: b3 (0.11 %)"},
		"interrupted": {func(r *results.Report) { r.End = "interrupted" }, "ended early: b3"},
		"parameters":  {func(r *results.Report) { r.Parameters["concurrent"] = "9" }, "the runs after are not all the same: concurrent is 8 and 9"},
	} {
		after := runsOf("b", 200, 201, 202, 203, 204, 205)
		test.change(after[2].Report)
		v := judge(t, runsOf("a", 100, 101, 102, 103, 104, 105), after, options())
		if len(v.Withheld) != 1 || !strings.Contains(v.Withheld[0], test.say) {
			t.Errorf("%s: withheld because of %q, want %q", name, v.Withheld, test.say)
		}
		if r, _ := v.Row("", "p99"); r.Verdict != Withheld || r.Low == nil || v.Verdict != Withheld {
			t.Errorf("%s: %q, of all %q", name, r.Verdict, v.Verdict)
		}
	}
	// A few errors are no reason, and neither are parameters that say when a run was made.
	after := runsOf("b", 200, 201, 202, 203, 204, 205)
	after[1].Report.Operations[1].Errors = 9
	after[2].Report.Operations[0].Errors = 9 // of the preparation
	after[3].Report.Parameters["seed"] = "19"
	if v := judge(t, runsOf("a", 100, 101, 102, 103, 104, 105), after, options()); len(v.Withheld) != 0 || v.Verdict != Better {
		t.Errorf("%q: %q", v.Verdict, v.Withheld)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	six := []float64{1, 2, 3, 4, 5, 6}
	with := func(runs []Run, change func(*results.Report)) []Run {
		for _, r := range runs {
			change(r.Report)
		}
		return runs
	}
	paired := options()
	paired.Paired = true
	ttfb := options()
	ttfb.Judge = []Choice{{"", "ttfb"}}
	for name, test := range map[string]struct {
		before, after []Run
		o             Options
		say           string
		forced        bool
	}{
		"another benchmark": {runsOf("a", six...), with(runsOf("b", six...), func(r *results.Report) { r.Benchmark = "stat" }), options(), "operation was get before and is stat after", true},
		"another size": {runsOf("a", six...), with(runsOf("b", six...), func(r *results.Report) { r.Parameters["obj.size"] = "2MiB" }), options(),
			"obj.size was 1MiB before and is 2MiB after", true},
		"another size in logs of other tools": {with(runsOf("a", six...), func(r *results.Report) { r.Parameters = nil }),
			with(runsOf("b", six...), func(r *results.Report) { r.Parameters, r.Operations[1].ObjectBytes.Mean = nil, 1 }), options(), "GET moves 1048576 bytes per request before and 1 after", true},
		"the same run twice":         {runsOf("a", six...), append(runsOf("b", six...), runsOf("b", 1)...), options(), "b1 is named twice", false},
		"the same run on both sides": {runsOf("a", six...), runsOf("a", six...), options(), "a1 is named twice", false},
		"the same run in two files":  {runsOf("a", six...), with(runsOf("b", six...), func(r *results.Report) { r.Runs = []string{"a1"} }), options(), "a1 and b1 are the same run", false},
		"pairs that are none":        {runsOf("a", six...), runsOf("b", six[:5]...), paired, "there are 6 and 5", false},
		"a metric that is not there": {runsOf("a", six...), runsOf("b", six...), ttfb, "not all runs have ttfb", false},
	} {
		_, err := Judge(test.before, test.after, test.o)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.say) || refused.Forced != test.forced {
			t.Errorf("%s: %v", name, err)
		}
		if test.o.Force = true; test.forced {
			if v := judge(t, test.before, test.after, test.o); len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], test.say) {
				t.Errorf("%s, forced: %q", name, v.Warnings)
			}
		}
	}
}

// A default that only one side records is not a difference.
func TestParametersOfOneSide(t *testing.T) {
	t.Parallel()
	before, after := runsOf("a", 1, 2, 3, 4, 5), runsOf("b", 1, 2, 3, 4, 5)
	for _, r := range after {
		for name, value := range map[string]string{"retries": "0", "lookup": "auto", "verify": "etag", "engine": "lean", "concurrent": "9", "duration": "1m", "seed": "7"} {
			r.Report.Parameters[name] = value
		}
	}
	v := judge(t, before, after, options())
	want := []Parameter{{Name: "concurrent", Before: "8", After: "9", Workload: true}, {Name: "duration", After: "1m"}, {Name: "engine", After: "lean"}}
	if !slices.Equal(v.Parameters, want) {
		t.Errorf("got %v, want %v", v.Parameters, want)
	}
}

func TestHostsAreFamiliesOfTheirOwn(t *testing.T) {
	t.Parallel()
	o := options()
	o.Hosts = true
	v := judge(t, runsOf("a", 100, 101, 102, 103, 104, 105), runsOf("b", 200, 201, 202, 203, 204, 205), o)
	if len(v.Subjects) != 2 || v.Subjects[1].Host != "http://one" || v.Needed != 5 {
		t.Fatalf("%d subjects, %d runs needed", len(v.Subjects), v.Needed)
	}
	for _, r := range v.Subjects[1].Rows {
		if r.Judged != (r.Metric == "throughput" || r.Metric == "p50" || r.Metric == "p99") || r.Judged && r.Verdict != Better {
			t.Errorf("%+v", r)
		}
	}
}

// A metric with zeros has only differences.
func TestZeros(t *testing.T) {
	t.Parallel()
	before, after := runsOf("a", 100, 101, 102, 103, 104, 105), runsOf("b", 200, 201, 202, 203, 204, 205)
	before[0].Report.Operations[1].Duration.P50 = 0
	v := judge(t, before, after, options())
	if r, _ := v.Row("", "p50"); r.Verdict != NoRatio || r.P != nil || r.Low != nil || r.Change == nil {
		t.Errorf("%+v", r)
	}
	if r, _ := v.Row("", "p99"); r.Verdict != Better {
		t.Errorf("p99 beside it: %q", r.Verdict)
	}
	if r, _ := v.Row("", "errors"); r.Judged || r.Change != nil || r.Low != nil {
		t.Errorf("errors: %+v", r)
	}
}

func TestParseChoices(t *testing.T) {
	t.Parallel()
	got, err := ParseChoices("p99, get.p99.9,GET.ttfb.p99,throughput")
	if want := []Choice{{"", "p99"}, {"GET", "p99.9"}, {"GET", "ttfb.p99"}, {"", "throughput"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, say := range map[string]string{"troughput": "did you mean throughput?", "GET.p98": "there is no metric", "": "there is no metric", "p99,": "there is no metric"} {
		if _, err := ParseChoices(text); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A figure that is the machine's stays so however many runs there are, so it is not called undecided.
func TestClientsMetricThatVaries(t *testing.T) {
	t.Parallel()
	before, after := runsOf("a", 200, 230, 150, 190, 260, 180), runsOf("b", 150, 240, 160, 120, 230, 175)
	for _, runs := range [][]Run{before, after} {
		for i := range runs {
			o := &runs[i].Report.Operations[len(runs[i].Report.Operations)-1]
			wire := *o.Duration
			wire.P50, wire.P99 = 1, 1
			o.Wire = &wire
		}
	}
	v := judge(t, before, after, options())
	if r, ok := v.Row("", "p99"); !ok || r.Verdict != Withheld || r.Needed != 0 {
		t.Errorf("%q, withheld because of %q; %d runs needed", r.Verdict, r.Withheld, r.Needed)
	}
}

// Two runs have no verdict. But a reader must know which of their figures are the machine's.
func TestClientsFiguresOfTwoRuns(t *testing.T) {
	t.Parallel()
	before, after := runsOf("a", 200)[0].Report, runsOf("b", 100)[0].Report
	before.Client = &results.ClientVerdict{Verdict: results.StoresFigures, Sentence: "The figures are the store's."}
	after.Client = &results.ClientVerdict{Verdict: results.SomeFigures, Sentence: "p50 is the store's; p90 and above are this machine's."}
	c := Reports(before, after)
	if len(c.Before.Warnings) != 0 || !slices.Contains(c.After.Warnings, after.Client.Sentence) {
		t.Errorf("warnings %q and %q", c.Before.Warnings, c.After.Warnings)
	}
	before.Client = &results.ClientVerdict{Verdict: results.UnknownOwner, Sentence: "The client's share is unknown."}
	after.Client = &results.ClientVerdict{Verdict: results.UnknownOwner, Sentence: "Of STAT, p50 is this machine's.", Figures: []results.ClientFigure{{Op: "STAT", Figure: "p50"}}}
	c = Reports(before, after)
	if len(c.Before.Warnings) != 0 || !slices.Contains(c.After.Warnings, after.Client.Sentence) {
		t.Errorf("warnings %q and %q", c.Before.Warnings, c.After.Warnings)
	}
}

// A figure that is the machine's withholds the verdict on that metric, unless it changes alike without the client's part.
func TestClientsMetric(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wire float64 // share of the service time after
		want Verdict
	}{
		"the store's":               {1, Worse},
		"worse on the wire as well": {.9, Worse},
		"equal on the wire":         {.5, Withheld},
	} {
		before, after := runsOf("a", 200, 201, 202, 203, 204, 205), runsOf("b", 100, 101, 102, 103, 104, 105)
		for _, side := range []struct {
			runs []Run
			wire float64
		}{{before, 1}, {after, test.wire}} {
			for i := range side.runs {
				o := &side.runs[i].Report.Operations[len(side.runs[i].Report.Operations)-1]
				wire := *o.Duration
				wire.P50, wire.P99 = wire.P50*side.wire, wire.P99*side.wire
				o.Wire = &wire
			}
		}
		v := judge(t, before, after, options())
		if r, ok := v.Row("", "p99"); !ok || r.Verdict != test.want {
			t.Errorf("%s: %q, want %q; withheld because of %q", name, r.Verdict, test.want, r.Withheld)
		}
	}
}
