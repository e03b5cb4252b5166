package bench

import (
	"sync/atomic"
	"testing"

	"warp/pkg/oplog"
)

func TestRecordQueueKeepsOrderWhileBothSidesRun(t *testing.T) {
	t.Parallel()
	var allocated atomic.Int64
	tp := newRecordQueue(&allocated)
	const records = 100_000
	go func() {
		for i := range records {
			tp.append(&oplog.Record{Start: int64(i)})
		}
	}()
	want := int64(0)
	for want < records {
		_ = tp.drain(func(batch []oplog.Record) error {
			for _, r := range batch {
				if r.Start != want {
					t.Fatalf("record %d came when %d was due", r.Start, want)
				}
				want++
			}
			return nil
		})
	}
}

func TestRecordQueueUsesChunksAgain(t *testing.T) {
	var allocated atomic.Int64
	tp := newRecordQueue(&allocated)
	rec := oplog.Record{Op: "GET"}
	drop := func([]oplog.Record) error { return nil }
	round := func() {
		for range 10 * chunkLen {
			tp.append(&rec)
		}
		_ = tp.drain(drop)
	}
	round()
	before := allocated.Load()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%.1f allocations in a round, want none", n)
	}
	if after := allocated.Load(); after > before+2 {
		t.Errorf("%d chunks after, %d before: chunks are not used again", after, before)
	}
}

// A watch is a sink that is told what is in flight.
type watch struct{ seen map[string]int }

func (*watch) Write([]oplog.Record) error     { return nil }
func (*watch) Flush() error                   { return nil }
func (w *watch) InFlight(byOp map[string]int) { w.seen = byOp }

// A request that is part of another one stands for it while it lasts.
func TestInFlight(t *testing.T) {
	w := &watch{}
	c := &collector{sinks: []Sink{w}}
	a, b := c.newQueue(0), c.newQueue(0)
	a.begin("GET")
	outer := b.begin("COPY")
	if c.flush(); len(w.seen) != 2 || w.seen["GET"] != 1 || w.seen["COPY"] != 1 {
		t.Errorf("sees %v", w.seen)
	}
	part := b.begin("GET")
	if c.flush(); len(w.seen) != 1 || w.seen["GET"] != 2 {
		t.Errorf("within a part sees %v", w.seen)
	}
	b.busy.Store(part)
	a.busy.Store(nil)
	if c.flush(); len(w.seen) != 1 || w.seen["COPY"] != 1 {
		t.Errorf("after the part sees %v", w.seen)
	}
	b.busy.Store(outer)
	if c.flush(); len(w.seen) != 0 {
		t.Errorf("in the end sees %v", w.seen)
	}
	if n := testing.AllocsPerRun(100, func() { a.begin("GET"); a.busy.Store(nil) }); n != 0 {
		t.Errorf("%.1f allocations for a request", n)
	}
}
