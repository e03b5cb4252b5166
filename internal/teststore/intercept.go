package teststore

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Intercept starts an embedded store of the test's own behind a function that sees every request first, and returns the
// address of both. The function gets the store to hand requests on to.
func Intercept(t testing.TB, intercept func(store http.Handler, w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	addr := Start(t, Embedded, Options{}).Endpoint
	store := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = addr
		intercept(store, w, r)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}
