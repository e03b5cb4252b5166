package pacing

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/hostload"
)

func pacerFor(t *testing.T, rate float64, start, end time.Time) *Pacer {
	t.Helper()
	p, err := New(Constant(rate), start, end)
	check.OK(t, err)
	t.Cleanup(p.Close)
	return p
}

// Four workers are held up at once, like by a frozen store: what was due meanwhile goes off late, but it does go off. The
// schedule ends with its last arrival, and not at a time, or a slow machine could leave nothing of it.
func TestPacerDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	const workers, arrivals = 4, 200
	p := pacerFor(t, 1000, time.Now(), time.Time{})
	p.Max = arrivals
	var mu sync.Mutex
	var lags []time.Duration
	var held, done sync.WaitGroup
	held.Add(workers)
	for range workers {
		done.Go(func() {
			for first := true; ; first = false {
				arrival, ok := p.Next(context.Background(), time.Now())
				if !ok {
					return
				}
				lag := time.Since(arrival.Due)
				mu.Lock()
				lags = append(lags, lag)
				mu.Unlock()
				if first {
					held.Done()
					held.Wait()
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	done.Wait()
	late := 0
	for _, l := range lags {
		if l < 0 {
			t.Fatalf("an arrival went off %v before it was due", -l)
		}
		if l > 20*time.Millisecond {
			late++
		}
	}
	// Of those due in the 100 ms, the first 80 are more than 20 ms late, and four of them went off before.
	if late < 80-workers {
		t.Errorf("%d arrivals were more than 20 ms late, want at least the %d of the hold-up", late, 80-workers)
	}
	if len(lags) != arrivals {
		t.Errorf("%d arrivals, want %d", len(lags), arrivals)
	}
}

// What was due when the run ends, and did not go off, is counted.
func TestPacerUnsent(t *testing.T) {
	t.Parallel()
	p := pacerFor(t, 1000, time.Now().Add(-150*time.Millisecond), time.Now().Add(time.Hour))
	for range 50 {
		_, _ = p.Next(context.Background(), time.Now())
	}
	p.end = p.start.Add(200 * time.Millisecond)
	want := Unsent{Count: 150, FirstDue: p.start.Add(50 * time.Millisecond), Interval: 1e6}
	if got := p.Unsent(p.start, p.end.Add(time.Second)); got.Count != want.Count || !got.FirstDue.Equal(want.FirstDue) || math.Abs(got.Interval-want.Interval) > 1e-3 {
		t.Errorf("50 of the 200 arrivals in 200 ms at 1000/s went off; unsent are %+v, want %+v", got, want)
	}
	p.Max = 60
	if got := p.Unsent(p.start, p.end.Add(time.Second)); got.Count != 10 || math.Abs(got.Interval-want.Interval) > 1e-3 {
		t.Errorf("50 of at most 60 arrivals went off; unsent are %+v", got)
	}
	for _, warmup := range []time.Duration{0, time.Second} {
		early := newRate(ramp(warmup, 1000), 1000)
		if n := early.before(-1); n != 0 {
			t.Errorf("warm-up %v: %v arrivals are due a second before the start", warmup, n)
		}
	}
}

// Only what a worker was free for is late because of the client.
func TestPacerLag(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		start    time.Duration
		measured func(time.Time) bool
		behind   time.Duration // of the worker, because of the client
		noted    bool
	}{
		"workers wait":                     {0, nil, 0, true},
		"all is measured":                  {0, func(time.Time) bool { return true }, 0, true},
		"all is warm-up":                   {0, func(time.Time) bool { return false }, 0, false},
		"workers were busy":                {-time.Hour, nil, 0, false},
		"workers were busy for the client": {-time.Hour, nil, 2 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pacerFor(t, 2000, time.Now().Add(test.start), time.Time{})
			p.Lag, p.Measured = new(hostload.Lag), test.measured
			for range 200 {
				if _, ok := p.Next(t.Context(), time.Now().Add(-test.behind)); !ok {
					t.Fatal("the schedule ended")
				}
				if test.noted && test.behind == 0 { // this worker is soon back, however busy the machine is
					after, _ := p.times.next()
					p.start = time.Now().Add(100*time.Microsecond - after)
				}
			}
			if got := p.Lag.P99(); got > 0 != test.noted {
				t.Errorf("99 %% of the requests were less than %g s late", got)
			}
		})
	}
}

// listedTimes are arrivals of which the last one cannot be read if it is negative.
type listedTimes []time.Duration

func (l listedTimes) Count() int64 { return int64(len(l)) }

func (l listedTimes) Due(n int64) (time.Duration, error) {
	if l[n] < 0 {
		return 0, errors.New("the list is damaged")
	}
	return l[n], nil
}

// Arrivals that are known beforehand go off in their order and at their times, and then nothing is left. Several may be due at once.
func TestListedTimes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	times := listedTimes{0, 5 * ms, 5 * ms, 20 * ms, 400 * ms, 500 * ms}
	start := time.Now()
	p, err := New(Schedule{Times: times}, start, time.Time{})
	check.OK(t, err)
	defer p.Close()
	for i := range int64(4) {
		if a, ok := p.Next(t.Context(), time.Now()); !ok || a.Number != i || a.Due.Sub(start) != times[i] || time.Now().Before(a.Due) {
			t.Errorf("arrival %d is %+v, %v, want it after %v", i, a, ok, times[i])
		}
	}
	if u := p.Unsent(start, start.Add(time.Second)); u.Count != 2 || u.FirstDue.Sub(start) != 400*ms || u.Interval != 100e6 {
		t.Errorf("unsent are %+v, want the last two", u)
	}
	if u := p.Unsent(start.Add(450*ms), start.Add(time.Second)); u.Count != 1 || u.FirstDue.Sub(start) != 500*ms {
		t.Errorf("unsent from 450 ms on are %+v, want the last one", u)
	}
	if u := p.Unsent(start, start.Add(400*ms)); u.Count != 0 {
		t.Errorf("unsent before 400 ms are %+v, want none", u)
	}
	for range 2 {
		_, _ = p.Next(t.Context(), time.Now())
	}
	if a, ok := p.Next(t.Context(), time.Now()); ok || !p.Done() || p.Err() != nil {
		t.Errorf("after the last arrival there is %+v; done: %v, %v", a, p.Done(), p.Err())
	}
}

// Times that cannot be read end the arrivals, and the error says why.
func TestDamagedTimes(t *testing.T) {
	t.Parallel()
	p, err := New(Schedule{Times: listedTimes{0, -1}}, time.Now(), time.Time{})
	check.OK(t, err)
	defer p.Close()
	_, first := p.Next(t.Context(), time.Now())
	_, second := p.Next(t.Context(), time.Now())
	if !first || second || p.Err() == nil || p.Done() {
		t.Errorf("%v, %v, %v", first, second, p.Err())
	}
}

// BenchmarkPacerLag shows how late arrivals go off: the median should be far
// below what a request takes.
func BenchmarkPacerLag(b *testing.B) {
	p, err := New(Constant(2000), time.Now(), time.Time{})
	check.OK(b, err)
	defer p.Close()
	var lags []time.Duration
	for b.Loop() {
		arrival, ok := p.Next(context.Background(), time.Now())
		if !ok {
			b.Fatal("the schedule ended")
		}
		lags = append(lags, time.Since(arrival.Due))
	}
	slices.Sort(lags)
	b.ReportMetric(float64(lags[len(lags)/2].Microseconds()), "p50-µs-late")
	b.ReportMetric(float64(lags[len(lags)*99/100].Microseconds()), "p99-µs-late")
}

func TestPacerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	p := pacerFor(t, 0.01, time.Now(), time.Time{}) // the second arrival is due in 100 s
	_, _ = p.Next(ctx, time.Now())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, ok := p.Next(ctx, time.Now()); ok || time.Since(start) > 5*time.Second {
		t.Errorf("next returned %v after %v", ok, time.Since(start))
	}
	if u := p.Unsent(p.start, p.start.Add(350*time.Second)); u.Count != 3 {
		t.Errorf("%d arrivals are unsent after 350 s, want 3: those due at 100, 200 and 300 s", u.Count)
	}
}

