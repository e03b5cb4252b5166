package conformance

import (
	"path/filepath"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/s3mem"
)

func nullStore(t *testing.T, size int64) *s3mem.Null {
	t.Helper()
	n, err := s3mem.StartNull(s3mem.NullOptions{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// TestFreeze: a store that freezes for two seconds at 500 requests/s makes a thousand requests late. A closed
// loop would show as many slow ones as it has workers.
func TestFreeze(t *testing.T) {
	const workers, rate, size = 20, 500, 1024
	null := nullStore(t, size)
	data := filepath.Join(t.TempDir(), "run")
	done := make(chan outcome)
	go func() {
		done <- warp("get", "--host="+null.Addr(), "--access-key=k", "--secret-key=s", "--objects=20", "--obj.size=1KiB",
			"--concurrent=20", "--duration=4s", "--rps-limit=500", "--json", "--benchdata="+data)
	}()
	eventually(t, "the run to be under way", func() bool { return null.Count("GET") > rate/2 })
	null.Freeze(2 * time.Second)
	o := (<-done).want(t, 0)
	o.sameAsAnalyze(t, data+".csv.zst", "--json")
	rows := readLog(t, data+".csv.zst").of("GET")
	var late, lagging, slow int
	for i, r := range rows {
		if r.Due == 0 || r.Lag() < 0 {
			t.Fatalf("row %d was due %d, its lag is %s", i, r.Due, r.Lag())
		}
		if response(r) > 50*time.Millisecond {
			late++
		}
		if r.Lag() > 50*time.Millisecond {
			lagging++
		}
		if r.Duration > time.Second {
			slow++
		}
	}
	if late < 900 || late > 1300 || lagging < 880 || slow < workers/2 || slow > 2*workers {
		t.Errorf("of %d requests %d are answered late, %d sent late and %d slow; want about 1000, 980 and %d", len(rows), late, lagging, slow, workers)
	}
	r := o.report(t)
	op := operation(t, r, "GET")
	j := judge(t, op, rows)
	holds(t, op.Duration, j.sorted(service))
	holds(t, op.Response, j.sorted(response))
	holds(t, op.Lag, j.sorted(func(r oplog.Record) time.Duration { return r.Lag() }))
	if op.Response.P99 < 1800 || op.Response.P99 > 2200 || op.Duration.P90 > 200 {
		t.Errorf("response time p99 is %g ms, service time p90 %g ms", op.Response.P99, op.Duration.P90)
	}
	if r.OfferedPerS != rate || r.Unsent != 0 || op.OfferedPerS == 0 || op.AchievedPerS == 0 {
		t.Errorf("offered %g/s, in the window %g/s, achieved %g/s, unsent %d", r.OfferedPerS, op.OfferedPerS, op.AchievedPerS, r.Unsent)
	}
	// Nothing that was due is lost: the run makes up for the freeze.
	near(t, "the number of requests", float64(len(rows)), 4*rate, 0.01)
}

// TestBacklog: what was due and could not be sent in time is counted.
func TestBacklog(t *testing.T) {
	null := nullStore(t, 1024)
	data := filepath.Join(t.TempDir(), "run")
	done := make(chan outcome)
	go func() {
		done <- warp("stat", "--host="+null.Addr(), "--access-key=k", "--secret-key=s", "--objects=20", "--obj.size=1KiB",
			"--concurrent=4", "--duration=1s", "--rps-limit=500", "--json", "--benchdata="+data)
	}()
	eventually(t, "the run to be under way", func() bool { return null.Count("HEAD") > 100 })
	null.Freeze(2 * time.Second) // longer than the run
	r := (<-done).want(t, 0).report(t)
	rows := readLog(t, data+".csv.zst").of("STAT")
	near(t, "sent and unsent requests", float64(len(rows))+float64(r.Unsent), 500, 0.01)
	if r.Unsent < 200 {
		t.Errorf("%d sent, %d unsent", len(rows), r.Unsent)
	}
}
