package page_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/report/page"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// Reports in every form say how well a replay repeated its log: first the text, and on a card of the page.
func TestReplay(t *testing.T) {
	t.Parallel()
	r, err := aggregate.Analyze(testlog.Log{
		{Op: "GET", Client: "c", Endpoint: "http://a:9000", Objects: 1, Start: testlog.Epoch, Duration: time.Millisecond},
		{Op: "GET", Client: "c", Endpoint: "http://a:9000", Objects: 1, Start: testlog.Epoch + 1e9, Duration: time.Millisecond},
	}, aggregate.Options{})
	check.OK(t, err)
	r.Replay = &results.Replay{Log: "<b>friday", Run: "R", Speed: 2, Requests: 2000, Sent: 1990, OnTime: 1900, OnTimeMS: 1,
		Delay: &results.Stats{Count: 1990, P99: 2.5, Max: 7}, NotSent: []oplog.NotSent{{Op: "LIST", Why: "it cannot be", Count: 9}, {Why: "the replay ended early", Count: 1}},
		AssumedSizes: 1, AssumedBytes: 2048}
	lines := []string{
		"Replay of <b>friday at speed 2: 1,990 of 2,000 requests sent (99.50 %), 1,900 within 1ms of their time (95.00 %).",
		"Delay: 99% of the requests were sent up to 2.50ms after they were due, the latest 7.00ms.",
		"Not sent: 9 LIST requests, because it cannot be.",
		"Not sent: 1 request, because the replay ended early.",
		"The log does not show the size of 1 object; it was uploaded with 2 KiB, the median of the others.",
	}
	var text, compact, html bytes.Buffer
	check.OK(t, report.Text(&text, r, printer.Options{}))
	check.OK(t, report.Compact(&compact, r, printer.Options{Width: 120}, ""))
	check.OK(t, page.Report(r, page.Options{}).Write(&html))
	if want := lines[0] + "\n * " + strings.Join(lines[1:], "\n * ") + "\n"; !strings.HasPrefix(text.String(), want) {
		t.Errorf("the report begins with\n%s\nwant\n%s", text.String()[:min(text.Len(), 600)], want)
	}
	if want := strings.Join(lines, "\n") + "\n"; !strings.HasPrefix(compact.String(), want) {
		t.Errorf("the compact report begins with\n%s\nwant\n%s", compact.String()[:min(compact.Len(), 600)], want)
	}
	for _, want := range append([]string{`<section id="replay"`, "95.00 % on time", "99.50\u00a0% sent", "&lt;b&gt;friday"}, lines[1:]...) {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
