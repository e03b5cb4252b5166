package hostselect

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warp/internal/check"
)

func mustSelector(t testing.TB, strategy string, hosts int) *Selector {
	t.Helper()
	s, err := New(strategy, hosts)
	check.OK(t, err)
	return s
}

func TestNewSelectorErrors(t *testing.T) {
	t.Parallel()
	if _, err := New("random", 2); err == nil {
		t.Error("an unknown strategy is accepted")
	}
	if _, err := New("weighed", 0); err == nil {
		t.Error("no hosts are accepted")
	}
}

func TestSelectorOneHost(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin", ""} {
		s := mustSelector(t, strategy, 1)
		for range 3 {
			if got := s.Acquire(); got != 0 {
				t.Errorf("%s: host %d of one", strategy, got)
			}
			s.Release(0)
		}
	}
}

func TestSelectorRoundRobin(t *testing.T) {
	t.Parallel()
	s := mustSelector(t, "roundrobin", 3)
	var got []int
	for range 7 {
		got = append(got, s.Acquire())
	}
	if want := []int{0, 1, 2, 0, 1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("hosts %v, want %v", got, want)
	}
}

// The heap chooses as a scan that follows the definition.
func TestSelectorWeighedIsAsDefined(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{2, 3, 7, 64} {
		s := mustSelector(t, "weighed", hosts)
		r := rand.New(rand.NewPCG(1, uint64(hosts)))
		inFlight, last := make([]int, hosts), make([]int, hosts)
		var running []int
		for step := range 20_000 {
			if len(running) > 0 && r.IntN(2*hosts) < len(running) {
				i := r.IntN(len(running))
				host := running[i]
				running = slices.Delete(running, i, i+1)
				s.Release(host)
				inFlight[host]--
				last[host] = step + 1
				continue
			}
			want := 0
			for h := range hosts {
				if inFlight[h] < inFlight[want] || inFlight[h] == inFlight[want] && last[h] < last[want] {
					want = h
				}
			}
			got := s.Acquire()
			if got != want {
				t.Fatalf("%d hosts, step %d: host %d, want %d", hosts, step, got, want)
			}
			inFlight[got]++
			running = append(running, got)
		}
	}
}

// requestsPerHost runs workers for a simulated second. A request on host i takes the i-th time.
func requestsPerHost(t *testing.T, strategy string, workers int, times []time.Duration) []int {
	counts := make([]int, len(times))
	synctest.Test(t, func(t *testing.T) {
		s := mustSelector(t, strategy, len(times))
		var mu sync.Mutex
		var wg sync.WaitGroup
		end := time.Now().Add(time.Second)
		for range workers {
			wg.Go(func() {
				for time.Now().Before(end) {
					host := s.Acquire()
					time.Sleep(times[host])
					s.Release(host)
					mu.Lock()
					counts[host]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	})
	return counts
}

func TestSelectorWeighedPrefersFastHosts(t *testing.T) {
	t.Parallel()
	counts := requestsPerHost(t, "weighed", 8, []time.Duration{time.Millisecond, time.Millisecond, 10 * time.Millisecond, time.Millisecond})
	for _, fast := range []int{0, 1, 3} {
		if counts[fast] < 7*counts[2] {
			t.Errorf("requests by host %v: host 2 is ten times slower and has more than a seventh", counts)
		}
	}
	if counts[2] < 100 {
		t.Errorf("requests by host %v: host 2 is starved", counts)
	}
}

func TestSelectorIsFair(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		for _, workers := range []int{1, 5, 32} {
			counts := requestsPerHost(t, strategy, workers, slices.Repeat([]time.Duration{time.Millisecond}, 4))
			if low, high := slices.Min(counts), slices.Max(counts); float64(high) > 1.1*float64(low) {
				t.Errorf("%s, %d workers: equal hosts got %v requests", strategy, workers, counts)
			}
		}
	}
}

func TestSelectorConcurrentUse(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		s := mustSelector(t, strategy, 5)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5000 {
					s.Release(s.Acquire())
				}
			})
		}
		wg.Wait()
		for host, l := range s.load {
			if l.inFlight != 0 {
				t.Errorf("%s: host %d has %d requests in flight after the end", strategy, host, l.inFlight)
			}
		}
	}
}

func TestSelectorDoesNotAllocate(t *testing.T) {
	s := mustSelector(t, "weighed", 16)
	if n := testing.AllocsPerRun(100, func() { s.Release(s.Acquire()) }); n != 0 {
		t.Errorf("a request allocates %v times", n)
	}
}

func BenchmarkSelector(b *testing.B) {
	for _, c := range []struct {
		strategy string
		hosts    int
	}{{"weighed", 1}, {"weighed", 8}, {"weighed", 256}, {"roundrobin", 8}} {
		s := mustSelector(b, c.strategy, c.hosts)
		b.Run(c.strategy, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.Release(s.Acquire())
				}
			})
		})
	}
}
