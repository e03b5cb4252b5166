// Package hostselect chooses the host of each request, and avoids hosts that refuse connections.
package hostselect

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Selector chooses the host of each request. It is safe for concurrent use and does not allocate.
// With one host it does nothing.
//
// A host that refuses connections has nothing in flight, so it would be preferred. Instead it
// rests: it gets one request after each of a series of growing pauses, until one of them is
// answered. If all hosts rest, they are chosen as if none did.
type Selector struct {
	hosts   int
	turn    atomic.Uint64 // roundrobin: requests so far
	resting atomic.Int32  // number of resting hosts

	// weighed: the hosts as a heap with the next one to use on top. A scan would suffice for a
	// dozen hosts, but a heap keeps the lock short for hundreds too.
	weighed  bool
	mu       sync.Mutex
	finished uint64 // requests so far; it provides an order, and a clock costs more and does not strictly rise
	load     []hostLoad
	heap     []int32 // indices of load
}

type hostLoad struct {
	inFlight     int
	lastFinished uint64 // value of finished at its last request; 0 = never
	place        int32  // index in heap

	refusals int       // pauses so far; 0 = it does not rest
	until    time.Time // end of the pause
	probed   bool      // the request after the pause has been sent
}

// The pauses of a host that refuses connections.
const (
	firstRest = 100 * time.Millisecond
	maxRest   = 10 * time.Second
)

func (l *hostLoad) rests() bool { return l.refusals > 0 }

// due reports whether it is time to try a resting host again.
func (l *hostLoad) due(now time.Time) bool { return !l.probed && !now.Before(l.until) }

// New returns a selector for a value of --host-select. "weighed" (or "") prefers the host with the
// fewest requests in flight. Among equals it prefers the host whose last request finished the
// longest ago, so that faster hosts get more. "roundrobin" uses the hosts in order.
func New(strategy string, hosts int) (*Selector, error) {
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
	if hosts > 1 {
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
		return s.next()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	host, ok := s.dueHost()
	if !ok {
		host = s.heap[0]
	}
	l := &s.load[host]
	l.inFlight++
	s.sinkDown(int(l.place))
	return int(host)
}

// next returns the next host that does not rest.
func (s *Selector) next() int {
	advance := func() int { return int((s.turn.Add(1) - 1) % uint64(s.hosts)) }
	host := advance()
	if s.resting.Load() == 0 {
		return host
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if host, ok := s.dueHost(); ok {
		return int(host)
	}
	for range s.hosts {
		if !s.load[host].rests() {
			return host
		}
		host = advance()
	}
	return host
}

// dueHost returns a resting host that is due for another try.
func (s *Selector) dueHost() (host int32, ok bool) {
	if s.resting.Load() == 0 {
		return 0, false
	}
	now := time.Now()
	for i := range s.load {
		if l := &s.load[i]; l.rests() && l.due(now) {
			l.probed = true
			return int32(i), true
		}
	}
	return 0, false
}

// Release ends a request on the host.
func (s *Selector) Release(host int) {
	if s.hosts == 1 || !s.weighed && s.resting.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.load[host]
	if l.rests() {
		l.refusals, l.probed = 0, false
		s.resting.Add(-1)
	}
	s.finish(l)
	s.riseUp(int(l.place)) // one request less outweighs having finished last, so a host never moves down here
}

// Refuse ends a request that could not connect to the host.
func (s *Selector) Refuse(host int) {
	if s.hosts == 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, now := &s.load[host], time.Now()
	if !l.rests() {
		s.resting.Add(1)
	}
	if !l.rests() || !now.Before(l.until) { // otherwise it is one of several that were in flight
		l.until = now.Add(min(firstRest<<min(l.refusals, 10), maxRest))
		l.refusals++
		l.probed = false
	}
	s.finish(l)
	s.riseUp(int(l.place))
	s.sinkDown(int(l.place))
}

func (s *Selector) finish(l *hostLoad) {
	if s.weighed {
		s.finished++
		l.inFlight--
		l.lastFinished = s.finished
	}
}

// before reports whether to use host a before host b. The index decides between hosts that were
// never used.
func (s *Selector) before(a, b int32) bool {
	x, y := &s.load[a], &s.load[b]
	switch {
	case x.rests() != y.rests():
		return y.rests()
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