// ramp returns stages in which the rate rises from 0.
func ramp(length time.Duration, rate float64) []Stage {
	return []Stage{{Length: length, To: rate}}
}

// The rate rises in a line, and both directions of the schedule agree.
func TestPacerRamp(t *testing.T) {
	t.Parallel()
	r := newRate(ramp(2*time.Second, 100), 100)
	for k, want := range map[float64]float64{0: 0, 25: 1, 100: 2, 200: 3} {
		if got := r.at(k); math.Abs(got-want) > 1e-6 {
			t.Errorf("arrival %g is due after %g s, want %g", k, got, want)
		}
		if back := r.before(want); math.Abs(back-k) > .001 {
			t.Errorf("%g arrivals before %g s, want %g", back, want, k)
		}
	}
}

// Stages follow one another, whether the rate rises, falls or rests, and nothing is due after the last one.
func TestStages(t *testing.T) {
	t.Parallel()
	r := newRate([]Stage{{time.Minute, 1000, 1000}, {5 * time.Minute, 1000, 5000}, {time.Minute, 0, 0}, {time.Minute, 5000, 1000}}, 0)
	for _, point := range []struct{ s, arrivals float64 }{{60, 60_000}, {120, 60_000 + 60*1400}, {360, 960_000}, {450, 960_000 + 30*4000}, {480, 1_140_000}} {
		if got := r.before(point.s); math.Abs(got-point.arrivals) > 1e-6 {
			t.Errorf("%g arrivals before %g s, want %g", got, point.s, point.arrivals)
		}
		if got := r.at(point.arrivals - 1e-3); math.Abs(got-point.s) > 1e-3 {
			t.Errorf("arrival %g is due after %g s, want %g", point.arrivals, got, point.s)
		}
	}
	if got := r.at(960_000); got != 420 {
		t.Errorf("after a stage without arrivals, the next one is due after %g s, want 420", got)
	}
	if got := r.at(1_140_000); !math.IsInf(got, 1) {
		t.Errorf("an arrival is due after the last stage, after %g s", got)
	}
}

