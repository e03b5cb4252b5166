// Package hostload measures what a run costs the machine that makes it, and
// says where that machine, and not the store, was the limit.
package hostload

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A Meter measures what a run costs the client itself, from Start to Stop.
type Meter struct {
	Lag Lag // of open loops; whoever paces adds to it, one at a time

	connections func() int64 // opened so far
	links       []link

	// At the start:
	start     time.Time
	cpu       time.Duration
	waits     map[string]time.Duration // of threads
	idle, all float64                  // see cpuTimes
	opened    int64
	runtime   runtimeState
}

// NewMeter returns a meter for a run against the endpoints, of which
// connections counts the connections opened so far.
func NewMeter(ctx context.Context, endpoints []string, connections func() int64) *Meter {
	return &Meter{connections: connections, links: linksTo(ctx, endpoints)}
}

// Start begins to measure.
func (m *Meter) Start() {
	for i := range m.links {
		m.links[i].begin()
	}
	m.start, m.cpu, m.waits = time.Now(), cpuTime(), threadWaits()
	m.idle, m.all = cpuTimes("/", allowedCPUs())
	m.opened, m.runtime = m.connections(), readRuntime()
}

// Stop returns what has been used since Start.
func (m *Meter) Stop() *Load {
	now := readRuntime()
	wall := time.Since(m.start).Seconds()
	l := &Load{
		CPUSeconds:  (cpuTime() - m.cpu).Seconds(),
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

// waited is how long threads have been ready to run without getting a core.
func (m *Meter) waited() (sum time.Duration) {
	for thread, wait := range threadWaits() {
		sum += max(0, wait-m.waits[thread])
	}
	return sum
}

// idleShare is the share of the time in which the CPUs that warp may use had
// nothing to do, be it for warp or for others.
func (m *Meter) idleShare() float64 {
	idle, all := cpuTimes("/", allowedCPUs())
	if idle, all = idle-m.idle, all-m.all; all <= 0 {
		return 0
	}
	return min(max(0, idle/all), 1)
}

// cores is how many cores' time warp may use: those that it may run on, those
// that it runs on, or what its control group grants, whichever is least.
func cores() float64 {
	n := float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	if quota := cpuQuota("/"); quota > 0 {
		n = min(n, quota)
	}
	return n
}

// runtimeState is what Go's scheduler and collector have cost so far.
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

// A histogram is one of the runtime's, copied: counts[i] is between borders i
// and i+1.
type histogram struct {
	counts  []uint64
	borders []float64
}

func histogramOf(s metrics.Sample) histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return histogram{} // a runtime that does not have it
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

// upper is the finite upper border of bucket i.
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
