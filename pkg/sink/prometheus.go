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
	"warp/internal/redirects"
)

const (
	firstPush    = time.Second // after Push
	pushInterval = 5 * time.Second
	pushWait     = 5 * time.Second
)

// ClientCounts are the counts of the client with that id.
type ClientCounts struct {
	Client string
	*Counts
}

// Prometheus serves counts to Prometheus, and pushes them to a Pushgateway if there is one: the
// metrics of this process, or of all clients of a coordinator.
type Prometheus struct {
	registry *prometheus.Registry

	server  *http.Server
	scrapes *scrapes

	pushes *buffer[struct{}] // nil without a Pushgateway
	stop   func()            // stops regular pushes
}

// NewPrometheus serves what clients returns. It may call clients at any time.
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

// Limits on what strangers can use of the server, because the benchmark needs the file descriptors.
const (
	maxScrapers = 64
	scrapeGrace = 250 * time.Millisecond
)

// Push pushes the metrics to a Pushgateway every few seconds and at the end, in a group of that
// instance.
func (p *Prometheus) Push(url, instance string) {
	gateway := push.New(url, "warp").Gatherer(p.registry).Grouping("instance", instance).
		Client(&http.Client{Timeout: pushWait, CheckRedirect: redirects.Refuse})
	pushes := newBuffer(1, func(struct{}) error {
		if err := gateway.Push(); err != nil {
			return errors.New(brief(err.Error()))
		}
		return nil
	}).start()
	p.pushes = pushes
	p.stop = every(firstPush, pushInterval, func() {
		if pushes.room() > 0 { // the previous one has ended
			pushes.offerWhole(struct{}{}, 1)
		}
	})
}

// Close pushes for the last time, and returns what went wrong; "" = nothing. The server continues
// with the last figures.
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
	failed, pushes, err := p.pushes.finish(2 * pushWait) // the current one and the last one
	p.pushes = nil
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pushes to the Pushgateway failed: %v", failed, pushes, err)
}

// ScrapeWait returns how long End may wait for scrapers to fetch the last figures. It is 0 if there
// are no scrapers, or all of them have the last figures.
func (p *Prometheus) ScrapeWait() time.Duration {
	if p.scrapes == nil {
		return 0
	}
	return p.scrapes.due(time.Now())
}

// End stops the server after all regular scrapers have fetched the figures as they were at Close.
func (p *Prometheus) End(ctx context.Context) {
	p.Close() // if the run failed before
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
