package results

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The compact report of a long run over many hosts is small, and can be read again.
func TestCompactReportIsSmall(t *testing.T) {
	t.Parallel()
	segments := make([]Segment, 400)
	stats := &Stats{Count: 1, Mean: 1.23456789, P50: 1.23456789, P99: 1.23456789}
	o := Operation{Op: "GET", Segments: segments, Duration: stats, ByClient: make([]Part, 100), ErrorsByCode: map[string]uint64{}}
	o.Slowest, o.HeatMap = make([]SlowRequest, 20), &HeatMap{Counts: make([][]uint64, 400)}
	for i := range o.HeatMap.Counts {
		o.HeatMap.Counts[i] = make([]uint64, 60)
	}
	for i := range 100 {
		o.Hosts = append(o.Hosts, Part{Name: fmt.Sprint("http://host", i), Duration: stats, TTFB: stats, Segments: segments})
	}
	r := &Report{Version: 2, Warnings: []string{}, Groups: []GroupReport{{Kind: "measured"}}, Operations: []Operation{o, o, o, o}}
	for _, hosts := range []int{100, maxHosts} {
		for i := range r.Operations {
			r.Operations[i].Hosts = r.Operations[i].Hosts[:hosts]
		}
		text, err := json.MarshalIndent(r.Compact(), "", "  ")
		if err != nil || len(text) >= 100_000 {
			t.Errorf("%d hosts: %d bytes, %v", hosts, len(text), err)
		}
		again, err := Read(strings.NewReader(string(text)))
		if err != nil || len(again.Operations) != 4 || again.Operations[0].Duration.P99 != 1.23456789 {
			t.Errorf("read again: %v", err)
		}
	}
	if len(r.Operations[0].Segments) != 400 {
		t.Error("the report itself has lost its segments")
	}
}

func TestReadReportRefuses(t *testing.T) {
	t.Parallel()
	for text, say := range map[string]string{
		`{"version": 1}`: "not a report of a run",
		`{"version": 2`:  "cut off",
		`{"version": 2}`: "not a report of a run",
		`{"version": 2, "groups": [], "operations": []}`:                                      "no operations",
		`{"version": 2, "groups": [{}], "operations": [{"group": 1}]}`:                        "belongs to no group",
		`{"version": 2, "groups": [{}], "operations": [{"op": 1}]}`:                           "damaged",
		`{"version": 2, "groups": [{}], "operations": [{"op": "GET"}]}{"version": 2, "a": 1}`: "there is more after",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", text, err)
		}
		if !IsReport(bufio.NewReader(strings.NewReader(text))) {
			t.Errorf("%s does not look like a report", text)
		}
	}
	if IsReport(bufio.NewReader(strings.NewReader(`{"v":2}`))) {
		t.Error("the results of another tool look like a report")
	}
}
