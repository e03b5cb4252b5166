package bench

import (
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/store"
)

// While tracing is on, sampled rows have phases, and a row that opens a connection
// also has the phases of connecting. While it is off, no row has any.
func TestTracing(t *testing.T) {
	t.Parallel()
	w := testWorker(t, teststore.Silent(t))
	r := &Runner{Options: Options{TraceHTTP: true, TraceSample: 4}}
	w.run.tracing = r.trace(&r.Options)
	w.sample.Seed(1, 2)
	obj := &store.Object{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Size: 1024, ETag: "0123456789abcdef0123456789abcdef"}
	step := func() {
		check.OK(t, w.Download(t.Context(), obj, store.Get{Ref: obj.Ref}))
	}
	traced := func(n int) (connected, whole int) {
		for range n {
			step()
			p := w.record.Phases
			if p != nil && p[1] > 0 {
				connected++
			}
			if p != nil && p[4] > 0 {
				whole++
				if sum := p[3] + p[4] + p[5]; sum > w.record.Duration {
					t.Errorf("phases %v of a request that took %v", *p, w.record.Duration)
				}
			}
		}
		return connected, whole
	}
	if connected, whole := traced(1000); connected != 1 || whole < 150 || whole > 350 {
		t.Errorf("of 1000 requests %d noted a connection and %d were traced, want 1 and about 250", connected, whole)
	}
	r.SetTrace(true) // as it is
	r.SetTrace(false)
	if connected, whole := traced(100); connected+whole > 0 {
		t.Errorf("%d and %d requests were traced while that is off", connected, whole)
	}
	r.SetTrace(true)
	if _, whole := traced(1000); whole == 0 {
		t.Error("no request was traced after that is on again")
	}
	if notes := w.run.tracing.changes(); len(notes) != 2 || !strings.HasPrefix(notes[0], "HTTP tracing was switched off at ") ||
		!strings.HasPrefix(notes[1], "HTTP tracing was switched on at ") {
		t.Errorf("notes %q", notes)
	}
}
