// Package hostload measures the cost of a run for the client's machine, and reports when that
// machine, rather than the store, was the limit.
package hostload

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A Meter measures the cost of a run for the client from Start to Stop.
type Meter struct {
	Lag Lag // of open loops; one goroutine at a time adds to it

	connections func() int64 // number opened so far
	links       []link

	// Values at the start:
	start     time.Time
	cpu       time.Duration
	waits     map[string]time.Duration // by thread
	idle, all float64                  // see cpuTimes
	opened    int64
	runtime   runtimeState
}

// NewMeter returns a meter for a run against the endpoints. connections returns the number of
// connections opened so far.
func NewMeter(ctx context.Context, endpoints []string, connections func() int64) *Meter {
	return &Meter{connections: connections, links: linksTo(ctx, endpoints)}
}

// Start starts measuring.
func (m *Meter) Start() {
	for i := range m.links {
		m.links[i].begin()
	}
	m.start, m.cpu, m.waits = time.Now(), CPUTime(), threadWaits()
	m.idle, m.all = cpuTimes("/", allowedCPUs())
	m.opened, m.runtime = m.connections(), readRuntime()
}

// Stop returns what has been used since Start.
func (m *Meter) Stop() *Load {
	now := readRuntime()
	wall := time.Since(m.start).Seconds()
	l := &Load{
		CPUSeconds:  (CPUTime() - m.cpu).Seconds(),
		CPUWaitS:    m.waited().Seconds(),
		IdleShare:   m.idleShare(),
		WallSeconds: wall,
		Cores:       cores(),
		MaxRSSBytes: maxRSS(),
		GCPauseS:    (now.pauses - m.runtime.pauses).Seconds(),
		GoSchedS:    now.waits.since(m.runtime.waits).quantile(0.99),
		Connections: m.connections() - m.opened,
		Machine:     machineID("/"),
		Start:       m.start.UTC().Round(0),
		PacingLagS:  m.Lag.P99(),
	}
	if cpus := allowedCPUs(); cpus != nil {
		l.CPUs = cpus.Text(16)
	}
	for _, link := range m.links {
		if share := link.share(wall); share > l.LinkShare {
			l.Link, l.LinkShare = link.name, share
		}
	}
	return l
}

// waited returns how long threads were ready to run but had no core.
func (m *Meter) waited() (sum time.Duration) {
	for thread, wait := range threadWaits() {
		sum += max(0, wait-m.waits[thread])
	}
	return sum
}

// idleShare returns the share of the time in which the CPUs that warp may use were idle.
func (m *Meter) idleShare() float64 {
	idle, all := cpuTimes("/", allowedCPUs())
	if idle, all = idle-m.idle, all-m.all; all <= 0 {
		return 0
	}
	return min(max(0, idle/all), 1)
}

// cores returns the number of cores that warp may use: those it may run on, GOMAXPROCS, or the
// quota of its control group, whichever is the smallest.
func cores() float64 {
	n := float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	if quota := cpuQuota("/"); quota > 0 {
		n = min(n, quota)
	}
	return n
}

// runtimeState contains the cost of Go's scheduler and garbage collector so far.
type runtimeState struct {
	pauses time.Duration
	waits  histogram
}

func readRuntime() runtimeState {
	samples := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return runtimeState{gc.PauseTotal, histogramOf(samples[0])}
}

// A histogram is a copy of one of the runtime's: counts[i] is between borders i and i+1.
type histogram struct {
	counts  []uint64
	borders []float64
}

func histogramOf(s metrics.Sample) histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return histogram{} // the runtime does not have it
	}
	h := s.Value.Float64Histogram()
	return histogram{append([]uint64(nil), h.Counts...), h.Buckets}
}

func (h histogram) since(before histogram) histogram {
	if len(before.counts) != len(h.counts) {
		return h
	}
	d := histogram{make([]uint64, len(h.counts)), h.borders}
	for i := range d.counts {
		d.counts[i] = h.counts[i] - before.counts[i]
	}
	return d
}

// upper returns the finite upper border of bucket i.
func (h histogram) upper(i int) float64 {
	if u := h.borders[i+1]; !math.IsInf(u, 0) {
		return u
	}
	return h.borders[i]
}

func (h histogram) quantile(q float64) float64 {
	var all, seen uint64
	for _, n := range h.counts {
		all += n
	}
	for i, n := range h.counts {
		if seen += n; n > 0 && float64(seen) >= q*float64(all) {
			return h.upper(i)
		}
	}
	return 0
}
