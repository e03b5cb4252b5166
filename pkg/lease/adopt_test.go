package lease

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
)

// A lease that another process has adopted goes on when the first one has handed it over, and its objects go with it.
func TestAdopt(t *testing.T) {
	t.Parallel()
	const length = 15 * time.Second // so long that a renewal, every third of it, is in time on a busy machine
	var writes atomic.Int64
	c := newStore(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		write := r.Method == http.MethodPut && isAboutMarker(r)
		backend.ServeHTTP(w, r)
		if write {
			writes.Add(1)
		}
	})
	owner, heir := newLease(c, "r"), newLease(c, "r")
	for _, l := range []*Lease{owner, heir} {
		l.opts.Length, l.own = length, nil
		l.own = l.newOwnMarker()
	}
	if err := heir.Adopt(t.Context()); err == nil {
		t.Fatal("a marker was adopted that is not there")
	}
	check.OK(t, owner.Acquire(t.Context()))
	put(t, owner, 3)
	check.OK(t, heir.Adopt(t.Context()))
	owner.HandOver(t.Context())
	check.OK(t, owner.Release(t.Context(), false))

	before := writes.Load()
	check.Eventually(t, "renewal by the heir", func() bool { return writes.Load() > before })
	next := newLease(c, "next")
	others, _, err := next.otherMarkers(t.Context(), &next.own.marker, time.Now())
	if err != nil || len(others) != 1 || others[0].expired() || !others[0].Claimed {
		t.Errorf("the lease is not renewed: %v %+v", err, others)
	}
	if err := heir.Lapsed(time.Now()); err != nil {
		t.Error(err)
	}
	check.OK(t, heir.Release(t.Context(), false))
	nothingIsLeft(t, c)
}
