package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// memoryLog is a log of rows in memory.
type memoryLog struct {
	header  oplog.Header
	rows    []oplog.Record
	trailer oplog.Trailer
}

func (l *memoryLog) Header() oplog.Header { return l.header }

func (l *memoryLog) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	if l.trailer.Window != nil {
		if err := decided(*l.trailer.Window, nil); err != nil {
			return l.trailer, err
		}
	}
	return l.trailer, rows(l.rows)
}

// reportOf analyses a synthetic run.
func reportOf(t testing.TB, l testlog.Load, change func(l *memoryLog)) *results.Report {
	t.Helper()
	log := &memoryLog{rows: l.Rows(1), header: oplog.Header{Benchmark: "mixed", Warp: "1.2.3", Seed: 5, Command: "warp mixed --secret-key=***",
		Parameters: map[string]string{"obj.size": "4KB"}}}
	log.trailer = oplog.Trailer{End: "completed", Load: &hostload.Load{CPUSeconds: 1, WallSeconds: 5, Cores: 2, Link: "eth0", LinkShare: .2}}
	if change != nil {
		change(log)
	}
	r, err := aggregate.Analyze(log, aggregate.Options{Verbose: true})
	check.OK(t, err)
	r.Describe(log.header, log.trailer)
	return r
}

func render(t testing.TB, r *results.Report) string {
	t.Helper()
	var b bytes.Buffer
	check.OK(t, Report(r, Options{}).Write(&b))
	return b.String()
}

// Runs of every shape have a well-formed page that contains the figures of the report.
func TestEveryShape(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "day" {
				l.Length = time.Hour
			}
			r := reportOf(t, l, nil)
			html := render(t, r)
			wellFormed(t, html)
			for i := range r.Operations {
				if op := &r.Operations[i]; op.Group == r.MainGroup() && !strings.Contains(html, `<th>`+op.Op+`<td>`) {
					t.Errorf("%s is not in a table", op.Op)
				}
			}
			for _, w := range []string{"NaN", "Inf", "%!"} {
				if strings.Contains(figuresOf(html), w) {
					t.Errorf("%s in the page", w)
				}
			}
		})
	}
}

// TestRunsInOneChart checks that a chart of several runs has a color for each run, and dashes for p99.
func TestRunsInOneChart(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["get"], nil)
	var b bytes.Buffer
	check.OK(t, Runs([]compare.Run{{Name: "a", Report: r}, {Name: "b", Report: r}}, nil, Options{}).Write(&b))
	for i := range 2 {
		if dashed := `class="s` + strconv.Itoa(i) + `" stroke="` + svg.Color(i) + `" stroke-dasharray=`; !strings.Contains(b.String(), dashed) {
			t.Errorf("run %d has no dashed line", i)
		}
	}
}

// figuresOf returns the page without its scripts and data.
func figuresOf(html string) string {
	return regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`).ReplaceAllString(html, "")
}

func TestEmptyReport(t *testing.T) {
	t.Parallel()
	html := render(t, &results.Report{Version: 2})
	wellFormed(t, html)
	if !strings.Contains(html, "Nothing was measured") {
		t.Error("an empty report does not say so")
	}
}

// wellFormed checks what browsers forgive: one h1, headings in order, unique ids, valid references,
// closed elements.
func wellFormed(t testing.TB, html string) {
	t.Helper()
	body := figuresOf(html)
	if n := strings.Count(body, "<h1>"); n != 1 {
		t.Errorf("%d h1", n)
	}
	level := 1
	for _, m := range regexp.MustCompile(`<h([1-6])[ >]`).FindAllStringSubmatch(body, -1) {
		n, _ := strconv.Atoi(m[1])
		if n > level+1 {
			t.Errorf("h%d follows h%d", n, level)
		}
		level = n
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("id %s occurs twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href="#|aria-labelledby=")([^"]*)"`).FindAllStringSubmatch(body, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !ids[id] {
				t.Errorf("nothing has the id %s", id)
			}
		}
	}
	if strings.Contains(body, " style=") {
		t.Error("a style attribute, which the content security policy forbids")
	}
	closed(t, body)
}

