package aggregate

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
)

func everyLoad(t *testing.T, f func(t *testing.T, rows []oplog.Record)) {
	for name, l := range loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				f(t, l.make(seed))
			}
		})
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		o := Options{Verbose: true}
		want := render(t, analyze(t, rows, o))
		same(t, "shuffled", render(t, analyze(t, shuffled(rows, 7), o)), want)
		slices.Reverse(rows)
		same(t, "reversed", render(t, analyze(t, rows, o)), want)
	})
}

// pieces splits rows by a rule.
func pieces(rows []oplog.Record, n int, rule func(i int, r *oplog.Record) int) [][]oplog.Record {
	parts := make([][]oplog.Record, n)
	for i := range rows {
		k := rule(i, &rows[i]) % n
		parts[k] = append(parts[k], rows[i])
	}
	return parts
}

// merged analyses the parts on their own and joins them in the given order.
func merged(t *testing.T, parts [][]oplog.Record, order []int, nested bool) string {
	t.Helper()
	o := Options{Verbose: true}
	surveys := make([]*Survey, len(parts))
	for i, p := range parts {
		surveys[i] = &Survey{}
		_ = surveys[i].Write(p)
	}
	var all Survey
	for _, i := range order {
		all.Merge(surveys[i])
	}
	plan, err := all.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	sum := NewSummary(plan, o)
	inner := NewSummary(plan, o)
	for k, i := range order {
		s := NewSummary(plan, o)
		_ = s.Write(parts[i])
		into := sum
		if nested && k > 0 {
			into = inner
		}
		if err := into.Merge(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := sum.Merge(inner); err != nil {
		t.Fatal(err)
	}
	r := sum.Report(o)
	r.Runs = all.Runs()
	return render(t, r)
}

func TestMerge(t *testing.T) {
	t.Parallel()
	rules := map[string]func(i int, r *oplog.Record) int{
		"client": func(_ int, r *oplog.Record) int { return int(r.Client[1]) },
		"thread": func(_ int, r *oplog.Record) int { return int(r.Thread) },
		"turns":  func(i int, _ *oplog.Record) int { return i },
		"op":     func(_ int, r *oplog.Record) int { return len(r.Op) },
		"host":   func(_ int, r *oplog.Record) int { return int(r.Endpoint[len("http://host")]) },
	}
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		want := render(t, analyze(t, rows, Options{Verbose: true}))
		for name, rule := range rules {
			parts := pieces(rows, 3, rule)
			same(t, name, merged(t, parts, []int{0, 1, 2}, false), want)
			same(t, name+", other order", merged(t, parts, []int{2, 0, 1}, false), want)
			same(t, name+", nested", merged(t, parts, []int{1, 2, 0}, true), want)
		}
	})
}

func TestMergeRefusesOtherWindows(t *testing.T) {
	t.Parallel()
	plan := func(end int64) *Plan {
		return &Plan{Groups: []Group{{Ops: []GroupOp{{Name: "GET"}}, End: end, Segment: time.Second}}}
	}
	if err := NewSummary(plan(1), Options{}).Merge(NewSummary(plan(2), Options{})); err == nil {
		t.Error("summaries of different windows were merged")
	}
	if err := NewSummary(plan(1), Options{}).Merge(NewSummary(&Plan{}, Options{})); err == nil {
		t.Error("summaries of different operations were merged")
	}
}

func TestSegmentsAddUp(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		for _, dur := range []time.Duration{0, rows[len(rows)-1].Duration/2 + 33*time.Millisecond, 7 * time.Second} {
			for _, op := range analyze(t, rows, Options{SegmentDur: dur}).Operations {
				segmentsAddUp(t, &op)
			}
		}
	})
}

func segmentsAddUp(t *testing.T, op *Operation) {
	t.Helper()
	var bytes, hostBytes, clientBytes uint64
	var objects, seconds float64
	for _, s := range op.Segments {
		bytes, objects, seconds = bytes+s.Bytes, objects+s.Objects, seconds+s.DurationS
	}
	for i := range op.Hosts {
		hostBytes += op.Hosts[i].Bytes
	}
	for i := range op.ByClient {
		clientBytes += op.ByClient[i].Bytes
	}
	// Objects are multiples of 2^-20 and add up exactly in floating point, too.
	if bytes != op.Bytes || objects != op.Objects || hostBytes != op.Bytes || clientBytes != op.Bytes {
		t.Errorf("%s: segments have %d bytes and %v objects, hosts %d, clients %d, the operation %d and %v",
			op.Op, bytes, objects, hostBytes, clientBytes, op.Bytes, op.Objects)
	}
	if math.Abs(seconds-op.WindowS) > 1e-6*op.WindowS+1e-9 {
		t.Errorf("%s: segments last %v s, the window %v s", op.Op, seconds, op.WindowS)
	}
}

