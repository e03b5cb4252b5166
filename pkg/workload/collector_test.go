package workload

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"warp/internal/check"
	"warp/pkg/generator"
	"warp/pkg/reuse"
)

// The profile of a generated load has its parameters: mix, popularity, sizes, rate and gaps.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		exponent          float64
		objects, requests int
	}{
		{0, 2000, 60_000}, {.5, 3000, 60_000}, {.8, 10_000, 100_000}, {.99, 5000, 100_000}, {.99, 50_000, 150_000}, {1.2, 10_000, 100_000}, {1.5, 20_000, 150_000},
	} {
		name := fmt.Sprintf("zipf:%v of %d objects", test.exponent, test.objects)
		r := generator.Rand(uint64(i), "test", 0)
		zipf := generator.NewZipf(test.exponent)
		sizes, err := generator.ParseSizes("lognormal:median=64KiB,sigma=1.5,max=1GiB", false)
		check.OK(t, err)
		of := make([]int64, test.objects)
		for k := range of {
			of[k] = sizes.Next(r)
		}
		c := NewCollector()
		var downloads, uploads []int64
		at := 1e18
		for n := range test.requests {
			at += 1e6 * 2 * -math.Log(1-r.Float64()) // 500 requests/s on average
			q := Request{Start: int64(at), Objects: 1}
			switch x := r.Float64(); {
			case x < .8:
				k := zipf.Rank(r, test.objects)
				q.Op, q.Object, q.Bytes, q.Size = Get, HashObject("b", fmt.Sprint(k)), of[k], of[k]
				downloads = append(downloads, of[k])
			case x < .9:
				q.Op, q.Object = Stat, HashObject("b", fmt.Sprint(zipf.Rank(r, test.objects)))
			default:
				q.Op, q.Object, q.Bytes = Put, HashObject("b", fmt.Sprint("new", n)), sizes.Next(r)
				uploads = append(uploads, q.Bytes)
			}
			c.Add(&q)
		}
		p := c.Profile()
		if p.Requests != uint64(test.requests) || math.Abs(p.PerS()/500-1) > .02 {
			t.Errorf("%s: %d requests at %v/s", name, p.Requests, p.PerS())
		}
		for k, want := range []float64{.8, .1, .1} {
			if got := p.Operations[k].Share; math.Abs(got-want) > .01 {
				t.Errorf("%s: %s has a share of %v, want %v", name, p.Operations[k].Op, got, want)
			}
		}
		for k := range p.Operations {
			switch o := &p.Operations[k]; o.Op {
			case Get:
				sameSizes(t, name+": GET", o.Sizes, downloads)
			case Put:
				sameSizes(t, name+": PUT", o.Sizes, uploads)
			}
		}
		q := p.Popularity
		if q.Exponent == nil || math.Abs(*q.Exponent-test.exponent) > .05 {
			t.Errorf("%s: popularity %+v", name, q)
			continue
		}
		t.Logf("%s: exponent %.3f ± %.3f, %d keys of %d objects", name, *q.Exponent, q.ExponentError, q.Keys, q.Objects)
		if off := math.Abs(float64(q.Objects)/float64(test.objects) - 1); off > .15 && test.exponent < 1 {
			t.Errorf("%s: %d objects to choose from", name, q.Objects)
		}
		if p.Arrivals.Gaps != PoissonGaps {
			t.Errorf("%s: gaps %+v", name, p.Arrivals)
		}
		if _, err := Read(bytes.NewReader(encode(t, p))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sameSizes compares a histogram with what it counts by Kolmogorov's and Smirnov's distance.
func sameSizes(t *testing.T, name string, got Sizes, want []int64) {
	t.Helper()
	if got.Requests() != uint64(len(want)) {
		t.Errorf("%s: %d sizes, want %d", name, got.Requests(), len(want))
		return
	}
	slices.Sort(want)
	n, below, distance := float64(len(want)), 0., 0.
	for _, b := range got {
		below += float64(b.Requests)
		upTo, _ := slices.BinarySearch(want, b.Max+1)
		distance = max(distance, math.Abs(below-float64(upTo))/n)
		if float64(b.Max-b.Min) > float64(b.Min)/128 {
			t.Errorf("%s: the bucket from %d to %d is too wide", name, b.Min, b.Max)
		}
	}
	if distance > 0 { // the borders of buckets are exact
		t.Errorf("%s: the distributions differ by %v", name, distance)
	}
}

// Objects that come and go during the log do not distort the exponent.
func TestExponentOfChangingPool(t *testing.T) {
	t.Parallel()
	const objects, requests = 1000, 20_000
	for _, test := range []struct{ exponent, deletions, off float64 }{
		{.7, 0, .05}, {1, 0, .05}, {1.2, 0, .05}, {.7, .1, .1}, {1, .1, .1},
	} {
		r := generator.Rand(1, "test", 0)
		zipf := generator.NewZipf(test.exponent)
		c, made := NewCollector(), objects
		alive := make([]int, objects)
		for i := range alive {
			alive[i] = i
		}
		for n := range requests {
			q := Request{Op: Get, Start: int64(n) * 1e6, Objects: 1, Bytes: 1, Size: 1}
			switch x := r.Float64(); {
			case x < .15:
				q.Op, q.Object = Put, HashObject("", fmt.Sprint(made))
				alive = append(alive, made)
				made++
			case x < .15+test.deletions:
				q.Op = Delete
				i, last := r.IntN(len(alive)), len(alive)-1
				q.Object = HashObject("", fmt.Sprint(alive[i]))
				alive[i], alive = alive[last], alive[:last]
			default:
				q.Object = HashObject("", fmt.Sprint(alive[zipf.Rank(r, len(alive))]))
			}
			c.Add(&q)
		}
		if p := c.Profile().Popularity; p.Exponent == nil || math.Abs(*p.Exponent-test.exponent) > test.off {
			t.Errorf("%+v: %+v", test, p)
		} else {
			t.Logf("%+v: %.3f ± %.3f", test, *p.Exponent, p.ExponentError)
		}
	}
}

// A sample of the keys gives about the same figures as all keys.
func TestSampledPopularity(t *testing.T) {
	t.Parallel()
	const objects = 40_000
	for seed := range uint64(4) {
		r := generator.Rand(seed, "test", 0)
		zipf := generator.NewZipf(.99)
		exact, sampled := newPopularityCounter(objects), newPopularityCounter(4000)
		for range 400_000 {
			key := HashObject("b", fmt.Sprint(seed, "/", zipf.Rank(r, objects)))
			exact.read(key)
			sampled.read(key)
		}
		want, got := exact.popularity(), sampled.popularity()
		if want.Sampled != 1 || got.Sampled > .15 || got.Requests != want.Requests || want.HottestError != 0 {
			t.Fatalf("exact %+v, sampled %+v", want, got)
		}
		if off := math.Abs(float64(got.Keys)/float64(want.Keys) - 1); off > .05 {
			t.Errorf("%d keys, want %d", got.Keys, want.Keys)
		}
		if off := math.Abs(got.Hottest - want.Hottest); off > 1.5*got.HottestError || got.HottestError > .05 {
			t.Errorf("the hottest have %v ± %v, want %v", got.Hottest, got.HottestError, want.Hottest)
		}
		if got.Exponent == nil || math.Abs(*got.Exponent-.99) > .05 || math.Abs(*want.Exponent-.99) > .05 {
			t.Errorf("exponents %v and %v", *got.Exponent, *want.Exponent)
		}
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		next func(i int) float64 // ns until the next request
		n    int
		want Gaps
	}{
		"even":    {func(int) float64 { return 1e7 }, 10_000, EvenGaps},
		"seconds": {func(int) float64 { return 1e7 }, 1200, EvenGaps},
		"rare":    {func(int) float64 { return 3e9 }, 2000, EvenGaps},
		"poisson": {func(int) float64 { return 1e7 * random.ExpFloat64() }, 20_000, PoissonGaps},
		"day": {func(i int) float64 { return 2e9 * random.ExpFloat64() / (1.1 + math.Sin(float64(i)/6000)) },
			40_000, PoissonGaps},
		"bursts": {func(i int) float64 {
			if i%50 == 0 {
				return 5e8 * random.ExpFloat64()
			}
			return 1e3
		}, 20_000, BurstyGaps},
		"few":   {func(i int) float64 { return []float64{0, 1, 80e9}[i] }, 3, UnknownGaps},
		"short": {func(int) float64 { return 1e7 }, 100, UnknownGaps},
	} {
		c := NewCollector()
		at := 1e18
		for i := range test.n {
			at += test.next(i)
			c.Add(&Request{Op: Get, Start: int64(at), Objects: 1})
		}
		if a := c.Profile().Arrivals; a.Gaps != test.want {
			t.Errorf("%s: %s, %+v", name, a.Gaps, a.Dispersion)
		}
	}
}

// Days without a request cost neither time nor memory.
func TestPauses(t *testing.T) {
	t.Parallel()
	c := NewCollector()
	const day = 24 * 3600 * 1e9
	for _, start := range []int64{math.MinInt64, 0, 1, day, 400 * day, 400*day + 1, math.MaxInt64} {
		c.Add(&Request{Op: Put, Start: start})
	}
	p := c.Profile()
	if n := len(p.Arrivals.Requests); n > intervals || p.Requests != 7 {
		t.Errorf("%d intervals, %d requests", n, p.Requests)
	}
	if _, err := Read(bytes.NewReader(encode(t, p))); err != nil {
		t.Error(err)
	}
}

// Many requests that are too late make the profile wrong.
func TestDisorder(t *testing.T) {
	t.Parallel()
	for late, wrong := range map[int]bool{0: false, 1: false, 2: true} {
		c := NewCollector()
		c.order.max = 10
		for i := range 100 + late {
			c.Add(&Request{Op: Get, Start: int64(i%100) * 1e9})
		}
		c.Profile()
		if err := c.Disorder(); err != nil != wrong {
			t.Errorf("%d: %v", late, err)
		}
	}
}

// Requests are sorted by their starts if they are not too late.
func TestOrder(t *testing.T) {
	t.Parallel()
	o := order{max: 10}
	var got []int64
	pass := func(r *Request) { got = append(got, r.Start) }
	for _, start := range []int64{5, 3, 4, 8, 6, 7, 2, 9, 1, 10, 12, 11, 13, 15, 14, 3} {
		o.add(&Request{Start: start}, pass)
	}
	o.end(pass)
	want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15}
	if !slices.Equal(got, want) || o.late != 1 {
		t.Errorf("%v, %d late", got, o.late)
	}
}

// Steps, parts and preparation count once.
func TestSteps(t *testing.T) {
	t.Parallel()
	c := NewCollector()
	a, b := HashObject("", "a"), HashObject("", "b")
	for i, r := range []Request{
		{Op: Put, Object: a, Bytes: 100, Objects: 1, Before: true},
		{Op: Get, Object: a, Bytes: 100, Size: 100, Step: true, Objects: 1},
		{Op: Get, Object: a, Bytes: 60, Range: true, Part: true, Objects: 1},
		{Op: Get, Object: a, Bytes: 40, Range: true, Part: true, Objects: 1},
		{Op: Get, Object: a, Bytes: 30, Objects: 1}, // a range, since the object is larger
		{Op: PutPart, Object: b, Bytes: 7, Objects: 1},
		{Op: PutPart, Object: b, Bytes: 8, Objects: 1},
		{Op: Upload, Object: b, Objects: 1},
		{Op: Get, Object: b, Bytes: 15, Objects: 1},
		{Op: Get, Object: b, Failed: true, Status: 503, Objects: 1},
		{Op: Delete, Objects: 0},
		{Op: Delete, Object: b, Step: true, Objects: 1},
		{Op: Delete, Object: a, Step: true, Objects: 1},
		{Op: Get, Object: b, Bytes: 15, Objects: 1}, // again, as if for the first time
	} {
		r.Start = int64(1+i) * 1e9
		c.Add(&r)
	}
	p := c.Profile()
	if _, err := Read(bytes.NewReader(encode(t, p))); err != nil {
		t.Error(err)
	}
	got := map[Op]Operation{}
	for _, o := range p.Operations {
		got[o.Op] = o
	}
	if p.Requests != 10 || p.Errors != 1 || got[Get].Requests != 6 || got[Delete].Requests != 1 || got[Delete].Objects != 2 ||
		!slices.Equal(got[Get].Sizes, Sizes{{15, 15, 2}}) || !slices.Equal(got[Upload].Sizes, Sizes{{15, 15, 1}}) || !slices.Equal(got[Get].Statuses, []Status{{503, 1}}) {
		t.Errorf("%+v", p.Operations)
	}
	if r := p.Ranges; r == nil || r.Requests != 3 || !slices.Equal(r.Sizes, Sizes{{30, 30, 1}, {40, 40, 1}, {60, 60, 1}}) || !slices.Equal(r.Objects, Sizes{{100, 100, 3}}) {
		t.Errorf("%+v", r)
	}
	if r := p.Reuse; r == nil || r.Requests != 4 || r.FirstRequests != 1 || r.Objects != 3 {
		t.Errorf("%+v", r)
	}
	if q := p.Popularity; q == nil || q.Requests != 4 || q.Keys != 2 {
		t.Errorf("%+v", q)
	}
}

func BenchmarkCollector(b *testing.B) {
	c := NewCollector()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range b.N {
		c.Add(&Request{Op: Get, Start: int64(i) * 1e6, Object: r.Uint64() % 1e6 * 0x9e3779b97f4a7c15, Bytes: int64(i & 0xfffff)})
	}
}

// The ranges of a download have its bytes, and are the only ones that say how large an object is that was not uploaded.
func TestCacheOfRanges(t *testing.T) {
	t.Parallel()
	for _, uploaded := range []bool{true, false} {
		c := NewCacheCounter(2500)
		at := int64(1e18)
		add := func(r Request, object uint64) {
			at += 1e6
			r.Start, r.Object = at, object
			c.Add(&r)
		}
		for object := uint64(1); uploaded && object <= 3; object++ {
			add(Request{Op: Put, Bytes: 1000, Before: true}, object)
		}
		// The last two objects that were used are in the cache.
		for _, object := range []uint64{1, 2, 1, 3, 2, 3} {
			add(Request{Op: Get, Step: true}, object)
			for range 4 {
				add(Request{Op: Get, Part: true, Range: true, Bytes: 250}, object)
			}
		}
		hits, first := uint64(2), uint64(3)
		if uploaded {
			first = 0
		}
		r, _ := c.Result()
		share := float64(hits) / 6
		if got := r.Caches[0]; r.Total != (reuse.Amount{Requests: 6, Bytes: 6000}) || r.First != (reuse.Amount{Requests: first, Bytes: 1000 * first}) ||
			math.Abs(got.Requests.Share-share) > 1e-9 || math.Abs(got.Bytes.Share-share) > 1e-9 {
			t.Errorf("uploaded %v: %+v", uploaded, r)
		}
	}
}
