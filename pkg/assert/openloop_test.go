package assert

import (
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// TestEveryInAnOpenLoop has a schedule of 100 requests per second, and a store
// that answers nothing for three seconds. All requests are answered in the end,
// and those that were due in these seconds count there.
func TestEveryInAnOpenLoop(t *testing.T) {
	t.Parallel()
	var rows []oplog.Record
	for i := range 2500 {
		r := row("GET", float64(i)*10, 5)
		r.Due = r.Start
		if due := i / 100; due >= 10 && due < 13 { // the first 8 are in flight
			if i < 1008 {
				r.Duration = time.Duration(testlog.Epoch+13e9-r.Start) + 5e6
			} else {
				r.Start = testlog.Epoch + 13e9 + int64(i-1000)*1e6
			}
		}
		rows = append(rows, r)
	}
	testlog.SortByEnd(rows)
	for assertion, want := range map[string]string{
		"every 1s errors<1%":       " failed: 22 of 25 pieces hold (88%); the worst, from 03:04:15 UTC on, has no answer at all",
		"every 1s GET.max<10ms":    " failed: 22 of 25 pieces hold",
		"every 1s objs>1obj/s":     " failed: 22 of 25 pieces hold",
		"every 5s errors<1%":       " holds: 5 of 5 pieces hold",
		"every 1s response.p50<1s": " failed: 22 of 25 pieces hold",
	} {
		r, all := reportOf(t, rows, 25, assertion)
		if got := Judge(all, r, false)[0].Sentence; !strings.HasPrefix(got, assertion+want) {
			t.Errorf("%s, want%s", got, want)
		}
	}
	// Requests count in the segment in which they were due, also for charts.
	r, _ := reportOf(t, rows, 25)
	for i, s := range r.Operations[0].Segments {
		if s.Duration == nil || s.Duration.Count != 100 {
			t.Errorf("segment %d has the times of %+v requests, want 100", i, s.Duration)
		}
	}
}

// A response time that is far above its limit fails even if this machine sent requests a little late.
func TestJudgeLateClient(t *testing.T) {
	t.Parallel()
	var rows []oplog.Record
	for i := range 2000 {
		r := row("GET", float64(i)*10, 500)
		r.Due, r.ClientTime = r.Start-20e6, time.Microsecond
		rows = append(rows, r)
	}
	r, all := reportOf(t, rows, 20, "response.p99<100ms", "response.p50<100ms", "response.p99>1s", "response.p99<450ms", "response.mean<100ms", "response.p0.5<100ms", "response.p99<1s")
	r.ClientLoad = &hostload.Load{PacingLagS: 0.1}
	for i, a := range Judge(all, r, false) {
		want := []string{results.Failed, results.Failed, results.Failed, results.Inconclusive, results.Inconclusive, results.Inconclusive, results.Passed}[i]
		if a.Result != want {
			t.Errorf("%s, want %s", a.Sentence, want)
		}
	}
}

// Pieces without any request to answer are not judged.
func TestEveryWithIdlePieces(t *testing.T) {
	t.Parallel()
	rows := steadyRows(20, even)
	rows = slices.DeleteFunc(rows, func(r oplog.Record) bool { return (r.Start-testlog.Epoch)/1e9%2 == 1 })
	r, all := reportOf(t, rows, 20, "every 1s errors<1%", "every 1s objs>1obj/s")
	for i, want := range []string{"every 1s errors<1% holds: 10 of 10 pieces hold", "every 1s objs>1obj/s failed: 10 of 20 pieces hold"} {
		if got := Judge(all, r, false)[i].Sentence; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