// arrivals returns when the first n arrivals are due, in s.
func arrivals(a Arrivals, rate float64, n int) (due []float64) {
	s, r := newSequence(a, nil), newRate(nil, rate)
	for range n {
		due = append(due, r.at(s.next))
		s.take()
	}
	return due
}

// The gaps of Poisson arrivals are exponential, by Anderson and Darling's test, and no gap depends on the one before it.
func TestPoissonArrivals(t *testing.T) {
	t.Parallel()
	const rate, n = 500, 20_000
	due := arrivals(Arrivals{Poisson: true, Seed: 1}, rate, n)
	gaps := make([]float64, n)
	for i, at := range due {
		gaps[i] = at
		if i > 0 {
			gaps[i] -= due[i-1]
		}
	}
	later := make([]float64, n-1)
	for i := range later {
		later[i] = (1 - math.Exp(-rate*gaps[i])) * (1 - math.Exp(-rate*gaps[i+1])) // mean 1/4 if independent
	}
	mean := 0.0
	for _, x := range later {
		mean += x / float64(len(later))
	}
	if math.Abs(mean-0.25) > 5*0.22/math.Sqrt(n) {
		t.Errorf("neighbouring gaps depend on each other: the mean product of their quantiles is %.4f, want 0.25", mean)
	}
	slices.Sort(gaps)
	sum := 0.0
	for i, gap := range gaps {
		back := gaps[n-1-i]
		sum += float64(2*i+1) * (math.Log(-math.Expm1(-rate*gap)) - rate*back)
	}
	// The distribution is known entirely; a hundredth of such samples have more than 3.857.
	if a := -n - sum/n; a > 3.857 {
		t.Errorf("A² is %.2f, so the gaps are not exponential", a)
	}
	if again := arrivals(Arrivals{Poisson: true, Seed: 1}, rate, 10); !slices.Equal(again, due[:10]) {
		t.Error("the same seed has other arrivals")
	}
	if other := arrivals(Arrivals{Poisson: true, Seed: 1, Stream: 1}, rate, 10); slices.Equal(other, due[:10]) {
		t.Error("another client has the same arrivals")
	}
}

// The sum of the clients' even schedules is even.
func TestEvenArrivalsOfManyClients(t *testing.T) {
	t.Parallel()
	const clients, rate, each = 4, 100.0, 50
	var all []float64
	for c := range clients {
		all = append(all, arrivals(Arrivals{Client: c, Clients: clients}, rate, each)...)
	}
	slices.Sort(all)
	for i, at := range all {
		if want := float64(i) / (clients * rate); math.Abs(at-want) > 1e-9 {
			t.Fatalf("arrival %d of all is due after %g s, want %g", i, at, want)
		}
	}
}

