package recording

import (
	"testing"

	"warp/pkg/oplog"
)

func TestQueueKeepsOrderWhileBothSidesRun(t *testing.T) {
	t.Parallel()
	var chunks backlog
	q := newQueue(&chunks)
	const records = 100_000
	go func() {
		for i := range records {
			q.Append(&oplog.Record{Start: int64(i)})
		}
	}()
	want := int64(0)
	for want < records {
		q.drain(func(batch []oplog.Record) {
			for _, r := range batch {
				if r.Start != want {
					t.Fatalf("record %d came when %d was due", r.Start, want)
				}
				want++
			}
		})
	}
}

func TestQueueUsesChunksAgain(t *testing.T) {
	var chunks backlog
	q := newQueue(&chunks)
	rec := oplog.Record{Op: "GET"}
	drop := func([]oplog.Record) {}
	round := func() {
		for range 10 * chunkLen {
			q.Append(&rec)
		}
		q.drain(drop)
	}
	round()
	before := chunks.chunks.Load()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%.1f allocations in a round, want none", n)
	}
	if after := chunks.chunks.Load(); after > before+2 {
		t.Errorf("%d chunks after, %d before: chunks are not used again", after, before)
	}
}

// A watch is a sink that keeps what is in flight.
type watch struct{ seen map[string]int }

func (*watch) Write([]oplog.Record) error     { return nil }
func (*watch) Flush() error                   { return nil }
func (w *watch) InFlight(byOp map[string]int) { w.seen = byOp }

// While a part of a request is in flight, only the part counts.
func TestInFlight(t *testing.T) {
	w := &watch{}
	c := &Collector{sinks: []Sink{w}}
	a, b := c.NewQueue(0), c.NewQueue(0)
	a.Begin("GET")
	outer := b.Begin("COPY")
	if c.flush(); len(w.seen) != 2 || w.seen["GET"] != 1 || w.seen["COPY"] != 1 {
		t.Errorf("sees %v", w.seen)
	}
	part := b.Begin("GET")
	if c.flush(); len(w.seen) != 1 || w.seen["GET"] != 2 {
		t.Errorf("within a part sees %v", w.seen)
	}
	b.End(part)
	a.End(nil)
	if c.flush(); len(w.seen) != 1 || w.seen["COPY"] != 1 {
		t.Errorf("after the part sees %v", w.seen)
	}
	b.End(outer)
	if c.flush(); len(w.seen) != 0 {
		t.Errorf("in the end sees %v", w.seen)
	}
	if n := testing.AllocsPerRun(100, func() { a.Begin("GET"); a.End(nil) }); n != 0 {
		t.Errorf("%.1f allocations for a request", n)
	}
}
