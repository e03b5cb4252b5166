package monitor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"warp/pkg/counter"
)

// endsAt feeds a run of up to ten minutes with one point per second, whose throughput rate returns.
// It returns the second in which the run was found steady; 0 = never.
func endsAt(s *Steadiness, rate func(second float64) float64) int {
	const start = int64(1_700_000_000e9)
	done := 0.
	for second := 1; second <= 600; second++ {
		done += rate(float64(second))
		elapsed := time.Duration(second) * time.Second
		s.Add(&Snapshot{Ops: []Op{{Op: "GET", Counter: counter.Counter{Bytes: uint64(done), Objects: 1}, Elapsed: elapsed}}}, start+int64(elapsed))
		if _, ok := s.Reached(); ok {
			return second
		}
	}
	return 0
}

func TestSteadiness(t *testing.T) {
	t.Parallel()
	noise := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	little, much := noise(), noise()
	for name, c := range map[string]struct {
		rate     func(float64) float64
		from, to int // the range of seconds in which it must end; 0, 0 = never
	}{
		"flat":         {func(float64) float64 { return 1e9 }, 54, 54}, // 7/25 of it are 15 s
		"nothing":      {func(float64) float64 { return 0 }, 0, 0},
		"little noise": {func(float64) float64 { return 1e9 * (1 + 0.02*little.NormFloat64()) }, 54, 80},
		// Noise that averages out as the samples grow.
		"much noise":  {func(float64) float64 { return 1e9 * (0.5 + much.Float64()) }, 80, 600},
		"steep drift": {func(s float64) float64 { return 1e9 * math.Exp(s/100) }, 0, 0},
		// 30 % in ten minutes is within the percentage from one sample to the seventh, but it is a
		// trend.
		"slow drift": {func(s float64) float64 { return 1e9 * (1 + s/2000) }, 0, 0},
		"slow fall":  {func(s float64) float64 { return 1e9 * (1 - s/2000) }, 0, 0},
		// A cache that fills up after a while: steady again when the step is no longer in the last
		// 7 of 25.
		"step":     {func(s float64) float64 { return map[bool]float64{true: 2e9, false: 1e9}[s <= 50] }, 68, 72},
		"sawtooth": {func(s float64) float64 { return 1e9 * (1 + math.Mod(s, 100)/100) }, 0, 0},
		// Short teeth average out once a sample is about as long as one.
		"short teeth": {func(s float64) float64 { return 1e9 * (1 + math.Mod(s, 10)/10) }, 80, 400},
		"stops":       {func(s float64) float64 { return map[bool]float64{true: 1e9, false: 0}[s < 50] }, 0, 0},
	} {
		got := endsAt(&Steadiness{Percent: 7.5, For: 15 * time.Second}, c.rate)
		if got < c.from || got > c.to {
			t.Errorf("%s: ended in second %d, want between %d and %d", name, got, c.from, c.to)
		}
	}
}

// TestSteadinessOfAll checks that a run stays open until its last operation is steady.
func TestSteadinessOfAll(t *testing.T) {
	t.Parallel()
	s := Steadiness{Percent: 7.5, For: 15 * time.Second}
	var put float64
	for second := 1; second <= 300; second++ {
		put += 1000 * math.Exp(float64(second)/50)
		elapsed := time.Duration(second) * time.Second
		s.Add(&Snapshot{Ops: []Op{
			{Op: "STAT", Counter: counter.Counter{Objects: uint64(100 * second)}, Elapsed: elapsed},
			{Op: "PUT", Counter: counter.Counter{Objects: uint64(put), Bytes: uint64(put)}, Elapsed: elapsed},
		}}, int64(elapsed)+1e18)
		if why, ok := s.Reached(); ok {
			t.Fatalf("second %d: %s", second, why)
		}
	}
}

func TestSteadinessSaysWhy(t *testing.T) {
	t.Parallel()
	s := Steadiness{Percent: 7.5, For: 15 * time.Second}
	if got := endsAt(&s, func(second float64) float64 { return 1e9 + 1e7*math.Mod(second, 2) }); got == 0 {
		t.Fatal("never ended")
	}
	why, _ := s.Reached()
	if why != "GET within 0.06 % of 958.09 MiB/s for 15s" {
		t.Errorf("%q", why)
	}
	// If nothing moves payload, objects count, even next to an operation that does.
	s = Steadiness{Percent: 7.5, For: 15 * time.Second}
	for second := 1; second <= 60; second++ {
		elapsed := time.Duration(second) * time.Second
		s.Add(&Snapshot{Ops: []Op{
			{Op: "PUT", Counter: counter.Counter{Objects: uint64(second), Bytes: uint64(second) << 20}, Elapsed: elapsed},
			{Op: "STAT", Counter: counter.Counter{Objects: uint64(1000 * second)}, Elapsed: elapsed},
		}}, 1e18+int64(elapsed))
	}
	if why, _ := s.Reached(); why != "PUT within 0 % of 1.00 MiB/s for 17s, STAT within 0 % of 1000.00 obj/s for 17s" {
		t.Errorf("%q", why)
	}
}

func TestPercentText(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{0: "0", 3e-15: "0", 0.00055: "0.06", 0.0123: "1.2", 0.075: "7.5", 0.52: "52", 0.9999: "100", 1: "100"} {
		if got := percentText(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

// The percentage applies to both sides of the newest sample.
func TestSteady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples []float64
		percent float64
		want    bool
	}{
		{[]float64{100, 100, 100}, 0.1, true},
		{[]float64{107.5, 92.5, 100}, 7.5, true},
		{[]float64{107.6, 100, 100}, 7.5, false},
		{[]float64{92.4, 100, 100}, 7.5, false},
		{[]float64{96, 104, 96}, 7.5, false}, // 8 of 96 are more
		{[]float64{0, 0, 0}, 100, false},
		{[]float64{100, 100, 0}, 100, false},
		{[]float64{0, 100, 100}, 100, true},
	} {
		if got := isSteady(c.samples, c.percent); got != c.want {
			t.Errorf("%v within %v %%: %v", c.samples, c.percent, got)
		}
	}
}

// TestSteadinessForgets compares a long run's verdict with and without dropped points.
func TestSteadinessForgets(t *testing.T) {
	t.Parallel()
	op := steadyOp{points: []steadyPoint{{}}}
	for i := 1; i < 3*maxPoints; i++ {
		op.points = append(op.points, steadyPoint{at: time.Duration(i) * time.Second, objects: float64(i)})
		if len(op.points) > maxPoints {
			op.thin()
		}
	}
	if len(op.points) > maxPoints {
		t.Fatalf("%d points are kept", len(op.points))
	}
	samples, length := op.samples()
	for i, v := range samples {
		if math.Abs(v-length.Seconds()) > 1e-6*v {
			t.Errorf("sample %d: %g, want %g", i, v, length.Seconds())
		}
	}
}
