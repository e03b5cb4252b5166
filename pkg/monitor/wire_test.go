package monitor

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// The merged figures of two machines equal the figures of one machine with all requests.
func TestLiveMergesExactly(t *testing.T) {
	t.Parallel()
	const base, ahead = int64(1e18), int64(300 * time.Millisecond)
	r := rand.New(rand.NewPCG(1, 2))
	var whole, sum Live
	parts := make([]Live, 3)
	for range 20000 {
		rec := oplog.Record{Op: []string{"GET", "PUT"}[r.IntN(2)], Start: base + r.Int64N(5e9), Duration: time.Duration(1e3 + r.Int64N(3e8)), Bytes: r.Int64N(1e6), Objects: 1,
			Endpoint: []string{"http://a:9000", "http://b:9000", "http://c:9000"}[r.IntN(3)]}
		if r.IntN(50) == 0 {
			rec.Err = "x"
		}
		_ = whole.Write([]oplog.Record{rec})
		i := r.IntN(3)
		if i == 2 { // this machine's clock is ahead
			rec.Start += ahead
		}
		_ = parts[i].Write([]oplog.Record{rec})
	}
	for i := range parts {
		off := int64(0)
		if i == 2 {
			off = ahead
		}
		text := parts[i].Append(nil)
		s, err := Read(text, off)
		check.OK(t, err)
		if i == 0 {
			t.Logf("%d bytes for a client", len(text))
		}
		if got, want := s.Total("client"), parts[i].total(); got != want {
			t.Errorf("client %d: %+v, want %+v", i, got, want)
		}
		sum.Merge(s)
	}
	for _, now := range []int64{base + 3e9, base + 5e9, base + 9e9} {
		if a, b := whole.Snapshot(now), sum.Snapshot(now); !reflect.DeepEqual(a, b) {
			t.Errorf("at %d:\n%+v\n%+v", now-base, a, b)
		}
	}
}

// total returns the figures for all hosts, from the figures of operations.
func (l *Live) total() Part {
	sum := Part{Name: "client"}
	for _, op := range l.ops {
		sum.Merge(&op.Counter)
		if op.Time.N != op.latency.Count() || float64(op.Time.Sum) != op.latency.Sum() {
			panic("the counter and the histogram differ")
		}
	}
	return sum
}

func FuzzRead(f *testing.F) {
	var l Live
	_ = l.Write([]oplog.Record{{Op: "GET", Endpoint: "http://a:9000", Start: 1e18, Duration: 5e6, Bytes: 10, Objects: 1}, {Op: "PUT", Start: 1e18, Duration: 7, Err: "x"}})
	f.Add(l.Append(nil), int64(0))
	f.Add([]byte{1, 1, 'x'}, int64(-5))
	f.Fuzz(func(t *testing.T, b []byte, ahead int64) {
		s, err := Read(b, ahead)
		if err != nil {
			return
		}
		var sum Live
		sum.Merge(s)
		_ = sum.Snapshot(1e18)
	})
}
