package gcs

import (
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/teststore"
	"warp/pkg/store"
)

// The engine passes the suite against fake-gcs-server with both ways to send requests.
func TestFakeGCS(t *testing.T) {
	t.Parallel()
	lacks := enginetest.Lacks{Pages: true, // it truncates listings without a token for the next page
		Tests: []string{"conditional uploads", "conditional deletions", "conditional uploads in parts", "conditional reads"}} // it ignores the conditions
	s := teststore.Start(t, teststore.FakeGCS, teststore.Options{})
	for _, way := range []string{"lean", "net/http"} {
		t.Run(way, func(t *testing.T) {
			cfg := store.Config{AppVersion: "1", Concurrency: 1, Settings: store.EncodeSettings(Settings{Project: "p"})}
			addr := store.Address{Name: s.Endpoint}
			driver, err := Open(&cfg)
			check.OK(t, err)
			admin, err := driver.Admin(&cfg, addr)
			check.OK(t, err)
			if way == "lean" {
				check.OK(t, admin.MakeBucket(t.Context(), "enginetest"))
				e, err := driver.Engine(&cfg, addr, new(store.Counters))
				check.OK(t, err)
				enginetest.RunWithout(t, e, lacks)
				return
			}
			clearBucket(t, admin)
			enginetest.RunWithout(t, admin, lacks)
		})
	}
}

func clearBucket(t *testing.T, admin store.Admin) {
	t.Helper()
	var refs []store.Ref
	err := admin.List(t.Context(), store.List{Bucket: "enginetest"}, func(o store.Object) bool { refs = append(refs, o.Ref); return true }, store.NewTrace(time.Now()))
	if err == nil {
		err = admin.Delete(t.Context(), refs, store.NewTrace(time.Now()))
	}
	check.OK(t, err)
}
