package generator

import (
	"math"
	"strings"
	"testing"

	"warp/internal/check"
)

// randMean is the documented mean of --obj.randsize as a share of the maximum.
const randMean = 0.179151

func mustSizes(t testing.TB, spec string, randomize bool) Sizes {
	t.Helper()
	s, err := ParseSizes(spec, randomize)
	check.OK(t, err)
	return s
}

func TestParseSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec      string
		randomize bool
		max       int64
		mean      float64
		text      string
	}{
		{"10MiB", false, 10 << 20, 10 << 20, "10MiB"},
		{"0", false, 0, 0, "0B"},
		{"1MB", true, 1e6, randMean * 1e6, "1MB"},
		{"1", true, 1, 1, "1B"},
		{"2", true, 2, 1.5, "2B"},
		{"1KiB,1MiB", true, 1 << 20, (1<<20 - 1<<10 + 1) / math.Log((1<<20+0.5)/(1<<10-0.5)), "1KiB,1MiB"},
		{"1KiB-1MiB", false, 1 << 20, (1<<20 + 1<<10) / 2, "1KiB-1MiB"},
		{"0-3", false, 3, 1.5, "0B-3B"},
		{"7-7", false, 7, 7, "7B-7B"},
		{"5,5", true, 5, 5, "5B,5B"},
		{"4096:10740,8192:1685,16384:1623", false, 16384, 3722.851, "4096:10740,8192:1685,16384:1623"},
		{"4KiB:3, 8KiB:1", true, 8192, (2048.5*3 + 6144.5) / 4, "4096:3,8192:1"},
		{"exact:64MiB:10, 4KiB:60,1MiB:30", false, 64 << 20, 0.6*4096 + 0.3*(1<<20) + 0.1*(64<<20), "exact:64MiB:10,4KiB:60,1MiB:30"},
		{"lognormal:sigma=1,median=64KiB,max=1GiB", false, 1 << 30, 65536 * math.Exp(0.5), "lognormal:median=64KiB,sigma=1,max=1GiB"},
		// The maximum is the 84 % quantile: 1000·e^2·Φ(-1) + 7389·Φ(-1).
		{"lognormal:median=1000,sigma=2,max=7389", false, 7389, 2344.67, "lognormal:median=1KB,sigma=2,max=7389B"},
	} {
		s := mustSizes(t, c.spec, c.randomize)
		if s.Max() != c.max || s.String() != c.text {
			t.Errorf("%q: max %d, text %q; want %d, %q", c.spec, s.Max(), s, c.max, c.text)
		}
		if math.Abs(s.Mean()-c.mean) > 1e-4*c.mean {
			t.Errorf("%q: mean %f, want %f", c.spec, s.Mean(), c.mean)
		}
	}
}

func TestParseSizesErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec      string
		randomize bool
		want      string
	}{
		{"x1", false, "not a number"},
		{"0", true, "at least 1 byte"},
		{"1KiB,1MiB", false, "--obj.randsize"},
		{"1MiB,1KiB", true, "minimum is larger"},
		{"0,1KiB", true, "at least 1 byte"},
		{"1MiB-1KiB", false, "minimum is larger"},
		{"1KiB-1MiB", true, "equal chances"},
		{"x-1KiB", false, "minimum"},
		{"1KiB-", false, "maximum"},
		{"1-2-3", false, "maximum"},
		{"-3", false, "negative"},
		{"1,2,3", true, "want MIN,MAX"},
		{"x,1KiB", true, "minimum"},
		{"1KiB,", true, "maximum"},
		{"4096:1,4096:1", false, "larger than the one before"},
		{"0:1", false, "larger than the one before"},
		{"4096:0", false, "at least 1"},
		{"4096:-3", false, "at least 1"},
		{"4096:1.5", false, "whole number"},
		{"4096:1,8192", false, "want SIZE:WEIGHT"},
		{"4096:1,", false, "want SIZE:WEIGHT"},
		{"1:9223372036854775807,2:1", false, "sum of the weights"},
		{"exact:", false, "want SIZE:WEIGHT"},
		{"exact:4KiB:1,4096:2", false, "occurs twice"},
		{"exact:4KiB:0", false, "at least 1"},
		{"exact:4KiB:1", true, "leave out --obj.randsize"},
		{"lognormal:median=1KiB,sigma=1", false, "want lognormal:median=SIZE,sigma=NUMBER,max=SIZE"},
		{"lognormal:median=1KiB,sigma=1,max=1", false, "smaller than the median"},
		{"lognormal:median=0,sigma=1,max=1", false, "at least 1 byte"},
		{"lognormal:median=1KiB,sigma=0,max=1MiB", false, "sigma is not a number above 0"},
		{"lognormal:median=1KiB,sigma=NaN,max=1MiB", false, "sigma is not a number above 0"},
		{"lognormal:median=1KiB,median=1KiB,max=1MiB", false, "given twice"},
		{"lognormal:mean=1KiB,sigma=1,max=1MiB", false, "not median, sigma or max"},
	} {
		_, err := ParseSizes(c.spec, c.randomize)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseSizes(%q, %v): error %v, want one with %q", c.spec, c.randomize, err, c.want)
		}
	}
}

