package bench

import (
	"sync/atomic"
	"testing"

	"warp/pkg/oplog"
)

func TestTapeKeepsOrderWhileBothSidesRun(t *testing.T) {
	t.Parallel()
	var allocated atomic.Int64
	tp := newTape(&allocated)
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

func TestTapeUsesChunksAgain(t *testing.T) {
	var allocated atomic.Int64
	tp := newTape(&allocated)
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
