package teststore

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Intercept starts a separate embedded store behind a function that sees every request first, and
// returns its address. The function gets the store, to pass requests on.
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
