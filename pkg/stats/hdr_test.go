package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/internal/check"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// TestHDR decodes the result with HdrHistogram's own library, which must have the same counts in
// the same buckets.
func TestHDR(t *testing.T) {
	t.Parallel()
	if got := new(Histogram).EncodeHDR(); got != "" {
		t.Errorf("nothing is encoded as %q", got)
	}
	rng := rand.New(rand.NewPCG(11, 1))
	for _, n := range []int{1, 2, 100, 10000} {
		var h Histogram
		var s Sparse
		values := append(spread(rng, n), 0, 127, 128, 255, 256, 257, MaxValue)
		for _, v := range values {
			h.Add(v)
			s.Add(v)
		}
		far, err := hdr.Decode([]byte(h.EncodeHDR()))
		check.OK(t, err)
		if !far.Equals(s.HDR()) {
			t.Error("a sparse histogram becomes another one")
		}
		var want, got []bucketCount
		h.Each(func(v time.Duration, n uint64) { want = append(want, bucketCount{v, n}) })
		for i, bar := range slices.DeleteFunc(far.Distribution(), func(b hdr.Bar) bool { return b.Count == 0 }) {
			got = append(got, bucketCount{want[min(i, len(want)-1)].value, uint64(bar.Count)})
			if v := int64(got[i].value); v < bar.From || v > bar.To {
				t.Fatalf("the bucket of %d is from %d to %d", v, bar.From, bar.To)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d buckets, want %d", len(got), len(want))
		}
	}
}
