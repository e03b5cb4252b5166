package sink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/push"

	"warp/pkg/oplog"
)

const (
	pushInterval = 5 * time.Second
	pushWait     = 5 * time.Second
)

// Prometheus is a bench.Sink that keeps metrics for Prometheus to fetch, and
// pushes them to a Pushgateway where one is named.
type Prometheus struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	objects  *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
	duration *prometheus.HistogramVec
	ttfb     *prometheus.HistogramVec
	flown    map[string]bool // operations that were in flight
	series   []*series
	last     *series

	server  *http.Server
	scrapes *scrapes

	gateway        *push.Pusher
	wake, ended    chan struct{}
	lastPush       time.Time
	pushes, failed int
	pushErr        error
}

// A series is the metrics of one operation at one endpoint, looked up once.
type series struct {
	op, endpoint             string
	requests, bytes, objects prometheus.Counter
	duration, ttfb           prometheus.Observer
}

// latencyBuckets double from 64 µs to about two minutes: fast stores answer
// in a tenth of a millisecond, slow ones are cut off after a minute.
func latencyBuckets() []float64 { return prometheus.ExponentialBuckets(64e-6, 2, 22) }

// NewPrometheus returns the sink; labels are on every metric.
func NewPrometheus(labels map[string]string) *Prometheus {
	p := &Prometheus{registry: prometheus.NewRegistry(), flown: make(map[string]bool)}
	by := []string{"op", "endpoint"}
	counter := func(name, help string, labels []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets()}, by)
	}
	p.requests = counter("warp_requests_total", "Finished requests, failed ones included.", by)
	p.errors = counter("warp_request_errors_total", "Failed requests.", append(by, "code"))
	p.bytes = counter("warp_payload_bytes_total", "Payload bytes of requests that succeeded.", by)
	p.objects = counter("warp_objects_total", "Objects of requests that succeeded.", by)
	p.inFlight = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "warp_requests_in_flight", Help: "Requests under way, as of once a second."}, by[:1])
	p.duration = histogram("warp_request_duration_seconds", "Time from start to end of requests that succeeded.")
	p.ttfb = histogram("warp_request_ttfb_seconds", "Time to first byte of requests that succeeded.")
	wrapped := prometheus.WrapRegistererWith(labels, p.registry)
	wrapped.MustRegister(p.requests, p.errors, p.bytes, p.objects, p.inFlight, p.duration, p.ttfb)
	return p
}

// Serve answers GET /metrics at addr until End, and returns the address.
func (p *Prometheus) Serve(addr string) (net.Addr, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	p.scrapes = newScrapes(promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.Handle("GET /metrics", p.scrapes)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.server.Serve(l) }()
	return l.Addr(), nil
}

// Push sends the metrics to a Pushgateway every few seconds and at the end, in
// a group of the client's own.
func (p *Prometheus) Push(url, client string) {
	p.gateway = push.New(url, "warp").Gatherer(p.registry).Grouping("instance", client).
		Client(&http.Client{Timeout: pushWait})
	p.wake, p.ended = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(p.ended)
		for range p.wake {
			p.push()
		}
	}()
}

func (p *Prometheus) push() {
	p.pushes++
	if err := p.gateway.Push(); err != nil {
		p.failed++
		p.pushErr = errors.New(brief(err.Error()))
	}
}

func (p *Prometheus) of(op, endpoint string) *series {
	if s := p.last; s != nil && s.op == op && s.endpoint == endpoint {
		return s
	}
	for _, s := range p.series {
		if s.op == op && s.endpoint == endpoint {
			p.last = s
			return s
		}
	}
	// The strings of a record may be cut from larger ones, which must not be kept.
	op, endpoint = strings.Clone(op), strings.Clone(endpoint)
	s := &series{
		op: op, endpoint: endpoint,
		requests: p.requests.WithLabelValues(op, endpoint),
		bytes:    p.bytes.WithLabelValues(op, endpoint),
		objects:  p.objects.WithLabelValues(op, endpoint),
		duration: p.duration.WithLabelValues(op, endpoint),
		ttfb:     p.ttfb.WithLabelValues(op, endpoint),
	}
	p.series = append(p.series, s)
	p.last = s
	return s
}

// Write counts rows.
func (p *Prometheus) Write(batch []oplog.Record) error {
	for i := range batch {
		r := &batch[i]
		s := p.of(r.Op, r.Endpoint)
		s.requests.Inc()
		if r.Err != "" {
			p.errors.WithLabelValues(s.op, s.endpoint, r.Code()).Inc()
			continue
		}
		s.bytes.Add(float64(max(r.Bytes, 0)))
		s.objects.Add(float64(max(r.Objects, 0)))
		s.duration.Observe(r.Duration.Seconds())
		if d, seen := r.TTFB(); seen {
			s.ttfb.Observe(d.Seconds())
		}
	}
	return nil
}

// InFlight notes what is under way.
func (p *Prometheus) InFlight(byOp map[string]int) {
	for op := range byOp {
		p.flown[op] = true
	}
	for op := range p.flown {
		p.inFlight.WithLabelValues(op).Set(float64(byOp[op]))
	}
}

// Flush has a push made where one is due.
func (p *Prometheus) Flush() error {
	if p.gateway == nil || time.Since(p.lastPush) < pushInterval {
		return nil
	}
	select {
	case p.wake <- struct{}{}:
		p.lastPush = time.Now()
	default: // the one before is still on its way
	}
	return nil
}

// Close pushes for the last time, and says what went wrong; "" = nothing. The
// server goes on with the last figures.
func (p *Prometheus) Close() string {
	if p.scrapes != nil {
		p.scrapes.finish(time.Now())
	}
	if p.gateway == nil {
		return ""
	}
	close(p.wake)
	<-p.ended
	p.push()
	if p.failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pushes to the Pushgateway failed: %v", p.failed, p.pushes, p.pushErr)
}

// Lingers is how long End may wait for the last figures to be fetched; 0 = it
// does not, because nobody has fetched any, or all have been.
func (p *Prometheus) Lingers() time.Duration {
	if p.scrapes == nil {
		return 0
	}
	return p.scrapes.due(time.Now())
}

// End ends the server, after the figures that it had at Close were fetched by
// whoever fetches them regularly.
func (p *Prometheus) End(ctx context.Context) {
	if p.server == nil {
		return
	}
	p.scrapes.finish(time.Now()) // where the run failed before Close
	p.scrapes.await(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
}
