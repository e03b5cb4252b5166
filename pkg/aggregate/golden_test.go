package aggregate

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, name, b.String(), string(want))
}

// described is a report with all that a log's comments can say.
func described(t *testing.T, l load, seed uint64, o Options) *Report {
	t.Helper()
	r := analyze(t, l.make(seed), o)
	r.Describe(oplog.Header{
		Warp: "1.0", Benchmark: "mixed", Command: "warp mixed --secret-key=*REDACTED*", Engine: "lean", Seed: 1<<63 + 1,
		Parameters: map[string]string{"concurrent": "8", "obj.size": "10MiB"},
	}, oplog.Trailer{
		End: "interrupted", Reason: "signal", Notes: []string{"The log is late."}, Offered: 500, Unsent: 3,
		Load: &hostload.Load{CPUSeconds: 5.5, WallSeconds: 10, Cores: 2, MaxRSSBytes: 30 << 20},
	})
	return r
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, l := range loads() {
		if name == "day" || name == "long" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Verbose: true, SegmentDur: 2 * time.Second}
			r := analyze(t, l.make(1), o)
			golden(t, name+".txt", func(w io.Writer) error { return r.WriteText(w, TextOptions{}) })
			golden(t, name+"-verbose.txt", func(w io.Writer) error { return r.WriteText(w, TextOptions{Verbose: true}) })
			golden(t, name+".csv", r.WriteCSV)
		})
	}
}

func TestGoldenDescribed(t *testing.T) {
	t.Parallel()
	l := loads()["mixed"]
	l.schedule, l.sizes, l.ops, l.hosts = true, true, []string{"GET", "STAT"}, 2
	o := Options{Verbose: true, SegmentDur: 2 * time.Second}
	r := described(t, l, 1, o)
	golden(t, "described.json", r.WriteJSON)
	cest := time.FixedZone("CEST", 7200)
	golden(t, "described.txt", func(w io.Writer) error {
		return r.WriteText(w, TextOptions{Color: true, Verbose: true, Location: cest})
	})
	l.latency, l.failures, l.schedule = 25*time.Millisecond, 0, false
	after := described(t, l, 2, o)
	after.Parameters["concurrent"] = "16"
	after.Engine = ""
	c := Compare(r, after)
	golden(t, "compare.txt", func(w io.Writer) error { return c.WriteText(w, TextOptions{}) })
	golden(t, "compare.json", c.WriteJSON)
}

func TestCompareDifferentOperations(t *testing.T) {
	t.Parallel()
	get := analyze(t, loads()["get"].make(1), Options{})
	del := analyze(t, loads()["delete"].make(1), Options{})
	failing := analyze(t, loads()["failing"].make(1), Options{})
	golden(t, "compare-other.txt", func(w io.Writer) error { return Compare(get, del).WriteText(w, TextOptions{}) })
	golden(t, "compare-new.txt", func(w io.Writer) error { return Compare(failing, get).WriteText(w, TextOptions{}) })
	golden(t, "compare-gone.txt", func(w io.Writer) error { return Compare(get, failing).WriteText(w, TextOptions{}) })
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for ms, want := range map[float64]string{
		0: "0s", 1e-6: "1ns", .000999: "999ns", .312: "312µs", .9997: "1.00ms", 4.016: "4.02ms", 99.96: "100ms",
		999.6: "1.00s", 1250: "1.25s", 59940: "59.9s", 59960: "1m", 75000: "1m15s", 3600e3: "1h", -.0021: "-2.10µs",
	} {
		if got := formatMS(ms); got != want {
			t.Errorf("%v ms: got %s, want %s", ms, got, want)
		}
	}
	for bytes, want := range map[float64]string{
		0: "0.0B/s", 1124.8: "1124.8B/s", 1534.6 * 1024: "1534.6KiB/s", 9.7 * mib: "9.7MiB/s", 4812.4 * mib: "4812.4MiB/s", 20 << 30: "20.0GiB/s",
	} {
		if got := segmentUnit(bytes).speed(bytes); got != want {
			t.Errorf("%v bytes/s: got %s, want %s", bytes, got, want)
		}
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	var l Live
	if s := l.Snapshot(epoch); len(s.Ops) != 0 {
		t.Errorf("%+v", s)
	}
	// 100 requests/s of 1000 bytes for 10 s, one in ten fails.
	var rows []oplog.Record
	for i := range int64(1000) {
		r := req(0, i*10, i*10+8)
		if i%10 == 0 {
			r.Err = "SlowDown: no"
		}
		rows = append(rows, r)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			l.Snapshot(ms(5000))
		}
	}()
	_, _ = (&memoryLog{rows: rows}).Read(ignoreWindow, l.Write)
	<-done
	op := l.Snapshot(ms(10_000)).Ops[0]
	if op.Requests != 1000 || op.Errors != 100 || op.Bytes != 900_000 || op.Objects != 900 || op.Elapsed != 10*time.Second {
		t.Errorf("%+v", op)
	}
	if want := (LiveRate{90, 90_000, 90}); op.Current != want || op.Average != want {
		t.Errorf("current %+v, average %+v", op.Current, op.Average)
	}
	if op.P50 != 8*time.Millisecond {
		t.Errorf("p50 %v", op.P50)
	}
	// A store that hangs shows as nothing happening.
	if r := l.Snapshot(ms(12_000)).Ops[0].Current; r != (LiveRate{}) {
		t.Errorf("after two silent seconds: %+v", r)
	}
	l.Reset()
	if s := l.Snapshot(ms(0)); len(s.Ops) != 0 {
		t.Errorf("after a reset: %+v", s)
	}
}

// TestLiveSlowRequests: 4 threads with requests of 2 s finish two per second.
func TestLiveSlowRequests(t *testing.T) {
	t.Parallel()
	var l Live
	for i := range int64(10) {
		for thread := range int64(4) {
			_ = l.Write([]oplog.Record{req(uint32(thread), i*2000+thread*500, i*2000+2000+thread*500)})
		}
	}
	if r := l.Snapshot(ms(20_250)).Ops[0].Current.Requests; r < 1.7 || r > 2.3 {
		t.Errorf("%v requests/s, want 2", r)
	}
}

func TestGoldenAggregated(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/aggregated.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := ReadAggregated(file, "")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "aggregated.txt", func(w io.Writer) error { return r.WriteText(w, TextOptions{Verbose: true}) })
}
