package counter

import (
	"math"
	"testing"
	"time"

	"warp/internal/wire"
	"warp/pkg/oplog"
)

func rows() []oplog.Record {
	return []oplog.Record{
		{Duration: 5 * time.Millisecond, Bytes: 10, Objects: 1, FirstByte: time.Millisecond, ClientTime: 2 * time.Millisecond},
		{Duration: 2 * time.Millisecond, Bytes: 20, Objects: 2, LastByte: time.Millisecond},
		{Duration: time.Hour, Bytes: 100, Objects: 1, Err: "SlowDown: no", ClientTime: 1},
		{Duration: 9 * time.Millisecond, Objects: 1},
		{Duration: -1, Bytes: -1, Objects: -1},
	}
}

func count(rows []oplog.Record) (c Counter) {
	for i := range rows {
		c.Add(&rows[i])
	}
	return c
}

func TestCounter(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	want := Counter{
		Requests: 5, Errors: 1, Bytes: 30, Objects: 4,
		Time: Times{4, 16 * ms, 0, 9 * ms}, TTFB: Times{2, 2 * ms, ms, ms}, Wire: Times{1, 3 * ms, 3 * ms, 3 * ms}, Client: Times{1, 2 * ms, 2 * ms, 2 * ms},
	}
	all := rows()
	if got := count(all); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if mean := want.Time.Mean(); mean != 4e6 {
		t.Errorf("mean %v", mean)
	}
	for cut := range len(all) + 1 {
		got, second := count(all[:cut]), count(all[cut:])
		got.Merge(&second)
		if got != want {
			t.Errorf("merged at %d: %+v, want %+v", cut, got, want)
		}
	}
}

// Sums stop at the largest number.
func TestCounterDoesNotOverflow(t *testing.T) {
	t.Parallel()
	huge := []oplog.Record{{Bytes: math.MaxInt64, Duration: math.MaxInt64}, {Bytes: math.MaxInt64, Duration: math.MaxInt64}, {Bytes: math.MaxInt64}}
	if c := count(huge); c.Bytes != math.MaxUint64 || c.Time.Sum != math.MaxInt64 || c.Time.N != 3 {
		t.Errorf("%+v", c)
	}
}

func TestCounterIsReadBack(t *testing.T) {
	t.Parallel()
	for n := range len(rows()) + 1 {
		want := count(rows()[:n])
		b := want.Append(nil)
		var got Counter
		r := wire.NewReader(b)
		if got.Read(&r); r.Bad || r.Left() > 0 || got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		r = wire.NewReader(b[:len(b)-1])
		if got.Read(&r); !r.Bad {
			t.Errorf("%d of %d bytes were read", len(b)-1, len(b))
		}
	}
	negative := Counter{Time: Times{N: 1, Max: -1}}
	r := wire.NewReader(negative.Append(nil))
	if negative.Read(&r); !r.Bad {
		t.Error("a negative time was read")
	}
}

func TestCounterAllocatesNothing(t *testing.T) {
	all := rows()
	var c Counter
	if n := testing.AllocsPerRun(100, func() { c.Add(&all[0]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