// Counted arrivals are as many in each stage as its rate says, over all clients together, and at random within it.
func TestCountedArrivals(t *testing.T) {
	t.Parallel()
	const clients = 3
	counts := []int{120, 0, 0, 1, 7, 133, 500}
	var stages []Stage
	for _, n := range counts {
		each := float64(n) / clients
		stages = append(stages, Stage{time.Second, each, each})
	}
	r := newRate(stages, 0)
	var places []float64
	got := make([]int, len(counts))
	for c := range clients {
		s := newSequence(Arrivals{Poisson: true, Counted: true, Seed: 3, Stream: c, Client: c, Clients: clients}, r.ends())
		whole, all := *s, int64(0)
		whole.random = s.random.Clone()
		for last := 0.0; !math.IsInf(s.next, 1); s.take() {
			at := r.at(s.next)
			if at < last {
				t.Fatalf("client %d: an arrival after %g s follows one after %g s", c, at, last)
			}
			last = at
			second, place := math.Modf(at)
			got[int(second)]++
			places = append(places, place)
			all++
		}
		if _, _, n := whole.rest(0, r.before(math.Inf(1))+1); n != all {
			t.Errorf("client %d: %d arrivals are left at first, want %d", c, n, all)
		}
	}
	if !slices.Equal(got, counts) {
		t.Errorf("%v arrivals in each second, want %v", got, counts)
	}
	slices.Sort(places)
	n, d := float64(len(places)), 0.0
	for i, at := range places {
		d = max(d, at-float64(i)/n, float64(i+1)/n-at)
	}
	if d > 1.95/math.Sqrt(n) { // the Kolmogorov-Smirnov test at 0.1 %
		t.Errorf("the arrivals are not at random within the seconds: they differ by %.3f", d)
	}
}

// What was not sent of Poisson arrivals is what would have come next.
func TestPoissonUnsent(t *testing.T) {
	t.Parallel()
	due := arrivals(Arrivals{Poisson: true, Seed: 2}, 1, 1000)
	s := newSequence(Arrivals{Poisson: true, Seed: 2}, nil)
	for range 400 {
		s.take()
	}
	from, to := due[500]-1e-9, due[900]+1e-9
	if first, last, n := s.rest(from, to); n != 401 || math.Abs(first-due[500]) > 1e-9 || math.Abs(last-due[900]) > 1e-9 {
		t.Errorf("%d arrivals from %g to %g are left, want 401 from %g to %g", n, first, last, due[500], due[900])
	}
	if math.Abs(s.next-due[400]) > 1e-9 {
		t.Error("counting the rest took arrivals")
	}
	if _, _, n := s.rest(0, 1e12); math.Abs(float64(n)-1e12) > 5e6 {
		t.Errorf("%d of 10^12 arrivals are left", n)
	}
}

func TestParseStages(t *testing.T) {
	t.Parallel()
	stages, err := ParseStages("1m@1000, 5m @ 1000..5000,30s@0..2.5")
	check.OK(t, err)
	want := []Stage{{time.Minute, 1000, 1000}, {5 * time.Minute, 1000, 5000}, {30 * time.Second, 0, 2.5}}
	if !slices.Equal(stages, want) {
		t.Errorf("%v", stages)
	}
	for i, s := range stages {
		if again, err := ParseStages(s.String()); err != nil || again[0] != stages[i] {
			t.Errorf("%s became %v: %v", s, again, err)
		}
	}
	for text, want := range map[string]string{
		"": "want TIME@RATE", "1m": "want TIME@RATE", "x@1": "not a time", "10ms@1": "at least 1s", "1m@x": "not a number of requests", "1m@1..": "not a number of requests",
		"1m@-1": "not a number", "1m@NaN": "not a number", "1m@0": "no request", "1m@1e300": "not a number", "1m@5,": "want TIME@RATE",
	} {
		if _, err := ParseStages(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for since, want := range map[time.Duration]int{0: 0, 59 * time.Second: 0, time.Minute: 1, 6 * time.Minute: 2, time.Hour: 2} {
		if got := StageAt(stages, since); got != want {
			t.Errorf("stage %d after %v, want %d", got, since, want)
		}
	}
}
