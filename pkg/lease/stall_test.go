package lease

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
)

// After an interruption a clean-up that does not get on ends within seconds and says what it leaves, be it that the store
// does not answer or that its listings have no end.
func TestInterruptedReleaseEnds(t *testing.T) {
	t.Parallel()
	stores := map[string]func(w http.ResponseWriter, r *http.Request, n int64){
		"silent": func(_ http.ResponseWriter, r *http.Request, _ int64) { <-r.Context().Done() },
		"endless": func(w http.ResponseWriter, r *http.Request, n int64) {
			fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>"+
				"<Contents><Key>%s%020d</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified></Contents></ListBucketResult>", n, r.URL.Query().Get("prefix"), n)
		},
	}
	for name, list := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var on atomic.Bool
			var pages atomic.Int64
			c := newStore(t, func(store http.Handler, w http.ResponseWriter, r *http.Request) {
				if on.Load() && strings.HasPrefix(r.URL.Query().Get("prefix"), "warp-") {
					list(w, r, pages.Add(1))
					return
				}
				store.ServeHTTP(w, r)
			})
			l := newLease(c, "r")
			check.OK(t, l.Acquire(t.Context()))
			on.Store(true)
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, interrupt)
			began := time.Now()
			err := l.Release(ctx, false)
			if err == nil || !strings.Contains(err.Error(), "gave up") || !strings.Contains(err.Error(), "objects remain under warp-") {
				t.Errorf("it says %v", err)
			}
			if took := time.Since(began); took > 40*time.Second { // nobody gives up a silent store so soon otherwise, and an endless listing never
				t.Errorf("it took %v", took)
			}
		})
	}
}
