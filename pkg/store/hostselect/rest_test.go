package hostselect

import (
	"testing"
	"testing/synctest"
	"time"
)

// A host that refuses connections looks idle. It gets a request now and then, and its share once it
// accepts connections again.
func TestSelectorLetsDeadHostsRest(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		synctest.Test(t, func(t *testing.T) {
			s := mustSelector(t, strategy, 3)
			alive := false
			requests := make([]int, 3)
			run := func(d time.Duration) []int {
				clear(requests)
				for end := time.Now().Add(d); time.Now().Before(end); {
					h := s.Acquire()
					requests[h]++
					if h == 0 && !alive {
						s.Refuse(h)
						continue
					}
					time.Sleep(time.Millisecond)
					s.Release(h)
				}
				return requests
			}
			if run(20 * time.Second); requests[0] > 12 || requests[0] < 6 || requests[1] < 9000 || requests[2] < 9000 {
				t.Errorf("%s: of three hosts the first of which is dead they got %v", strategy, requests)
			}
			alive = true
			run(15 * time.Second)
			if run(3 * time.Second); requests[0] < 900 {
				t.Errorf("%s: back again, it gets %v", strategy, requests)
			}
		})
	}
}

// If all hosts are dead, each is tried, so that the errors come from all of them.
func TestSelectorOfDeadHosts(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		s := mustSelector(t, strategy, 3)
		var requests [3]int
		for range 300 {
			h := s.Acquire()
			requests[h]++
			s.Refuse(h)
		}
		if min(requests[0], requests[1], requests[2]) < 50 {
			t.Errorf("%s: dead hosts got %v", strategy, requests)
		}
	}
}
