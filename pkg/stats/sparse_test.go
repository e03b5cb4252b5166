package stats

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/internal/check"
)

var someShares = []float64{0, .001, .07, .25, .5, .75, .9, .99, .999, 1}

// spread returns values of all magnitudes, most of them similar.
func spread(rng *rand.Rand, n int) []time.Duration {
	values := make([]time.Duration, n)
	for i := range values {
		values[i] = time.Duration(rng.ExpFloat64() * 1e6)
		if rng.IntN(20) == 0 {
			values[i] = time.Duration(rng.Int64N(1 << rng.IntN(60)))
		}
	}
	return values
}

// TestSparseIsAHistogram compares Sparse with Histogram bucket by bucket: counted at once and in
// parts, merged in any order, decoded or not.
func TestSparseIsAHistogram(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 10, 255, 256, 257, 1000, 5000, 50000} {
		var want Histogram
		var whole Sparse
		var parts [3]Sparse
		for _, v := range spread(rng, n) {
			want.Add(v)
			whole.Add(v)
			parts[rng.IntN(3)].Add(v)
		}
		sameSparse(t, &whole, &want)
		for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
			var s Sparse
			for _, i := range order {
				s.merge(travelled(t, &parts[i]))
				s.merge(&Sparse{})
			}
			sameSparse(t, &s, &want)
		}
		var right Sparse
		right.merge(&parts[1])
		right.merge(&parts[2])
		left := parts[0]
		left.merge(&right)
		left.merge(travelled(t, &Sparse{}))
		sameSparse(t, &left, &want)
		sameSparse(t, travelled(t, travelled(t, &left)), &want)
	}
}

func travelled(t *testing.T, s *Sparse) *Sparse {
	t.Helper()
	text, err := json.Marshal(s)
	check.OK(t, err)
	got := &Sparse{}
	check.OK(t, json.Unmarshal(text, got))
	return got
}

type bucketCount struct {
	value time.Duration
	n     uint64
}

func sameSparse(t *testing.T, s *Sparse, h *Histogram) {
	t.Helper()
	if s.Count() != h.Count() || s.Max() != h.Max() || s.min != h.min {
		t.Fatalf("%d values from %d to %d, want %d from %d to %d", s.Count(), s.min, s.Max(), h.Count(), h.min, h.Max())
	}
	var got, want []bucketCount
	s.Each(func(v time.Duration, n uint64) { got = append(got, bucketCount{v, n}) })
	h.Each(func(v time.Duration, n uint64) { want = append(want, bucketCount{v, n}) })
	if !slices.Equal(got, want) {
		t.Fatalf("%d buckets, want %d: %v\n%v", len(got), len(want), got, want)
	}
	for i, q := range s.Quantiles(someShares...) {
		if want := h.Quantile(someShares[i]); q != want {
			t.Fatalf("quantile %v of %d values is %d, want %d", someShares[i], s.Count(), q, want)
		}
	}
}

func TestSparseOfNothing(t *testing.T) {
	t.Parallel()
	var s Sparse
	if q := s.Quantiles(.5, 1); s.Count() != 0 || s.Max() != 0 || q[0] != 0 || q[1] != 0 {
		t.Errorf("%d values, quantiles %v", s.Count(), q)
	}
}

// FuzzSparse decodes anything. What it accepts can be merged, and is the same after encoding and
// decoding again.
func FuzzSparse(f *testing.F) {
	var s Sparse
	for _, v := range spread(rand.New(rand.NewPCG(7, 8)), 300) {
		s.Add(v)
	}
	good, _ := json.Marshal(&s)
	f.Add(string(good))
	f.Add(`""`)
	f.Add(`"AAA="`)
	f.Add(`"//////////8B//////////8BAf////////////8B"`)
	f.Fuzz(func(t *testing.T, text string) {
		var s Sparse
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		other := travelled(t, &s)
		if other.Count() != s.Count() || !slices.Equal(other.Quantiles(someShares...), s.Quantiles(someShares...)) {
			t.Errorf("%+v became %+v", s, other)
		}
		other.merge(&s)
		other.Add(time.Second)
	})
}

func BenchmarkSparseAdd(b *testing.B) {
	values := spread(rand.New(rand.NewPCG(1, 2)), 1<<14)
	var s Sparse
	for i := 0; b.Loop(); i++ {
		if i%6000 == 0 {
			s = Sparse{}
		}
		s.Add(values[i%len(values)])
	}
}
