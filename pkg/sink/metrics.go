package sink

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/pkg/counter"
	"warp/pkg/oplog"
)

// Limits on the number of series. Anything beyond them is counted under otherLabel, so that neither
// odd stores nor odd clients make Prometheus keep an unlimited number of series.
const (
	maxSeries   = 2048 // pairs of operation and endpoint
	maxFailures = 1024 // pairs of a series and an error code
	maxLabel    = 256  // bytes
	otherLabel  = "other"
)

// latencyBuckets double from 64 µs to about two minutes: fast stores answer
// in a tenth of a millisecond, slow ones are cut off after a minute.
const (
	minBucket      = 64 * time.Microsecond
	latencyBuckets = 22
)

// Counts are the figures of one process so far, in a form for Prometheus.
type Counts struct {
	series   []series
	failures []failure
	inFlight []flight
}

// A series is one operation at one endpoint.
type series struct {
	counter.Counter
	place
	duration, ttfb, wire histogram
}

// A failure counts the failed requests of a series with one code.
type failure struct {
	failing
	requests uint64
}

// A flight counts the requests in flight of an operation.
type flight struct {
	op       string
	requests uint64
}

// A histogram counts times. The last bucket is for all longer times.
type histogram [latencyBuckets + 1]uint64

func (h *histogram) add(d time.Duration) {
	n := 0
	for n < latencyBuckets && d > minBucket<<n {
		n++
	}
	h[n]++
}

// Metrics is a recording.Sink that keeps Counts for Prometheus.
type Metrics struct {
	client string

	mu       sync.Mutex
	counts   Counts
	places   index[place]   // index of series
	failures index[failing] // index of failures
}

// A failing is the key of a failure.
type failing struct {
	place
	code string
}

func (d *Destinations) openMetrics(_ context.Context, client string, _ func(string)) (Export, error) {
	if !d.Metrics {
		return nil, nil
	}
	return NewMetrics(client), nil
}

// NewMetrics returns the sink of the client with that id.
func NewMetrics(client string) *Metrics {
	return &Metrics{
		client:   client,
		places:   index[place]{make(map[place]int), maxSeries},
		failures: index[failing]{make(map[failing]int), maxFailures},
	}
}

// An index maps a key to a position in a list.
type index[K comparable] struct {
	at  map[K]int
	max int
}

// find looks up a key. A new key is added at the end, as label returns it, or as other if there are
// too many.
func (x *index[K]) find(key K, label func(K) K, other K) (at int, as K, added bool) {
	if at, known := x.at[key]; known {
		return at, key, false
	}
	as = label(key)
	if _, known := x.at[as]; !known && len(x.at) >= x.max {
		as = other
	}
	at, known := x.at[as]
	if !known {
		at = len(x.at)
		x.at[as] = at
	}
	return at, as, !known
}

// Write counts rows.
func (m *Metrics) Write(batch []oplog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range batch {
		m.count(&batch[i])
	}
	return nil
}

func (m *Metrics) count(r *oplog.Record) {
	s := m.of(r.Op, r.Endpoint)
	s.Counter.Add(r)
	if r.Err != "" {
		m.failed(s.place, r.Code())
		return
	}
	s.duration.add(r.Duration)
	if d, seen := r.TTFB(); seen {
		s.ttfb.add(d)
	}
	if r.ClientTime > 0 {
		s.wire.add(r.Duration - r.ClientTime)
	}
}

func (m *Metrics) of(op, endpoint string) *series {
	at, p, added := m.places.find(place{op, endpoint}, place.label, place{otherLabel, otherLabel})
	if added {
		m.counts.series = append(m.counts.series, series{place: p})
		m.flight(p.op) // so that it is 0 and not absent if none is ever seen in flight
	}
	return &m.counts.series[at]
}

func (p place) label() place { return place{label(p.op), label(p.endpoint)} }

// failed counts a failure at a place whose names are labels.
func (m *Metrics) failed(p place, code string) {
	at, f, added := m.failures.find(failing{p, code}, failing.label, failing{p, otherLabel})
	if added {
		m.counts.failures = append(m.counts.failures, failure{failing: f})
	}
	m.counts.failures[at].requests++
}

func (f failing) label() failing { return failing{f.place, label(f.code)} }

// label turns any text into a value that Prometheus accepts. It is a copy, because strings of a
// record may be parts of larger ones, which must not be kept.
func label(text string) string {
	if len(text) > maxLabel {
		text = text[:maxLabel]
	}
	return strings.Clone(strings.ToValidUTF8(text, ""))
}

// InFlight sets the number of requests in flight.
func (m *Metrics) InFlight(byOp map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.counts.inFlight {
		m.counts.inFlight[i].requests = 0
	}
	for op, n := range byOp {
		m.flight(label(op)).requests = uint64(max(n, 0))
	}
}

// flight returns the gauge of an operation.
func (m *Metrics) flight(op string) *flight {
	all := m.counts.inFlight
	at := slices.IndexFunc(all, func(f flight) bool { return f.op == op })
	if at < 0 {
		at = len(all)
		m.counts.inFlight = append(all, flight{op: op})
	}
	return &m.counts.inFlight[at]
}

// Flush and Close do nothing, because Prometheus fetches the counts.
func (m *Metrics) Flush() error { return nil }

// Close implements Export.
func (m *Metrics) Close() string { return "" }

// Counts returns a copy of the counts so far.
func (m *Metrics) Counts() *Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.counts
	return &Counts{series: slices.Clone(c.series), failures: slices.Clone(c.failures), inFlight: slices.Clone(c.inFlight)}
}

// Clients returns the counts as a Prometheus of one client shows them.
func (m *Metrics) Clients() []ClientCounts { return []ClientCounts{{m.client, m.Counts()}} }
