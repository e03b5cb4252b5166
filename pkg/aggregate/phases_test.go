package aggregate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// TestPhases checks that the phases of connections cover the whole run, and the others only
// requests inside the window. Each row counts at its host and in the sum.
func TestPhases(t *testing.T) {
	t.Parallel()
	rows := testlog.Load{Ops: []string{"GET"}, Threads: 3, Hosts: 2, Length: 4 * time.Second, Latency: 5 * time.Millisecond, Failures: .1}.Rows(3)
	first := rows[0].Start
	for i := range rows {
		first = min(first, rows[i].Start)
	}
	connected, failed := 0, 0
	for i := range rows {
		switch r := &rows[i]; {
		case i%5 == 0:
			r.Phases = &oplog.Phases{0, 0, 0, 1000, 3000, 2000}
		case i%50 == 1 || r.Start == first: // the first one is outside the window
			r.Phases = &oplog.Phases{0, 7000}
			connected++
			if r.Err != "" {
				failed++
			}
		}
	}
	if failed == 0 {
		t.Fatal("no failed request made a connection")
	}
	r := analyze(t, rows, Options{})
	op := &r.Operations[0]
	p := op.HTTPPhases
	if p == nil || p.DNS != nil || p.TLS != nil || p.Connect == nil || p.Send == nil || p.Wait == nil || p.Receive == nil {
		t.Fatalf("phases %+v", p)
	}
	if p.Connect.Count != uint64(connected) || p.Connect.P50 != .007 || p.Send.Max != .001 || p.Wait.Mean != .003 || p.Receive.Min != .002 {
		t.Errorf("%d connections: %+v %+v %+v %+v", connected, p.Connect, p.Send, p.Wait, p.Receive)
	}
	inside := float64(op.Inside)
	if share := float64(p.Wait.Count) / inside; math.Abs(share-.2) > .05 {
		t.Errorf("%d of %g requests inside have a wait", p.Wait.Count, inside)
	}
	var byHost uint64
	for _, h := range op.Hosts {
		byHost += h.HTTPPhases.Wait.Count
	}
	if byHost != p.Wait.Count || len(op.Hosts) != 2 {
		t.Errorf("%d at the hosts, %d in all", byHost, p.Wait.Count)
	}

	for i := range rows {
		rows[i].Phases = nil
	}
	r = analyze(t, rows, Options{})
	if doc, err := json.Marshal(r); err != nil || strings.Contains(string(doc), "http_phases_ms") {
		t.Errorf("%v; phases of a log without any in %s", err, doc)
	}
}