func TestDeferredEqualsAnalyze(t *testing.T) {
	t.Parallel()
	for name, l := range loads() {
		for _, o := range []Options{{Verbose: true}, {SegmentDur: 700 * time.Millisecond}, {Skip: 500 * time.Millisecond}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if l.length > 24*time.Hour && o.SegmentDur > 0 {
					o.SegmentDur = time.Hour // less would only take long
				}
				rows := l.make(11)
				d := NewDeferred(o)
				d.every = 20
				prepare := load{ops: []string{"PUT"}, threads: 3, length: time.Second, latency: 9 * time.Millisecond}.make(5)
				if slices.Contains(l.ops, "PUT") || l.runs > 1 {
					prepare = nil
				}
				for i := range prepare {
					prepare[i].Start -= int64(time.Minute)
					prepare[i].Run = "run0"
				}
				d.BeginPhase(3)
				_ = d.Write(prepare)
				d.BeginPhase(max(l.runs, 1) * max(l.clients, 1) * l.threads)
				_ = source(rows)(d.Write)
				got, err := d.Report()
				if err != nil {
					t.Fatal(err)
				}
				want := analyze(t, append(prepare, rows...), o)
				same(t, "deferred", render(t, got), render(t, want))
			})
		}
	}
}

func TestDeferredSaysWhenNotExact(t *testing.T) {
	t.Parallel()
	rows := load{ops: []string{"GET"}, threads: 4, length: 5 * time.Second, latency: time.Millisecond}.make(1)
	// One thread hangs from the start and makes everybody else undecided.
	rows = slices.DeleteFunc(rows, func(r oplog.Record) bool { return r.Thread == 3 })
	d := NewDeferred(Options{})
	d.bound = 5000
	d.BeginPhase(4)
	_ = d.Write(rows)
	r, err := d.Report()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not exact") {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if n := r.Operations[0].Requests; n != uint64(len(rows)) {
		t.Errorf("%d requests of %d", n, len(rows))
	}
	if held := cap(d.phases[0].held); held > 20000 {
		t.Errorf("room for %d requests was needed", held)
	}
}

func TestCompareWithItself(t *testing.T) {
	t.Parallel()
	everyLoad(t, func(t *testing.T, rows []oplog.Record) {
		r := analyze(t, rows, Options{})
		r.Describe(oplog.Header{Parameters: map[string]string{"concurrent": "8"}}, oplog.Trailer{})
		c := Compare(r, r)
		if len(c.Parameters)+len(c.OnlyBefore)+len(c.OnlyAfter) > 0 || len(c.Operations) != len(r.Operations) {
			t.Errorf("%+v", c)
		}
		var text, js bytes.Buffer
		if err := c.WriteText(&text, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.WriteJSON(&js); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if strings.Contains(line, "%)") && strings.ContainsAny(strings.ReplaceAll(line, "99.9%", ""), "-→") {
				t.Errorf("something changed: %s", line)
			}
		}
		zeroDiffs(t, js.Bytes())
	})
}

// zeroDiffs looks through all of a comparison for a diff or percent not zero.
func zeroDiffs(t *testing.T, js []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(js, &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for k, x := range v {
				if k == "diff" || k == "percent" {
					found++
					if x != 0.0 {
						t.Errorf("%s is %v in %v", k, x, v)
					}
				}
				walk(x)
			}
		}
	}
	walk(doc)
	if found == 0 {
		t.Error("nothing compared")
	}
}

func TestFiltersDoNotChangeFigures(t *testing.T) {
	t.Parallel()
	rows := loads()["mixed"].make(3)
	full := analyze(t, rows, Options{})
	for i := range full.Operations {
		want := &full.Operations[i]
		got := &analyze(t, rows, Options{Op: strings.ToLower(want.Op)}).Operations[0]
		if got.BytesPerS != want.BytesPerS || got.Inside != want.Inside || got.WindowS != want.WindowS || got.Share != want.Share {
			t.Errorf("%s alone: %+v\nin the whole report: %+v", want.Op, got, want)
		}
		for _, asked := range []string{"http://host1:9000", "host1:9000", "HOST1:9000/"} {
			one := analyze(t, rows, Options{Op: want.Op, Host: asked}).Operations[0]
			if one.Bytes != want.Hosts[1].Bytes || one.Requests != want.Hosts[1].Requests || one.WindowS != want.WindowS {
				t.Errorf("%s at %s: %+v, in the whole report %+v", want.Op, asked, one, want.Hosts[1])
			}
		}
	}
}
