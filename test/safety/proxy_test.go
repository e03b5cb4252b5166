package safety

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
)

// A front is the only access to a store. It records requests, and a test can shut it for good,
// freeze it, reject requests and change answers.
type front struct {
	endpoint string

	before func(*http.Request)              // called with each request; may be nil
	change func(*http.Response) error       // changes answers; may be nil
	refuse func(*http.Request) (status int) // status to answer with instead of the store, or 0; may be nil; never called concurrently
	frozen atomic.Int64                     // no answer passes before this time, unix ns
	server *http.Server
	shut   func() // closes all connections and accepts no more

	mu       sync.Mutex
	passed   []seen
	refused  int
	inFlight atomic.Int64
}

// seen is a recorded request.
type seen struct {
	path, query string
	status      int
	start, end  time.Time
}

// newFront starts a front. set, which may be nil, configures it before the first request.
func newFront(t *testing.T, store string, set func(*front)) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}
	f := &front{endpoint: l.Addr().String()}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: store})
			r.Out.Host = r.In.Host // the signature covers it
		},
		ModifyResponse: func(r *http.Response) error {
			f.thaw(r.Request)
			if f.change == nil {
				return nil
			}
			return f.change(r)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, proxy) })}
	f.shut = sync.OnceFunc(func() { _ = f.server.Close() })
	if set != nil {
		set(f)
	}
	done := make(chan struct{})
	go func() { _ = f.server.Serve(l); close(done) }()
	t.Cleanup(func() {
		f.shut()
		<-done
		transport.CloseIdleConnections()
	})
	return f
}

func (f *front) serve(w http.ResponseWriter, r *http.Request, store http.Handler) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	s := seen{path: r.URL.EscapedPath(), query: r.URL.RawQuery, start: time.Now()}
	answer := &answerWriter{ResponseWriter: w}
	defer func() { // also if the handler panics, which is how it breaks a connection
		s.status, s.end = answer.status, time.Now()
		f.mu.Lock()
		f.passed = append(f.passed, s)
		f.mu.Unlock()
	}()
	if f.before != nil {
		f.before(r)
	}
	if status := f.refusal(r); status != 0 {
		_, _ = io.Copy(io.Discard, r.Body)
		answer.Header().Set("Content-Type", "application/xml")
		answer.WriteHeader(status)
		fmt.Fprint(answer, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>refused by the test</Message></Error>`)
		return
	}
	store.ServeHTTP(answer, r)
}

func (f *front) refusal(r *http.Request) int {
	if f.refuse == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	status := f.refuse(r)
	if status != 0 {
		f.refused++
	}
	return status
}

// freeze delays all answers until d from now.
func (f *front) freeze(d time.Duration) { f.frozen.Store(time.Now().Add(d).UnixNano()) }

func (f *front) thaw(r *http.Request) {
	for time.Now().UnixNano() < f.frozen.Load() {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// requests returns the recorded requests that match. It first waits briefly for those in flight.
func (f *front) requests(fit func(seen) bool) (all []seen) {
	for end := time.Now().Add(time.Second); f.inFlight.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.passed {
		if fit(s) {
			all = append(all, s)
		}
	}
	return all
}

func (f *front) refusals() int { f.mu.Lock(); defer f.mu.Unlock(); return f.refused }

// answerWriter records the status.
type answerWriter struct {
	http.ResponseWriter
	status int
}

func (w *answerWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func isDelete(r *http.Request) bool {
	return r.Method == http.MethodDelete || r.Method == http.MethodPost && r.URL.Query().Has("delete")
}
