package monitor

import (
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// at returns the instant so many ms after the start.
func at(ms int64) int64 { return testlog.Epoch + ms*int64(time.Millisecond) }

// get returns a GET of 1000 bytes by a thread, from and to in ms.
func get(thread uint32, from, to int64) oplog.Record {
	return oplog.Record{
		Op: "GET", Run: "r", Client: "c", Thread: thread, Endpoint: "http://h:1", Objects: 1, Bytes: 1000,
		Start: at(from), Duration: time.Duration(to-from) * time.Millisecond,
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	var l Live
	if s := l.Snapshot(testlog.Epoch); len(s.Ops) != 0 {
		t.Errorf("%+v", s)
	}
	// 100 requests/s of 1000 bytes for 10 s, one in ten fails.
	var rows []oplog.Record
	for i := range int64(1000) {
		r := get(0, i*10, i*10+8)
		if i%10 == 0 {
			r.Err = "SlowDown: no"
		}
		rows = append(rows, r)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			l.Snapshot(at(5000))
		}
	}()
	batch := make([]oplog.Record, 97) // overwritten, like the batches of a run
	for rest := rows; len(rest) > 0; {
		n := copy(batch, rest)
		_ = l.Write(batch[:n])
		clear(batch)
		rest = rest[n:]
	}
	<-done
	op := l.Snapshot(at(10_000)).Ops[0]
	if op.Requests != 1000 || op.Errors != 100 || op.Bytes != 900_000 || op.Objects != 900 || op.Elapsed != 10*time.Second {
		t.Errorf("%+v", op)
	}
	if want := (Rate{90, 90_000, 90}); op.Current != want || op.Average != want {
		t.Errorf("current %+v, average %+v", op.Current, op.Average)
	}
	if op.P50 != 8*time.Millisecond {
		t.Errorf("p50 %v", op.P50)
	}
	// If a store hangs, the current rate is 0.
	if r := l.Snapshot(at(12_000)).Ops[0].Current; r != (Rate{}) {
		t.Errorf("after two silent seconds: %+v", r)
	}
	l.reset()
	if s := l.Snapshot(at(0)); len(s.Ops) != 0 {
		t.Errorf("after a reset: %+v", s)
	}
}

// TestLiveSlowRequests checks that 4 threads with requests of 2 s finish two per second.
func TestLiveSlowRequests(t *testing.T) {
	t.Parallel()
	var l Live
	for i := range int64(10) {
		for thread := range int64(4) {
			_ = l.Write([]oplog.Record{get(uint32(thread), i*2000+thread*500, i*2000+2000+thread*500)})
		}
	}
	if r := l.Snapshot(at(20_250)).Ops[0].Current.Requests; r < 1.7 || r > 2.3 {
		t.Errorf("%v requests/s, want 2", r)
	}
}

func BenchmarkLiveWrite(b *testing.B) {
	rows := testlog.Load{Ops: []string{"GET"}, Threads: 16, Length: 20 * time.Second, Latency: 3 * time.Millisecond}.Rows(1)
	var l Live
	n := 0
	for b.Loop() {
		_ = l.Write(rows[n : n+1])
		if n++; n == len(rows) {
			n = 0
		}
	}
}

func TestLiveAllocatesNothing(t *testing.T) {
	l := testlog.Load{
		Ops: []string{"GET", "PUT", "STAT", "DELETE"}, Clients: 2, Threads: 16, Hosts: 4, Length: 2 * time.Second, Latency: 5 * time.Millisecond,
	}
	rows := l.Rows(1)
	var live Live
	_ = live.Write(rows)
	if n := testing.AllocsPerRun(3, func() { _ = live.Write(rows) }); n > 0 {
		t.Errorf("%v allocations for %d rows", n, len(rows))
	}
}
