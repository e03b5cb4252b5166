package safety

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// A front is a store's only door, which a test can shut for good and behind which it can change answers.
type front struct {
	endpoint string
	server   *http.Server
	once     sync.Once
}

// newFront calls before with each request and change with each answer; either may be nil.
func newFront(t *testing.T, endpoint string, before func(*http.Request), change func(*http.Response) error) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: endpoint})
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: change,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	f := &front{endpoint: l.Addr().String()}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil {
			before(r)
		}
		proxy.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { _ = f.server.Serve(l); close(done) }()
	t.Cleanup(func() {
		f.shut()
		<-done
		transport.CloseIdleConnections()
	})
	return f
}

// shut breaks all connections and takes no more.
func (f *front) shut() { f.once.Do(func() { _ = f.server.Close() }) }

func isDelete(r *http.Request) bool {
	return r.Method == http.MethodDelete || r.Method == http.MethodPost && r.URL.Query().Has("delete")
}
