package page

import (
	"bytes"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/find"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// searchOf returns the result of a search that ended at an estimate.
func searchOf(folder string, estimate float64) *find.Report {
	number := func(x float64) *float64 { return &x }
	r := &find.Report{Version: 1, Command: "warp get --prefix='<p>'", Benchmark: "get", Folder: folder, Unit: "requests/s", Assertions: []string{"p99<20ms"},
		Status: find.Found, Estimate: estimate, Held: estimate, Failed: estimate * 1.05, FailsFirst: "p99 was 24 ms, the limit is 20 ms", Notes: []string{"<note>"}}
	for _, load := range []float64{100, estimate, estimate * 1.05} {
		value := 20 * load / estimate
		r.Steps = append(r.Steps, find.Point{Load: load, Role: find.Search, Outcome: find.Held, Logs: []string{"<001>.csv.zst"}, Values: []find.Figure{
			{Assertion: "p99<20ms", Subject: "p99", Unit: "ms", Limit: 20, Measured: number(value), Low: number(value * .9), High: number(value * 1.1)}}})
	}
	return r
}

// The page of a search is well-formed, and has a chart for each assertion, the steps and their logs.
func TestFindPage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	check.OK(t, Find(searchOf("search", 7500)).Write(&b))
	html := b.String()
	wellFormed(t, html)
	figures := figuresOf(html)
	for _, want := range []string{`<div class="plot" id="value-`, "&lt;001&gt;.csv.zst", "All assertions hold at 7,500 requests/s", "&lt;note&gt;", "the limit is 20 ms"} {
		if !strings.Contains(figures, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, wrong := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(figures, wrong) {
			t.Errorf("%s in the page", wrong)
		}
	}
}

func TestFindChangePage(t *testing.T) {
	t.Parallel()
	c, err := find.Compare(searchOf("<old>", 5000), searchOf("new", 7500))
	check.OK(t, err)
	var b bytes.Buffer
	check.OK(t, FindChange(c).Write(&b))
	html := b.String()
	wellFormed(t, html)
	for _, want := range []string{"&lt;old&gt; and new", "The highest load is higher (&#43;50.0 % from one estimate to the other).", "between 7,500 requests/s and 7,875 requests/s", "5,250 requests/s"} {
		if !strings.Contains(figuresOf(html), want) {
			t.Errorf("the page has no %q\n%s", want, figuresOf(html))
		}
	}
}

// The page says how popular the hottest objects were, as the text does.
func TestHottestObjects(t *testing.T) {
	t.Parallel()
	r := &results.Report{Picks: &oplog.Picks{All: 1000, Hottest: 347}}
	if p := Report(r, Options{}); p.Lead[len(p.Lead)-1] != "The hottest 1 % of the objects got 34.7 % of the requests that chose an object." {
		t.Errorf("%q", p.Lead)
	}
}
