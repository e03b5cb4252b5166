package sink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/push"

	"warp/internal/connlimit"
)

const (
	firstPush    = time.Second // after Push
	pushInterval = 5 * time.Second
	pushWait     = 5 * time.Second
)

// ClientCounts are what the client of that id has done.
type ClientCounts struct {
	Client string
	*Counts
}

// Prometheus shows counts to Prometheus, which fetches them, and pushes them to a
// Pushgateway where one is named: the metrics of this process, or of all clients of a
// coordinator.
type Prometheus struct {
	registry *prometheus.Registry

	server  *http.Server
	scrapes *scrapes

	pushes *buffer[struct{}] // nil without a Pushgateway
	stop   func()            // ends regular pushes
}

// NewPrometheus shows what clients returns, which is called at any time.
func NewPrometheus(benchmark string, clients func() []ClientCounts) *Prometheus {
	p := &Prometheus{registry: prometheus.NewRegistry()}
	p.registry.MustRegister(newExposition(benchmark, clients))
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
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	total := connlimit.Share(maxScrapers)
	limited := connlimit.Listen(l, connlimit.Limits{Total: total, PerAddress: total * 3 / 4, Grace: scrapeGrace})
	go func() { _ = p.server.Serve(limited) }()
	return l.Addr(), nil
}

// What strangers may take up of the address for Prometheus: the descriptors are
// for the benchmark.
const (
	maxScrapers = 64
	scrapeGrace = 250 * time.Millisecond
)

// Push sends the metrics to a Pushgateway every few seconds and at the end, in
// a group of that instance.
func (p *Prometheus) Push(url, instance string) {
	gateway := push.New(url, "warp").Gatherer(p.registry).Grouping("instance", instance).
		Client(&http.Client{Timeout: pushWait, CheckRedirect: stayHere})
	pushes := newBuffer(1, func(struct{}) error {
		if err := gateway.Push(); err != nil {
			return errors.New(brief(err.Error()))
		}
		return nil
	}).start()
	p.pushes = pushes
	p.stop = every(firstPush, pushInterval, func() {
		if pushes.room() > 0 { // the one before is over
			pushes.offerWhole(struct{}{}, 1)
		}
	})
}

// Close pushes for the last time, and says what went wrong; "" = nothing. The
// server goes on with the last figures.
func (p *Prometheus) Close() string {
	if p.scrapes != nil {
		p.scrapes.finish(time.Now())
	}
	if p.pushes == nil {
		return ""
	}
	p.stop()
	p.pushes.offer(1)
	p.pushes.put(struct{}{}, 1, 1)
	failed, pushes, err := p.pushes.finish(2 * pushWait) // one that is under way, and the last
	p.pushes = nil
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pushes to the Pushgateway failed: %v", failed, pushes, err)
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
	p.Close() // where the run failed before
	if p.server == nil {
		return
	}
	p.scrapes.await(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
}
