package sink

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxScrapeWait is the max time for which the last figures are served.
const maxScrapeWait = time.Minute

// scrapes records who scrapes the metrics and how often, so that everybody can get the last ones.
// Otherwise the process would end up to an interval before they are scraped.
type scrapes struct {
	next    http.Handler
	changed chan struct{} // a scrape of the last figures is over

	mu    sync.Mutex
	by    map[string]*scraper // host
	final time.Time           // when the figures changed for the last time; zero = they still change
}

type scraper struct {
	last     time.Time
	interval time.Duration // 0 = it scraped only once
	complete bool          // it has the last figures
}

func newScrapes(next http.Handler) *scrapes {
	return &scrapes{next: next, changed: make(chan struct{}, 1), by: make(map[string]*scraper)}
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Prometheus and compatible scrapers send their timeout. A person who looks does not come
	// again.
	if r.Header.Get("X-Prometheus-Scrape-Timeout-Seconds") == "" {
		s.next.ServeHTTP(w, r)
		return
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	complete := s.begin(host, time.Now())
	s.next.ServeHTTP(w, r)
	if complete {
		s.completed(host)
	}
}

// begin reports whether this scrape gets the last figures.
func (s *scrapes) begin(host string, now time.Time) (complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.by[host]
	if c == nil {
		c = &scraper{}
		s.by[host] = c
	} else {
		c.interval = now.Sub(c.last)
	}
	c.last = now
	return !s.final.IsZero()
}

func (s *scrapes) completed(host string) {
	s.mu.Lock()
	s.by[host].complete = true
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// finish says that the figures no longer change.
func (s *scrapes) finish(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final.IsZero() {
		s.final = now
	}
}

// due returns how long the next scrape may take to arrive; 0 = none is expected.
func (s *scrapes) due(now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.by {
		if c.complete {
			continue
		}
		timeout := s.final.Add(maxScrapeWait).Sub(now)
		if c.interval > 0 {
			timeout = min(timeout, c.last.Add(2*c.interval).Sub(now))
		}
		wait = max(wait, timeout)
	}
	return wait
}

// await waits, for a limited time, until everybody has the last figures.
func (s *scrapes) await(ctx context.Context) {
	for wait := s.due(time.Now()); wait > 0; wait = s.due(time.Now()) {
		timer := time.NewTimer(wait)
		select {
		case <-s.changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}