// closed checks that elements are closed in the reverse order in which they were opened.
func closed(t testing.TB, body string) {
	t.Helper()
	void := map[string]bool{"meta": true, "link": true, "input": true}
	ends := map[string]string{"th": "th td tr", "td": "th td tr", "tr": "tr"} // elements that the next of these ends, as does the end of their parent
	var open []string
	end := func(by string) {
		for len(open) > 0 && slices.Contains(strings.Fields(ends[open[len(open)-1]]), by) {
			open = open[:len(open)-1]
		}
	}
	for _, m := range regexp.MustCompile(`<!--.*?-->|<(/?)([a-zA-Z0-9]+)((?:[^>"]|"[^"]*")*?)(/?)>`).FindAllStringSubmatch(body, -1) {
		switch {
		case m[2] == "" || void[m[2]] || m[4] == "/":
		case m[1] == "":
			end(m[2])
			open = append(open, m[2])
			continue
		case m[2] == "thead" || m[2] == "tbody":
			end("tr")
		}
		switch {
		case m[2] == "" || void[m[2]] || m[4] == "/":
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("</%s> closes %v", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
}

const hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;\u202e\x1b[31m\x00<!--"

// Text from stores and logs stays text, wherever it is shown.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	load := testlog.Loads()["mixed"]
	load.Failures = .2
	r := reportOf(t, load, func(l *memoryLog) {
		for i := range l.rows {
			x := &l.rows[i]
			x.Op += hostile
			x.Key, x.Client, x.Endpoint = hostile, x.Client+hostile, x.Endpoint+hostile
			if x.Err != "" {
				x.Err = hostile + ": " + hostile
			}
		}
		l.header.Command, l.header.Warp, l.header.Benchmark = hostile, hostile, hostile
		l.header.Parameters = map[string]string{hostile: hostile}
		l.trailer.Notes = []string{hostile}
		l.trailer.Load.Link = hostile
	})
	r.Runs, r.Statements = []string{hostile}, []string{hostile}
	r.Assertions = []results.Assertion{{Assertion: hostile, Sentence: hostile, Result: "failed"}}
	harmless(t, render(t, r))

	var b bytes.Buffer
	check.OK(t, Runs([]compare.Run{{Name: hostile, Report: r}, {Name: "b" + hostile, Report: r}}, nil, Options{}).Write(&b))
	harmless(t, b.String())

	b.Reset()
	change := 3.0
	v := &compare.Verdicts{Version: 1, Before: compare.Side{Name: hostile, Command: hostile, Warnings: []string{hostile}, Runs: 1}, After: compare.Side{Name: hostile, Runs: 1},
		Withheld: []string{hostile}, Warnings: []string{hostile}, Missing: []string{hostile}, Order: hostile, Parameters: []compare.Parameter{{Name: hostile, Before: hostile}},
		Subjects: []compare.Subject{{Op: hostile, Host: hostile, Rows: []compare.Row{{Metric: hostile, Change: &change, Judged: true, Before: compare.Sample{Values: []float64{1}}, After: compare.Sample{Values: []float64{2}}}}}}}
	check.OK(t, Comparisons(compare.Single(v)).Write(&b))
	harmless(t, b.String())

	b.Reset()
	second := *v
	second.After.Name, second.Subjects[0].Rows[0].Metric = "b"+hostile, "p99"
	several := &compare.Comparisons{Version: 1, AllPairs: true, Together: 2, Comparisons: []*compare.Verdicts{v, &second}}
	check.OK(t, Comparisons(several).Write(&b))
	harmless(t, b.String())
	if n := strings.Count(b.String(), `class="estimate`); n != 2 {
		t.Errorf("%d estimates are drawn, and there are two comparisons", n)
	}
}

// A page of several sets begins with the verdict on each of them.
func TestSeveralSetsAreNamed(t *testing.T) {
	t.Parallel()
	c := &compare.Comparisons{Version: 1}
	for _, side := range []struct {
		name    string
		verdict compare.Verdict
	}{{"b", compare.TooFew}, {"c", compare.Undecided}, {"d", compare.Better}} {
		c.Comparisons = append(c.Comparisons, &compare.Verdicts{Before: compare.Side{Name: "a"}, After: compare.Side{Name: side.name}, Verdict: side.verdict})
	}
	want := []string{
		"b: there are too few runs for a verdict.",
		"c: undecided: the runs cannot tell whether there is a change that matters.",
		"d is better than a.",
	}
	if lead := Comparisons(c).Lead; len(lead) < 3 || !slices.Equal(lead[:3], want) {
		t.Errorf("%q", lead)
	}
}

// The first sentence about a comparison names the metrics of its verdict, and gives no cause that it does not know:
// a metric that is this machine's does not drift.
func TestVerdictNamesItsMetrics(t *testing.T) {
	t.Parallel()
	sentence := func(throughput, p50, p99 compare.Verdict) string {
		row := func(metric string, verdict compare.Verdict) compare.Row {
			r := compare.Row{Metric: metric, Judged: true, Verdict: verdict}
			if verdict == compare.Withheld {
				r.Withheld = "in 12 of the 12 runs it describes warp's machine and not the store"
			}
			return r
		}
		v := &compare.Verdicts{Before: compare.Side{Name: "a"}, After: compare.Side{Name: "b"}, Subjects: []compare.Subject{{
			Op: "GET", Rows: []compare.Row{row("throughput", throughput), row("p50", p50), row("p99", p99), {Metric: "mean", Verdict: ""}},
		}}}
		for _, verdict := range []compare.Verdict{compare.Worse, compare.Withheld, compare.Undecided} { // in the order of package compare
			if slices.Contains([]compare.Verdict{throughput, p50, p99}, verdict) {
				v.Verdict = verdict
				break
			}
		}
		return Comparisons(compare.Single(v)).Lead[0]
	}
	for _, test := range []struct {
		throughput, p50, p99 compare.Verdict
		want                 string
	}{
		{compare.Undecided, compare.Undecided, compare.Withheld, "There is no verdict on GET p99."},
		{compare.Undecided, compare.Better, compare.Undecided, "Undecided: the runs cannot tell whether there is a change that matters in GET throughput and GET p99. Better: GET p50."},
		{compare.Equivalent, compare.Worse, compare.Better, "b is worse than a in GET p50. Better: GET p99."},
	} {
		if got := sentence(test.throughput, test.p50, test.p99); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func harmless(t *testing.T, html string) {
	t.Helper()
	wellFormed(t, html)
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d scripts, and the page has 2", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(2)>", "\u202e", "\x1b", "\x00", "<script>alert"} {
		if strings.Contains(html, bad) {
			at := strings.Index(html, bad)
			t.Errorf("%q is in the page as it was: %q", bad, html[max(0, at-200):at+20])
		}
	}
	if !strings.Contains(html, "&lt;/script&gt;") {
		t.Error("the hostile text is not shown at all")
	}
}

// The page of a history draws each metric, and marks the run at which it changed.
func TestHistory(t *testing.T) {
	t.Parallel()
	value := func(x float64) *float64 { return &x }
	h := &compare.History{Version: 1, Workloads: []compare.Workload{{Name: "get " + hostile, Runs: make([]compare.PastRun, 4), Series: []compare.Series{
		{Metric: "throughput", Unit: results.BytesPerSecond, Judged: true, Values: []*float64{value(100), nil, value(50), value(51)},
			Stretches: []compare.Stretch{{From: 0, To: 2, Runs: 1, Median: 100}, {From: 2, To: 4, Runs: 2, Median: 50.5, Low: value(50), High: value(51)}},
			Changes:   []compare.ChangePoint{{Run: 2, Change: value(-49), Low: value(-51), High: value(-47), Verdict: compare.Worse}}},
		{Metric: "errors", Unit: results.Share, Values: []*float64{value(0), value(0), value(0), value(0)}},
	}}}}
	h.Workloads[0].Runs[2].Label, h.Workloads[0].Runs[2].Details = hostile, []string{hostile}
	var b bytes.Buffer
	check.OK(t, History(h, Options{}).Write(&b))
	harmless(t, b.String())
	for _, want := range []string{"-49.0 % (-51.0 % to -47.0 %)", `class="mark"`, "All runs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(b.String(), `<svg class="chart"`); n != 1 {
		t.Errorf("%d charts; errors that did not happen need none", n)
	}
}

// unpacked reads the data embedded in a page, as other tools do.
func unpacked(t testing.TB, html, id string, v any) {
	t.Helper()
	m := regexp.MustCompile(`<script type="application/gzip;base64" id="` + id + `">([^<]*)</script>`).FindStringSubmatch(html)
	if m == nil {
		t.Fatalf("there is no element %s", id)
	}
	b, err := base64.StdEncoding.DecodeString(m[1])
	check.OK(t, err)
	z, err := gzip.NewReader(bytes.NewReader(b))
	check.OK(t, err)
	text, err := io.ReadAll(z)
	check.OK(t, err)
	check.OK(t, json.Unmarshal(text, v))
}

// The embedded document is the report of --json with fewer digits, without the segments of hosts
// and the heat maps, which are drawn.
func TestEmbeddedReport(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Loads()["mixed"], nil)
	var got, want any
	unpacked(t, render(t, r), "warp-report", &got)
	if len(r.Operations[0].Hosts[0].Segments) == 0 || r.Operations[0].HeatMap == nil {
		t.Fatal("the report itself has lost something")
	}
	for i := range r.Operations {
		r.Operations[i].HeatMap = nil
		for k := range r.Operations[i].Hosts {
			r.Operations[i].Hosts[k].Segments = nil
		}
	}
	text, _ := json.Marshal(r)
	check.OK(t, json.Unmarshal(text, &want))
	if where := differs("", got, want); where != "" {
		t.Errorf("the embedded document differs from the report at %s", where)
	}
}

// differs returns where two documents differ by more than three digits; "" = nowhere.
func differs(at string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return at
		}
		for k := range a {
			if where := differs(at+"."+k, a[k], b[k]); where != "" {
				return where
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return at
		}
		for i := range a {
			if where := differs(fmt.Sprintf("%s[%d]", at, i), a[i], b[i]); where != "" {
				return where
			}
		}
		return ""
	case float64:
		if b, ok := b.(float64); ok && math.Abs(a-b) <= 1e-3*math.Abs(b) {
			return ""
		}
		return at
	}
	if a != b {
		return at
	}
	return ""
}

func TestRounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1.23456789,"b":123456789,"c":"1.23456789","d":"\\\"1.23456789","e":[-0.000123456789,1e-7,null,true]}`: `{"a":1.235,"b":123456789,"c":"1.23456789","d":"\\\"1.23456789","e":[-0.0001235,1e-07,null,true]}`,
		`1.5`: `1.5`, `""`: `""`, `12345678.9`: `1.235e+07`,
	} {
		if got := string(rounded([]byte(text))); got != want {
			t.Errorf("%s becomes %s, not %s", text, got, want)
		}
	}
}

// Text has a contrast of at least 4.5:1, and lines one of 3:1, in every scheme.
func TestContrast(t *testing.T) {
	t.Parallel()
	css := asset("page.css")
	roots := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(css, -1)
	if len(roots) != 3 {
		t.Fatalf("%d color schemes, not light, dark and print", len(roots))
	}
	for i, m := range roots {
		colors := map[string]float64{}
		for _, v := range regexp.MustCompile(`--([a-z0-9-]+):(#[0-9a-f]{3,6})`).FindAllStringSubmatch(m[1], -1) {
			colors[v[1]] = luminance(t, v[2])
		}
		if i == 0 { // without a style sheet, shapes have the colors of the light scheme
			for k := range 8 {
				if want := fmt.Sprintf("--c%d:%s", k, svg.Color(k)); !strings.Contains(m[1], want) {
					t.Errorf("the light scheme lacks %s", want)
				}
			}
		}
		pairs := map[string]float64{}
		for _, text := range []string{"text", "muted", "link", "warn", "good", "bad"} {
			pairs[text+" bg"], pairs[text+" panel"] = 4.5, 4.5
		}
		for _, state := range []string{"good", "warn", "bad"} {
			pairs[state+" "+state+"-bg"], pairs["muted "+state+"-bg"], pairs["text "+state+"-bg"] = 4.5, 4.5, 4.5
		}
		for k := range 8 {
			pairs[fmt.Sprintf("c%d bg", k)] = 3
		}
		for pair, want := range pairs {
			front, back, _ := strings.Cut(pair, " ")
			a, okA := colors[front]
			b, okB := colors[back]
			if !okA || !okB {
				t.Errorf("scheme %d lacks a color of %q", i, pair)
				continue
			}
			if got := (max(a, b) + .05) / (min(a, b) + .05); got < want {
				t.Errorf("scheme %d: %s has a contrast of %.2f, less than %g", i, pair, got, want)
			}
		}
	}
}

