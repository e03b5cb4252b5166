package bench

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// A run whose lease the store does not let it renew stops writing when that is over, is an error, and removes what it
// wrote as the next run would.
func TestRunEndsWithItsLease(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	var late atomic.Int64
	var end atomic.Pointer[time.Time]
	c := interceptedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		marker := strings.Contains(r.URL.Path, "/.warp/")
		if marker && r.Method == http.MethodPut && refuse.Load() && !strings.Contains(r.URL.Path, "-after") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if over := end.Load(); over != nil && !marker && r.Method == http.MethodPut && time.Now().After(*over) {
			late.Add(1)
		}
		backend.ServeHTTP(w, r)
	})
	r := &Runner{Client: c, Op: &uploads{}, Options: Options{
		Bucket: "bucket", RunID: "r", ClientID: "c", Seed: 1, Concurrency: 2, Lease: 3 * time.Second, Duration: time.Minute, Drain: time.Second,
		Payload: generator.PayloadOptions{Seed: 1}, TraceSample: 1}}
	check.OK(t, r.Open(t.Context()))
	refuse.Store(true)
	over := time.Now().Add(3 * time.Second)
	end.Store(&over)
	began := time.Now()
	out := r.Run(t.Context())
	var lapsed *lease.LapsedError
	if !errors.As(out.Fatal, &lapsed) || time.Since(began) > 40*time.Second || out.Trailer.End != "aborted" {
		t.Errorf("%v after %v, %+v", out.Fatal, time.Since(began), out.Trailer)
	}
	if n := late.Load(); n > 2 { // each worker's last one may have been on its way
		t.Errorf("%d objects were written after the lease", n)
	}
	time.Sleep(time.Second) // the store counts too
	if err := r.Cleanup(t.Context()); err != nil {
		t.Error(err)
	}
	left := func(o store.Object) bool { t.Errorf("%s is left", o.Key); return true }
	if err := c.List(t.Context(), store.List{Bucket: "bucket"}, func() {}, left); err != nil {
		t.Error(err)
	}
}
