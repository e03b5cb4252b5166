package conformance

import (
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
	"warp/pkg/s3mem"
)

func nullStore(t *testing.T, size int64) *s3mem.Null {
	t.Helper()
	n, err := s3mem.StartNull(s3mem.NullOptions{Size: size})
	check.OK(t, err)
	t.Cleanup(func() { n.Close() })
	return n
}

// TestFreeze checks that a store that freezes for two seconds at 500 requests/s makes a thousand
// requests late. A closed loop would show only as many slow requests as it has workers.
func TestFreeze(t *testing.T) {
	const workers, rate, size = 20, 500, 1024
	null := nullStore(t, size)
	data := filepath.Join(t.TempDir(), "run")
	done := make(chan outcome)
	go func() {
		done <- warp("get", "--host="+null.Addr(), "--access-key=k", "--secret-key=s", "--objects=20", "--obj.size=1KiB",
			"--concurrent=20", "--duration=4s", "--rps-limit=500", "--json", "--benchdata="+data)
	}()
	check.Eventually(t, "the run to be under way", func() bool { return null.Count("GET") > rate/2 })
	frozen := time.Now().UnixNano()
	null.Freeze(2 * time.Second)
	thawed := time.Now().UnixNano() + 2e9
	o := (<-done).want(t, 0)
	o.sameAsAnalyze(t, data+".csv.zst", "--json")
	rows := readLog(t, data+".csv.zst").of("GET")
	var due, late, lagging, slow int
	for i, r := range rows {
		if r.Due == 0 || r.Lag() < 0 {
			t.Fatalf("row %d was due %d, its lag is %s", i, r.Due, r.Lag())
		}
		if r.Due >= frozen && r.Due < thawed {
			due++
			// All of them, except those that passed just before the freeze.
			if r.End() >= thawed-1e6 {
				late++
			}
			if r.Start >= thawed-1e6 {
				lagging++
			}
		}
		if r.Duration > time.Second {
			slow++
		}
	}
	near(t, "the number of late answers", float64(late), float64(due), 0.01)
	if slow < workers/2 || slow > 2*workers {
		t.Errorf("%d requests are slow by themselves, want %d", slow, workers)
	}
	r := o.report(t)
	op := operation(t, r, "GET")
	g := r.Groups[op.Group]
	near(t, "the offered rate", g.OfferedPerS, rate, 0.01)
	if g.AchievedPerS == 0 {
		t.Error("nothing was achieved")
	}
	// Nothing that was due is lost: the run catches up after the freeze, or reports how many
	// requests it had no time for.
	near(t, "the number of requests", float64(len(rows))+float64(g.Unsent), 4*rate, 0.01)
	if g.Unsent > 0 { // they count in the response time, but are not rows
		t.Logf("this machine was too busy to make up for the freeze: %d requests unsent", g.Unsent)
		return
	}
	j := judge(t, op, rows)
	holds(t, op.Duration, j.sorted(service))
	holds(t, op.Response, j.sorted(response))
	holds(t, op.Lag, j.sorted(func(r oplog.Record) time.Duration { return r.Lag() }))
	near(t, "the number of requests sent late", float64(lagging), float64(due-workers), 0.03)
	near(t, "the number of requests due in the freeze", float64(due), 2*rate, 0.01)
	if op.Response.P99 < 1900 || op.Response.P99 > 8000 || op.Duration.P90 > 500 {
		t.Errorf("response time p99 is %g ms, service time p90 %g ms", op.Response.P99, op.Duration.P90)
	}
}

// TestBacklog checks that requests that were due but could not be sent in time are counted.
func TestBacklog(t *testing.T) {
	null := nullStore(t, 1024)
	data := filepath.Join(t.TempDir(), "run")
	done := make(chan outcome)
	go func() {
		done <- warp("stat", "--host="+null.Addr(), "--access-key=k", "--secret-key=s", "--objects=20", "--obj.size=1KiB",
			"--concurrent=4", "--duration=1s", "--rps-limit=500", "--json", "--benchdata="+data)
	}()
	check.Eventually(t, "the run to be under way", func() bool { return null.Count("HEAD") > 100 })
	null.Freeze(2 * time.Second) // longer than the run
	r := (<-done).want(t, 0).report(t)
	g := r.Groups[len(r.Groups)-1]
	rows := readLog(t, data+".csv.zst").of("STAT")
	near(t, "sent and unsent requests", float64(len(rows))+float64(g.Unsent), 500, 0.01)
	if g.Unsent < 200 {
		t.Errorf("%d sent, %d unsent", len(rows), g.Unsent)
	}
}