// luminance is as in WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 4 {
		hex = "#" + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:3], 2) + strings.Repeat(hex[3:4], 2)
	}
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	check.OK(t, err)
	channel := func(v uint64) float64 {
		c := float64(v&255) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*channel(n>>16) + .7152*channel(n>>8) + .0722*channel(n)
}

// The page refers to nothing outside itself.
func TestNothingOutside(t *testing.T) {
	t.Parallel()
	html := render(t, reportOf(t, testlog.Loads()["mixed"], nil))
	body := figuresOf(html)
	for _, m := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
	if !strings.Contains(html, `content="default-src &#39;none&#39;;`) {
		t.Error("no content security policy")
	}
}

// A host that is slower than the others is named.
func TestSlowHostIsCalledOut(t *testing.T) {
	t.Parallel()
	l := testlog.Load{Ops: []string{"GET"}, Hosts: 6, Threads: 30, Length: 20 * time.Second, Latency: 20 * time.Millisecond}
	r := reportOf(t, l, func(l *memoryLog) {
		for i := range l.rows {
			if l.rows[i].Endpoint == "http://host3:9000" {
				l.rows[i].Duration *= 4
				l.rows[i].FirstByte *= 4
			}
		}
	})
	html := render(t, r)
	if !regexp.MustCompile(`host3:9000: [^<]*p99 [3-5]\.\d times the median host&#39;s`).MatchString(html) {
		t.Error("the slow host is not named")
	}
	if strings.Contains(html, "<p>host2:9000: ") {
		t.Error("another host is named")
	}
}

