package bench

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestPacerDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	start := time.Now()
	p := newPacer(1000, start)
	end := start.Add(200 * time.Millisecond)
	var mu sync.Mutex
	var lags []time.Duration
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			first := true
			for {
				due, ok := p.next(context.Background(), end)
				if !ok {
					return
				}
				lag := time.Since(due)
				mu.Lock()
				lags = append(lags, lag)
				mu.Unlock()
				if first { // all workers are held up at once, like by a frozen store
					time.Sleep(100 * time.Millisecond)
					first = false
				}
			}
		})
	}
	wg.Wait()
	late := 0
	for _, l := range lags {
		if l < 0 {
			t.Fatalf("an arrival went off %v before it was due", -l)
		}
		if l > 20*time.Millisecond {
			late++
		}
	}
	// What was due in the 100 ms goes off late, but it does go off.
	if late < 70 || late > 110 {
		t.Errorf("%d arrivals were more than 20 ms late, want about 80 to 100", late)
	}
	if n := len(lags); n < 195 || n > 200 {
		t.Errorf("%d arrivals in 200 ms at 1000/s, want 200", n)
	}
}

func TestPacerIsExact(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(5 * time.Millisecond)
	p := newPacer(500, start)
	var lags []time.Duration
	for range 100 {
		due, ok := p.next(context.Background(), time.Time{})
		if !ok {
			t.Fatal("the schedule ended")
		}
		lags = append(lags, time.Since(due))
	}
	slices.Sort(lags)
	if median := lags[len(lags)/2]; median > time.Millisecond {
		t.Errorf("the median arrival is %v late", median)
	}
}

func TestPacerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	p := newPacer(0.01, time.Now()) // the second arrival is due in 100 s
	_, _ = p.next(ctx, time.Time{})
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, ok := p.next(ctx, time.Time{}); ok || time.Since(start) > 5*time.Second {
		t.Errorf("next returned %v after %v", ok, time.Since(start))
	}
	if n := p.offered(p.start.Add(250 * time.Second)); n != 3 {
		t.Errorf("%d arrivals were offered by 250 s, want 3 (at 0, 100 and 200 s)", n)
	}
}
