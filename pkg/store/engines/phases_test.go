package engines

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// At least how long slowStore waits before an answer, and pauses in the middle of the answer, as a client sees it that
// notes its times late, because the machine is busy. The store takes four times as long.
const think, pause = 150 * time.Millisecond, 100 * time.Millisecond

// slowStore waits before it answers, and then sends slowly.
func slowStore(t *testing.T) (addr string) {
	t.Helper()
	inTwo := func(w http.ResponseWriter, first, second string) {
		_, _ = io.WriteString(w, first)
		w.(http.Flusher).Flush()
		time.Sleep(4 * pause)
		_, _ = io.WriteString(w, second)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(4 * think)
		w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
		switch r.Method {
		case http.MethodPost: // the answer to a fan-out
			inTwo(w, `{"key":"a","etag":"x"}`, `{"key":"b","etag":"x"}`)
		case http.MethodGet:
			w.Header().Set("Content-Length", "10")
			inTwo(w, "hello", "world")
		}
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// noted returns the phases of f and its duration.
func noted(t *testing.T, all bool, do func(tr *store.Trace) error) (p store.Phases, took time.Duration) {
	t.Helper()
	start := time.Now()
	tr := store.NewTrace(start)
	tr.RecordPhases(&p, all)
	check.OK(t, do(tr))
	return p, time.Since(start)
}

// The phases show where a slow store was slow, with both engines. Only a new connection has the
// phases of connecting.
func TestPhases(t *testing.T) {
	addr := slowStore(t)
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			h := oneHost(t, store.Config{Engine: engine, Region: "us-east-1", Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, addr)
			ctx, ref := t.Context(), store.Ref{Bucket: "bucket", Key: "key"}
			get := func(tr *store.Trace) error { _, err := h.Get(ctx, store.Get{Ref: ref}, tr); return err }
			first, _ := noted(t, false, get)
			if first[store.PhaseConnect] == 0 || first[store.PhaseSend]+first[store.PhaseWait]+first[store.PhaseReceive] > 0 {
				t.Errorf("a new connection, and nothing else to be noted: %v", first)
			}
			p, took := noted(t, true, get)
			sum := p[store.PhaseSend] + p[store.PhaseWait] + p[store.PhaseReceive]
			if p[store.PhaseConnect] > 0 || p[store.PhaseWait] < think || p[store.PhaseReceive] < pause || sum > took {
				t.Errorf("GET: %v in %v", p, took)
			}
			p, took = noted(t, true, func(tr *store.Trace) error {
				_, err := h.Put(ctx, store.Put{Ref: ref, Body: payload(100 << 10), Size: 100 << 10}, tr)
				return err
			})
			if p[store.PhaseSend] == 0 || p[store.PhaseWait] < think || p[store.PhaseReceive] == 0 || p[store.PhaseReceive] > took-think {
				t.Errorf("PUT: %v in %v", p, took)
			}
			p, took = noted(t, true, func(tr *store.Trace) error {
				_, err := h.FanOut(ctx, store.FanOut{Bucket: "bucket", Keys: []string{"a", "b"}, Body: payload(1000), Size: 1000}, tr)
				return err
			})
			if p[store.PhaseSend] == 0 || p[store.PhaseWait] < think || p[store.PhaseReceive] < pause || p[store.PhaseReceive] > took-think {
				t.Errorf("FanOut: %v in %v", p, took)
			}
			p, _ = noted(t, true, func(tr *store.Trace) error { _, err := h.Stat(ctx, ref, tr); return err })
			if p[store.PhaseWait] < think || p[store.PhaseReceive] == 0 {
				t.Errorf("HEAD: %v", p)
			}
		})
	}
}

// TestPhasesOfConnections checks that the first request to a host with a name and a certificate has
// all phases, and that later ones do not.
func TestPhasesOfConnections(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
	}))
	t.Cleanup(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	check.OK(t, err)
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := oneHost(t, store.Config{Engine: engine, TLS: true, Insecure: true, Region: "us-east-1",
				Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, "localhost:"+port)
			for i, connects := range []bool{true, false} {
				p, _ := noted(t, true, func(tr *store.Trace) error {
					_, err := h.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "bucket", Key: "key"}}, tr)
					return err
				})
				for _, phase := range []int{store.PhaseDNS, store.PhaseConnect, store.PhaseTLS} {
					if (p[phase] > 0) != connects {
						t.Errorf("request %d: %v", i, p)
					}
				}
				// net/http may report that it has sent a request after the answer has arrived.
				if p[store.PhaseSend] == 0 && engine == "lean" || p[store.PhaseWait] == 0 {
					t.Errorf("request %d: %v", i, p)
				}
			}
		})
	}
}
