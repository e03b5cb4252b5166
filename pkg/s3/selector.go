package s3

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Selector chooses the host of each request. It is safe for concurrent use, does not allocate, and with one host
// does nothing at all.
type Selector struct {
	hosts int
	turn  atomic.Uint64 // roundrobin: requests so far

	// weighed: the hosts as a heap, the next one to use on top. A scan would do for a dozen hosts, but a heap keeps
	// the lock short for hundreds of them too.
	weighed  bool
	mu       sync.Mutex
	finished uint64 // requests so far; an order is needed, and a clock is neither free nor strictly rising
	load     []hostLoad
	heap     []int32 // indices of load
}

type hostLoad struct {
	inFlight     int
	lastFinished uint64 // when, in finished requests of all hosts; 0: not yet
	place        int32  // in heap
}

// NewSelector takes the value of --host-select. "weighed" (or "") prefers the host with the least requests in
// flight, and among those the one whose last request finished the longest ago, so that faster hosts get more;
// "roundrobin" takes turns.
func NewSelector(strategy string, hosts int) (*Selector, error) {
	s := &Selector{hosts: hosts}
	switch strategy {
	case "weighed", "":
		s.weighed = true
	case "roundrobin":
	default:
		return nil, fmt.Errorf("unknown host selection %q: use weighed or roundrobin", strategy)
	}
	if hosts < 1 {
		return nil, fmt.Errorf("host selection among %d hosts", hosts)
	}
	if s.weighed && hosts > 1 {
		s.load, s.heap = make([]hostLoad, hosts), make([]int32, hosts)
		for i := range s.heap {
			s.heap[i], s.load[i].place = int32(i), int32(i)
		}
	}
	return s, nil
}

// Acquire returns the index of the host for a request. Release must be called with it when the request has finished.
func (s *Selector) Acquire() int {
	switch {
	case s.hosts == 1:
		return 0
	case !s.weighed:
		return int((s.turn.Add(1) - 1) % uint64(s.hosts))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	host := s.heap[0]
	s.load[host].inFlight++
	s.sinkDown(0)
	return int(host)
}

// Release says that a request on the host has finished.
func (s *Selector) Release(host int) {
	if s.hosts == 1 || !s.weighed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished++
	l := &s.load[host]
	l.inFlight--
	l.lastFinished = s.finished
	s.riseUp(int(l.place)) // one request less outweighs having finished last, so a host never sinks here
}

// before tells whether host a is to be used before host b. The index decides between hosts not used yet.
func (s *Selector) before(a, b int32) bool {
	x, y := &s.load[a], &s.load[b]
	switch {
	case x.inFlight != y.inFlight:
		return x.inFlight < y.inFlight
	case x.lastFinished != y.lastFinished:
		return x.lastFinished < y.lastFinished
	}
	return a < b
}

func (s *Selector) sinkDown(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			return
		}
		if child+1 < len(s.heap) && s.before(s.heap[child+1], s.heap[child]) {
			child++
		}
		if !s.before(s.heap[child], s.heap[i]) {
			return
		}
		s.swap(i, child)
		i = child
	}
}

func (s *Selector) riseUp(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !s.before(s.heap[i], s.heap[parent]) {
			return
		}
		s.swap(i, parent)
		i = parent
	}
}

func (s *Selector) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.load[s.heap[i]].place, s.load[s.heap[j]].place = int32(i), int32(j)
}
