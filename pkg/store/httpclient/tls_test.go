package httpclient

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// An expired certificate does not end existing connections, but prevents new ones.
func TestCertificateExpires(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			t.Parallel()
			arrived, proceed := make(chan bool, 1), make(chan bool)
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/slow") {
					arrived <- true
					<-proceed
				}
				w.Header().Set("ETag", `"abc"`)
				w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
			}))
			srv.TLS = &tls.Config{MinVersion: version, MaxVersion: version}
			srv.StartTLS()
			t.Cleanup(srv.Close)
			var api API
			client, err := api.NewOwn(&store.Config{
				TLS: true, CAPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
			}, store.Address{Name: srv.Listener.Addr().String()}, new(store.Counters))
			check.OK(t, err)
			t.Cleanup(client.Close)
			var expired atomic.Bool
			client.transport.(*pool).tls.Time = func() time.Time {
				if expired.Load() {
					return srv.Certificate().NotAfter.Add(time.Hour)
				}
				return time.Now()
			}
			get := func(key string) error {
				r := NewRequest("GET", "/"+key)
				defer r.End()
				_, err := client.Do(t.Context(), r, store.NewTrace(time.Now()))
				return err
			}
			check.OK(t, get("k"))
			expired.Store(true)
			slow := make(chan error, 1)
			go func() { slow <- get("slow") }()
			select {
			case <-arrived: // on the existing connection, so that the next request needs a new one
			case err := <-slow:
				t.Fatalf("the connection that there is: %v", err)
			}
			err = get("k")
			close(proceed)
			if store.CodeOf(err) != store.CodeTLS || !store.IsConnection(err) || !strings.Contains(err.Error(), "certificate has expired") {
				t.Errorf("a new connection: %v", err)
			}
			if err := <-slow; err != nil {
				t.Errorf("the connection that there is: %v", err)
			}
			if err := get("k"); err != nil {
				t.Errorf("the connection that there is, again: %v", err)
			}
		})
	}
}
