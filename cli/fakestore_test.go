package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/s3mem"
)

// delayedStore is a store that takes so long for each download.
func delayedStore(t *testing.T, delay time.Duration) (address string) {
	t.Helper()
	return storeBehind(t, func(http.ResponseWriter) bool { time.Sleep(delay); return true })
}

// storeBehind is a store that is asked for a download only where before says so.
func storeBehind(t *testing.T, before func(http.ResponseWriter) bool) (address string) {
	t.Helper()
	store, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, ".rnd") || before(w) {
			store.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { server.Close(); _ = store.Close() })
	return server.Listener.Addr().String()
}