// Every section appears if the run has something to show in it.
func TestSections(t *testing.T) {
	t.Parallel()
	r := reportOf(t, testlog.Load{Ops: []string{"GET", "PUT"}, Hosts: 3, Clients: 2, Threads: 5, Length: 20 * time.Second, Latency: 10 * time.Millisecond, Failures: .05, Sizes: true}, nil)
	recovery := 2.5
	r.Marks = []results.MarkReport{{At: r.Groups[0].WindowStart.Add(5 * time.Second), Text: "disk <1> pulled", RecoveryS: &recovery, LongestGapS: &recovery,
		Before: &results.MarkPhase{Seconds: 5, BytesPerS: 3 << 20}}}
	html := render(t, r)
	wellFormed(t, html)
	for _, id := range []string{"operations", "marks", "throughput", "latency", "percentiles", "hosts", "clients", "sizes", "errors", "slowest", "command"} {
		if !strings.Contains(html, `<section id="`+id+`"`) {
			t.Errorf("there is no section %s", id)
		}
	}
	for _, want := range []string{"disk &lt;1&gt; pulled", "2.50s", `<line class="mark"`, `<g class="heat"`, r.Operations[0].Slowest[0].Key} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if n := len(quantilesOf(&r.Operations[0])); n < 40 {
		t.Errorf("the curve has %d points", n)
	}
	if report.Histogram(r.Operations[0].DurationHDR[:40]) != nil {
		t.Error("a part of a histogram is taken for one")
	}
}

// The client's part of the latency has a chart if the log knows it.
func TestClientShareOverTime(t *testing.T) {
	t.Parallel()
	load := testlog.Load{Ops: []string{"GET", "PUT"}, Threads: 4, Length: 20 * time.Second, Latency: 20 * time.Millisecond}
	for _, load.Stamps = range []bool{true, false} {
		r := reportOf(t, load, nil)
		html := render(t, r)
		wellFormed(t, html)
		if got := strings.Contains(html, `id="client-1"`); got != load.Stamps {
			t.Errorf("stamps %v: there is a chart: %v", load.Stamps, got)
		}
		for _, s := range r.Operations[0].Segments {
			if cell := svg.Number(100**cmp.Or(s.ClientShare, new(float64))) + " %"; load.Stamps && !strings.Contains(html, cell) {
				t.Errorf("no %s", cell)
			}
		}
	}
}
