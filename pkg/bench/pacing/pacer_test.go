package pacing

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"warp/pkg/hostload"
)

func pacerFor(t *testing.T, rate float64, start, end time.Time) *Pacer {
	t.Helper()
	p, err := New(rate, start, end)
	if err != nil {
		t.Fatal(err)
	}
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
				due, ok := p.Next(context.Background())
				if !ok {
					return
				}
				lag := time.Since(due)
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
		_, _ = p.Next(context.Background())
	}
	p.end = p.start.Add(200 * time.Millisecond)
	if first, n := p.Unsent(p.start, p.end.Add(time.Second)); first != 50 || n != 150 {
		t.Errorf("50 of the 200 arrivals in 200 ms at 1000/s went off, and %d did not", n)
	}
	for _, warmup := range []time.Duration{0, time.Second} {
		early := &Pacer{interval: 1e6, Warmup: warmup, start: time.Now().Add(time.Hour)}
		if n := early.before(-time.Second); n != 0 {
			t.Errorf("warm-up %v: %v arrivals are due a second before the start", warmup, n)
		}
	}
}

// Only what a worker waited for is late because of the client.
func TestPacerLag(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		start    time.Duration
		measured func(time.Time) bool
		noted    bool
	}{
		"workers wait":      {0, nil, true},
		"all is measured":   {0, func(time.Time) bool { return true }, true},
		"all is warm-up":    {0, func(time.Time) bool { return false }, false},
		"workers were busy": {-time.Hour, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pacerFor(t, 2000, time.Now().Add(test.start), time.Time{})
			p.Lag, p.Measured = new(hostload.Lag), test.measured
			for range 200 {
				if _, ok := p.Next(t.Context()); !ok {
					t.Fatal("the schedule ended")
				}
				if test.noted { // this worker is soon back, however busy the machine is
					p.start = time.Now().Add(-p.at(p.taken) + 100*time.Microsecond)
				}
			}
			if got := p.Lag.P99(); got > 0 != test.noted {
				t.Errorf("99 %% of the requests were less than %g s late", got)
			}
		})
	}
}

// BenchmarkPacerLag shows how late arrivals go off: the median should be far
// below what a request takes.
func BenchmarkPacerLag(b *testing.B) {
	p, err := New(2000, time.Now(), time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var lags []time.Duration
	for b.Loop() {
		due, ok := p.Next(context.Background())
		if !ok {
			b.Fatal("the schedule ended")
		}
		lags = append(lags, time.Since(due))
	}
	slices.Sort(lags)
	b.ReportMetric(float64(lags[len(lags)/2].Microseconds()), "p50-µs-late")
	b.ReportMetric(float64(lags[len(lags)*99/100].Microseconds()), "p99-µs-late")
}

func TestPacerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	p := pacerFor(t, 0.01, time.Now(), time.Time{}) // the second arrival is due in 100 s
	_, _ = p.Next(ctx)
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, ok := p.Next(ctx); ok || time.Since(start) > 5*time.Second {
		t.Errorf("next returned %v after %v", ok, time.Since(start))
	}
	if _, n := p.Unsent(p.start, p.start.Add(350*time.Second)); n != 3 {
		t.Errorf("%d arrivals are unsent after 350 s, want 3: those due at 100, 200 and 300 s", n)
	}
}

// The rate rises in a line, and both directions of the schedule agree.
func TestPacerRamp(t *testing.T) {
	t.Parallel()
	p := &Pacer{interval: 1e7, Warmup: 2 * time.Second} // 100/s after 2 s
	for k, want := range map[int64]time.Duration{0: 0, 25: time.Second, 100: 2 * time.Second, 200: 3 * time.Second} {
		if got := p.at(k); (got - want).Abs() > time.Microsecond {
			t.Errorf("arrival %d is due after %s, want %s", k, got, want)
		}
		if back := p.before(want); back < float64(k)-.001 || back > float64(k)+.001 {
			t.Errorf("%g arrivals before %s, want %d", back, want, k)
		}
	}
}
