package reuse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// A simulated is a cache that evicts the least recently used object.
type simulated struct {
	size, used     int64
	objects        []kept // the least recently used first
	requests, hits uint64
	bytes, served  uint64
}

type kept struct {
	object uint64
	size   int64
}

func (s *simulated) remove(object uint64) bool {
	i := slices.IndexFunc(s.objects, func(k kept) bool { return k.object == object })
	if i < 0 {
		return false
	}
	s.used -= s.objects[i].size
	s.objects = slices.Delete(s.objects, i, i+1)
	return true
}

func (s *simulated) insert(object uint64, size int64) {
	s.remove(object)
	for len(s.objects) > 0 && s.used+size > s.size {
		s.used -= s.objects[0].size
		s.objects = s.objects[1:]
	}
	if size <= s.size {
		s.objects = append(s.objects, kept{object, size})
		s.used += size
	}
}

func (s *simulated) download(object uint64, size, bytes int64, counted bool) {
	hit := s.remove(object)
	if counted {
		s.requests++
		s.bytes += uint64(bytes)
		if hit {
			s.hits++
			s.served += uint64(bytes)
		}
	}
	s.insert(object, size)
}

// The shares equal the hits of a simulated cache, with deletions, objects that change their size, ranges, empty objects,
// and objects that are larger than the cache.
func TestSimulatedCache(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		sizes := []int64{1, 500, 1000, 2000, 5000, 20_000, 1 << 40}
		c := New(sizes...)
		var caches []*simulated
		for _, size := range sizes {
			caches = append(caches, &simulated{size: size})
		}
		current := map[uint64]int64{}
		newSize := func() int64 {
			switch r.IntN(20) {
			case 0:
				return 0
			case 1:
				return 3000
			}
			return 1 + r.Int64N(200)
		}
		if seed == 0 {
			newSize = func() int64 { return 10 }
		}
		for range 6000 {
			object := uint64(float64(200) * r.Float64() * r.Float64())
			size, there := current[object]
			switch x := r.Float64(); {
			case there && x < .7:
				bytes := size
				if x < .1 {
					bytes /= 3
				}
				counted := x > .05
				c.Download(object, size, bytes, counted)
				for _, s := range caches {
					s.download(object, size, bytes, counted)
				}
			case there && x < .8:
				c.Delete(object)
				delete(current, object)
				for _, s := range caches {
					s.remove(object)
				}
			default:
				size = newSize()
				current[object] = size
				c.Upload(object, size)
				for _, s := range caches {
					s.insert(object, size)
				}
			}
		}
		result := c.Result()
		if result.Sampled != 1 || result.Total.Requests != caches[0].requests || result.Total.Bytes != caches[0].bytes {
			t.Fatalf("%+v, want all of %+v", result, caches[0])
		}
		for i, s := range caches {
			got := result.Caches[i]
			if want := served(float64(s.requests-s.hits), float64(s.requests)); got.Requests != (Share{want, 0}) {
				t.Errorf("seed %d: a cache of %d bytes serves %v of the requests, want %v", seed, s.size, got.Requests, want)
			}
			if want := served(float64(s.bytes-s.served), float64(s.bytes)); got.Bytes != (Share{want, 0}) {
				t.Errorf("seed %d: a cache of %d bytes serves %v of the bytes, want %v", seed, s.size, got.Bytes, want)
			}
		}
	}
}

// With more objects than are counted, nearly all shares are within the stated error, and the error is small.
func TestSampled(t *testing.T) {
	t.Parallel()
	const objects, limit = 30_000, 2000
	inside, all := 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		sizes := make([]int64, objects)
		for i := range sizes {
			sizes[i] = int64(1000 * math.Exp(r.NormFloat64()))
		}
		caches := []int64{3e6, 10e6, 30e6}
		sampled, exact := newCounter(limit, caches...), newCounter(objects, caches...)
		for i := range 300_000 {
			// Some objects are much more popular than others.
			object := int(objects * math.Pow(r.Float64(), 3))
			hash := xxhash.Sum64String(fmt.Sprint(seed, "/", object))
			switch {
			case i%50 == 0:
				sampled.Delete(hash)
				exact.Delete(hash)
			case i%20 == 0:
				sampled.Upload(hash, sizes[object])
				exact.Upload(hash, sizes[object])
			default:
				sampled.Download(hash, 0, sizes[object], true)
				exact.Download(hash, 0, sizes[object], true)
			}
		}
		got, want := sampled.Result(), exact.Result()
		if want.Sampled != 1 || got.Sampled > .1 || got.Total != want.Total {
			t.Fatalf("sampled %+v, exact %+v", got, want)
		}
		if off := math.Abs(float64(got.Objects)/float64(want.Objects) - 1); off > .1 {
			t.Errorf("%d objects, want %d", got.Objects, want.Objects)
		}
		for i := range caches {
			for _, x := range []struct{ got, want Share }{{got.Caches[i].Requests, want.Caches[i].Requests}, {got.Caches[i].Bytes, want.Caches[i].Bytes}} {
				off := math.Abs(x.got.Share - x.want.Share)
				all++
				if off <= x.got.Error {
					inside++
				}
				if off > 2*x.got.Error || x.got.Error == 0 || x.got.Error > .2 {
					t.Errorf("seed %d: a cache of %d bytes serves %+v, want %v", seed, caches[i], x.got, x.want.Share)
				}
			}
		}
	}
	if t.Logf("%d of %d within the error", inside, all); inside < all*8/10 {
		t.Errorf("%d of %d shares are within the stated error", inside, all)
	}
}

func TestNothingCounted(t *testing.T) {
	t.Parallel()
	c := New(10)
	c.Upload(1, 5)
	c.Download(1, 0, 5, false)
	if r := c.Result(); r.Total != (Amount{}) || r.Objects != 1 || r.Caches[0].Requests != (Share{}) {
		t.Errorf("%+v", r)
	}
}

func BenchmarkDownload(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	objects := make([]uint64, 1<<18)
	for i := range objects {
		objects[i] = r.Uint64()
	}
	c := New(1<<20, 1<<30)
	for i := range b.N {
		c.Download(objects[r.IntN(len(objects))], 0, int64(i&0xffff), true)
	}
}
