package page_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/report/page"
	"warp/pkg/results"
)

// The page begins with what the store violated, and shows the requests that prove it.
func TestConsistency(t *testing.T) {
	t.Parallel()
	r, err := aggregate.Analyze(testlog.Log{
		{Op: "PUT", Client: "c", Endpoint: "http://a:9000", Objects: 1, Start: testlog.Epoch, Duration: time.Millisecond},
		{Op: "PUT", Client: "c", Endpoint: "http://a:9000", Objects: 1, Start: testlog.Epoch + 1e9, Duration: time.Millisecond},
	}, aggregate.Options{})
	check.OK(t, err)
	begin := time.Unix(0, testlog.Epoch).UTC()
	event := results.HistoryEvent{Start: begin, End: begin.Add(time.Millisecond), Host: "a:9000", Op: "PUT", Key: "k", Condition: "absent", Outcome: "won", Status: 200, Sent: "0-1-1:1"}
	r.Consistency = &results.Consistency{ClockErrorMS: 2, Properties: []results.ConsistencyProperty{
		{Property: "create", Verdict: results.ConsistencyViolated, Reason: "two won", Checks: 9, Violations: 1, Shown: []results.Violation{
			{Rule: "two requests created an object", Key: "<i>k", History: []results.HistoryEvent{event, event}},
		}},
		{Property: "delete", Verdict: results.ConsistencyNotSupported, Reason: "status 501"},
		{Property: "whole", Verdict: results.ConsistencyHeld, Checks: 5},
	}}
	p := page.Report(r, page.Options{})
	if p.Lead[0] != "The store violated create." {
		t.Errorf("the page begins with %q", p.Lead[0])
	}
	var html bytes.Buffer
	check.OK(t, p.Write(&html))
	for _, want := range []string{
		`<section id="consistency"`, "1 violated", "1 held, 1 not supported",
		"Violated, create: two requests created an object", "key &lt;i&gt;k", "0.000 to     1.000 ms",
		"delete, not supported: status 501", "Requests count as 2ms longer at both ends",
	} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	r.Consistency.Properties = r.Consistency.Properties[2:]
	p = page.Report(r, page.Options{})
	if strings.Contains(p.Lead[0], "violated") {
		t.Errorf("the page begins with %q", p.Lead[0])
	}
}
