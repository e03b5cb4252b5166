//go:build unix

package aggregate_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// logRows is the size of the log that BenchmarkAnalyze writes.
const logRows = 1_000_000

// writeTurns writes a log as a run does: every 100 ms each thread hands over its rows, so that they
// are in order of neither start nor end.
func writeTurns(tb testing.TB, path string, rows int, ops []string, windowed bool) {
	tb.Helper()
	f, err := oplog.Create(path, oplog.Header{Warp: "test", Run: "run", Client: "k3Xq", Windowed: windowed})
	check.OK(tb, err)
	const threads, turn = 32, int64(100 * time.Millisecond)
	rng := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	var free [threads]int64
	for i := range free {
		free[i] = begin + rng.Int64N(int64(time.Millisecond))
	}
	window := oplog.Window{Start: begin, Begin: begin + turn, End: begin + int64(rows)*8000}
	if windowed {
		check.OK(tb, f.SetWindow(oplog.Window{Start: begin, Begin: begin + turn}))
	}
	for end := begin + turn; rows > 0; end += turn {
		for thread := range free {
			for free[thread] < end && rows > 0 {
				r := turnRow(rng, ops, thread, free[thread])
				check.OK(tb, f.Write([]oplog.Record{r}))
				free[thread] += int64(r.Duration) + 2000
				rows--
			}
		}
		check.OK(tb, f.Flush())
	}
	t := oplog.Trailer{End: "completed"}
	if windowed {
		t.Window = &window
	}
	if _, err := f.Commit(t); err != nil {
		tb.Fatal(err)
	}
}

func turnRow(rng *rand.Rand, ops []string, thread int, start int64) oplog.Record {
	d := time.Duration(150_000 + rng.Int64N(400_000))
	r := oplog.Record{
		Op: ops[rng.IntN(len(ops))], Client: "k3Xq", Endpoint: "http://127.0.0.1:9000",
		Key:    fmt.Sprintf("prefix%02d/%d.object.rnd", thread, rng.IntN(2500)),
		Thread: uint32(thread), Objects: 1, Bytes: 1024, Start: start, Duration: d, Status: 200, Requests: 1,
	}
	if first := d - time.Duration(3000+rng.Int64N(2000)); r.Op == "PUT" {
		r.LastByte = first
	} else {
		r.FirstByte = first
	}
	return r
}

// BenchmarkAnalyze reads a log from a file and makes its report. Run it with
// -benchtime 1x; CPU time covers all goroutines.
func BenchmarkAnalyze(b *testing.B) {
	for _, c := range []struct {
		name     string
		ops      []string
		windowed bool
	}{
		{"get", []string{"GET"}, true},
		{"mixed", []string{"GET", "PUT", "STAT", "DELETE"}, true},
		{"windowless", []string{"GET"}, false}, // two passes
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "log.csv.zst")
			writeTurns(b, path, logRows, c.ops, c.windowed)
			benchmarkAnalyze(b, path)
		})
	}
}

func benchmarkAnalyze(b *testing.B, path string) {
	var before, after runtime.MemStats
	log := openFile(b, path)
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	for b.Loop() {
		r, err := aggregate.Analyze(log, aggregate.Options{})
		check.OK(b, err)
		n := uint64(0)
		for i := range r.Operations {
			n += r.Operations[i].Requests
		}
		if n != logRows {
			b.Fatalf("%d requests", n)
		}
	}
	rows := float64(b.N) * logRows
	b.ReportMetric(float64(cpuTime()-cpu)/rows, "cpu-ns/row")
	b.ReportMetric(float64(b.Elapsed())/rows, "ns/row")
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/rows, "B/row")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/rows, "allocs/row")
	b.ReportMetric(float64(log.reads)/float64(b.N), "passes")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
