package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// A seriesCase contains the results of other programs for a series; see testdata/series.py.
type seriesCase struct {
	X                                   []float64
	Block, Slope, Low, High             float64
	Variance, Factor, Variation, Spread float64
}

func seriesCases(t *testing.T) (all []seriesCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/series.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	return all
}

func TestTrendAgainstSciPy(t *testing.T) {
	t.Parallel()
	for i, c := range seriesCases(t) {
		got := TheilSen(c.X)
		if !near(got.Slope, c.Slope) {
			t.Errorf("series %d: slope %v, want %v", i, got.Slope, c.Slope)
		}
		if v := kendallVariance(c.X); !near(v, c.Variance) {
			t.Errorf("series %d: variance %v, want %v", i, v, c.Variance)
		}
		rest := make([]float64, len(c.X))
		for k := range rest {
			rest[k] = c.X[k] - c.Slope*float64(k+1)
		}
		w := varianceFactor(rest)
		if !near(w, max(1, c.Factor)) {
			t.Errorf("series %d: factor %v, want %v", i, w, c.Factor)
		}
		// With a factor of 1, the interval equals SciPy's; otherwise it is wider.
		if same := near(got.Low, c.Low) && near(got.High, c.High); w == 1 && !same || got.Low > c.Low+1e-9 || got.High < c.High-1e-9 {
			t.Errorf("series %d (factor %v): interval %v to %v, SciPy has %v to %v", i, w, got.Low, got.High, c.Low, c.High)
		}
		if v := Variation(c.X); !near(v, c.Variation) {
			t.Errorf("series %d: coefficient of variation %v, want %v", i, v, c.Variation)
		}
		if v := Spread(c.X); math.Abs(v-c.Spread) > 1e-4*c.Spread {
			t.Errorf("series %d: spread %v, want %v", i, v, c.Spread)
		}
	}
}

// arch scales the correlation at each lag by the number of remaining values, which matters only in
// short series.
func TestBlockLengthAgainstArch(t *testing.T) {
	t.Parallel()
	for i, c := range seriesCases(t) {
		if len(c.X) < 100 {
			continue
		}
		if got := BlockLength(c.X); got != int(math.Ceil(c.Block)) {
			t.Errorf("series %d of %d: blocks of %d, want %v", i, len(c.X), got, c.Block)
		}
	}
}

func TestTrendOfOddSeries(t *testing.T) {
	t.Parallel()
	for _, y := range [][]float64{{1, 1}, {0, 0, 0}, {5, 5, 5, 5, 5}, {1, 2, 3, 4, 5, 6}} {
		got, want := TheilSen(y), y[1]-y[0]
		if got.Slope != want || got.Low > want || got.High < want || got.At(1) != y[1] {
			t.Errorf("%v: %+v", y, got)
		}
		if BlockLength(y) < 1 || BlockLength(y) > len(y) {
			t.Errorf("%v: blocks of %d", y, BlockLength(y))
		}
	}
}

// CommonSlope ignores steps between the sets, and covers the slope as often as its level says.
func TestCommonSlope(t *testing.T) {
	t.Parallel()
	slope, low, high, ok := CommonSlope(.8, Points{[]float64{0, 1, 2, 3, 4, 5}, []float64{0, 2, 4, 6, 8, 10}}, Points{[]float64{10, 12, 14, 16}, []float64{-100, -96, -92, -88}})
	if !ok || slope != 2 || low != 2 || high != 2 {
		t.Error(slope, low, high, ok)
	}
	for _, few := range [][]Points{nil, {{[]float64{1}, []float64{1}}}, {{[]float64{1, 1, 1}, []float64{1, 2, 3}}}, {{[]float64{1, 2}, []float64{1, 2}}}} {
		if _, _, _, ok := CommonSlope(.8, few...); ok {
			t.Errorf("%v has a slope", few)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const tries = 1000
	covered := 0
	for range tries {
		sets := []Points{{}, {}}
		for i := range 12 {
			s := &sets[i/6]
			s.At, s.Values = append(s.At, float64(i)), append(s.Values, .3*float64(i)+rng.NormFloat64()+float64(i/6*50))
		}
		if _, low, high, ok := CommonSlope(.8, sets...); ok && low <= .3 && high >= .3 {
			covered++
		}
	}
	if covered < tries*77/100 || covered > tries*86/100 {
		t.Errorf("%d of %d intervals at 80 %% cover the slope", covered, tries)
	}
}

// The interval of the mean of a correlated series covers the truth nearly as often as its level
// says. An interval that ignores the correlation does not.
func TestBlocksKeepCorrelation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	covered, naive := 0, 0
	const runs = 400
	for run := range runs {
		x := make([]float64, 200)
		for i := 1; i < len(x); i++ {
			x[i] = .7*x[i-1] + rng.NormFloat64()
		}
		for _, c := range []struct {
			length  int
			covered *int
		}{{BlockLength(x), &covered}, {1, &naive}} {
			var means []float64
			ResampleBlocks(len(x), c.length, 400, uint64(run), func(times []int) {
				sum, n := 0., 0
				for i, k := range times {
					sum += float64(k) * x[i]
					n += k
				}
				if n != len(x) {
					t.Fatalf("%d values drawn of %d", n, len(x))
				}
				means = append(means, sum/float64(n))
			})
			if low, high := Central(means, .95); low <= 0 && high >= 0 {
				*c.covered++
			}
		}
	}
	if covered < runs*86/100 || naive > runs*75/100 {
		t.Errorf("of %d intervals %d cover the mean with blocks and %d without", runs, covered, naive)
	}
}

func TestCentral(t *testing.T) {
	t.Parallel()
	if low, high := Central([]float64{7}, .95); low != 7 || high != 7 {
		t.Error(low, high)
	}
	var x []float64
	for i := range 101 {
		x = append(x, float64(100-i))
	}
	if low, high := Central(x, .9); !near(low, 5) || !near(high, 95) {
		t.Error(low, high)
	}
}