// By the formula, not by a sample: from 32 KiB up the factor has the six documented digits.
func TestRandSizeMeanExact(t *testing.T) {
	t.Parallel()
	for _, maximum := range []int64{1 << 20, 10 << 20, 1e8, 5 << 40} {
		if got := newLogSizes(maximum).Mean() / float64(maximum); math.Abs(got-randMean) > 1e-6 {
			t.Errorf("mean of sizes up to %d is %.7f of the maximum, want %f", maximum, got, randMean)
		}
	}
	// Whole bytes shift the mean of small sizes by up to half a byte.
	for maximum := int64(32 << 10); maximum < 1<<20; maximum += 9973 {
		if got := newLogSizes(maximum).Mean(); math.Abs(got-randMean*float64(maximum)) > 1 {
			t.Errorf("mean of sizes up to %d is %.2f, want %.2f", maximum, got, randMean*float64(maximum))
		}
	}
}

func TestRandSizeSample(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, maximum := range []int64{32 << 10, 10 << 20, 1e8} {
		s := mustSizes(t, FormatSize(maximum), true)
		var parts [8]int
		sum := sample(t, s, n, 1, maximum, func(size int64) {
			i := 0
			for i < maxDoublings && size <= maximum>>(i+1) {
				i++
			}
			parts[i]++
		})
		// The standard deviation of one size is 0.24 of the maximum.
		if got := sum / n / float64(maximum); math.Abs(got-randMean) > 4*0.24/math.Sqrt(n) {
			t.Errorf("mean of %d sizes up to %d is %f of the maximum, want %f", n, maximum, got, randMean)
		}
		for i, count := range parts {
			if share := float64(count) / n; math.Abs(share-0.125) > 5*0.33/math.Sqrt(n)+1e-4 {
				t.Errorf("max %d: doubling %d below the maximum has %.5f of the objects, want 0.125", maximum, i, share)
			}
		}
	}
}

func TestRandSizeLowestPartIsUniform(t *testing.T) {
	t.Parallel()
	const maximum, n = 128 << 7, 1 << 20
	var counts [129]int
	sample(t, newLogSizes(maximum), n, 1, maximum, func(size int64) {
		if size <= 128 {
			counts[size]++
		}
	})
	for size, count := range counts[1:] {
		if want := n / 8.0 / 128; math.Abs(float64(count)-want) > 5*math.Sqrt(want) {
			t.Errorf("%d objects have size %d, want about %.0f", count, size+1, want)
		}
	}
}

func TestRangeSizesSample(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, c := range [][2]int64{{1 << 10, 1 << 20}, {1, 1 << 30}, {1000, 1e6}, {999_999, 1e6}, {7, 7}, {1, 1}} {
		s := rangeSizes{min: c[0], max: c[1]}
		doublings := math.Log2(float64(c[1]) / float64(c[0]))
		top := 0
		sum := sample(t, s, n, c[0], c[1], func(size int64) {
			if size > c[1]/2 {
				top++
			}
		})
		if got := sum / n; math.Abs(got/s.Mean()-1) > 0.02 {
			t.Errorf("%v: mean %f, want %f", s, got, s.Mean())
		}
		if share := float64(top) / n; c[0] > 100 && doublings > 5 && math.Abs(share*doublings-1) > 0.03 {
			t.Errorf("%v: the highest of %.1f doublings has %.4f of the objects", s, doublings, share)
		}
	}
}

func TestBucketSizesSample(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	s := mustSizes(t, "10:1,11:2,1000:5", false)
	counts := map[int64]int{}
	sum := sample(t, s, n, 1, 1000, func(size int64) { counts[min(size, 12)]++ })
	if math.Abs(sum/n/s.Mean()-1) > 0.01 {
		t.Errorf("mean %f, want %f", sum/n, s.Mean())
	}
	for size, want := range map[int64]float64{1: n / 80, 10: n / 80, 11: n / 4, 12: n * 5 / 8} {
		if got := float64(counts[size]); math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("%.0f objects of size %d (12: more), want %.0f", got, size, want)
		}
	}
}

// sample draws n sizes and returns their sum.
func sample(t *testing.T, s Sizes, n int, low, high int64, each func(int64)) float64 {
	t.Helper()
	r := Rand(1, "sizes", 2)
	sum := 0.0
	for range n {
		size := s.Next(r)
		if size < low || size > high {
			t.Fatalf("%v: drew %d", s, size)
		}
		sum += float64(size)
		each(size)
	}
	return sum
}

func BenchmarkRandSize(b *testing.B) {
	s := newLogSizes(10 << 20)
	r := Rand(1, "sizes", 0)
	for b.Loop() {
		s.Next(r)
	}
}

// Every size occurs, as often as any other, and none is out of bounds.
func TestUniformSizes(t *testing.T) {
	t.Parallel()
	const n = 1 << 18
	s := mustSizes(t, "100-115", false)
	var count [16]int
	sample(t, s, n, 100, 115, func(size int64) { count[size-100]++ })
	for i, c := range count {
		if share := float64(c) / n; math.Abs(share-1.0/16) > 5*0.25/math.Sqrt(n) {
			t.Errorf("size %d has %.5f of the objects", 100+i, share)
		}
	}
	if wide := (uniformSizes{0, math.MaxInt64}); wide.Next(Rand(1, "wide", 1)) < 1<<32 {
		t.Error("a wide range is cut")
	}
}

func TestSizesMin(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]int64{"10KiB": 10 << 10, "3-9": 3, "10:1,20:1": 1} {
		if got := mustSizes(t, spec, false).Min(); got != want {
			t.Errorf("%q: smallest size %d, want %d", spec, got, want)
		}
	}
	if a, b := mustSizes(t, "3,9", true).Min(), mustSizes(t, "10MiB", true).Min(); a != 3 || b != 1 {
		t.Errorf("smallest random sizes %d and %d, want 3 and 1", a, b)
	}
}
