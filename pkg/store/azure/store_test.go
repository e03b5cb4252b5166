package azure

import (
	"testing"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/teststore"
	"warp/pkg/store"
)

// The engine passes the suite against Azurite with both ways to send requests.
func TestAzurite(t *testing.T) {
	t.Parallel()
	s := teststore.Start(t, teststore.Azurite, teststore.Options{})
	for bucket, way := range map[string]string{"first": "lean", "second": "net/http"} {
		t.Run(way, func(t *testing.T) {
			o := open(t, Open, store.Config{Credentials: store.Keys{AccessKey: emulatorAccount, SecretKey: emulatorKey}},
				store.Address{Name: s.Endpoint, Path: s.Path})
			check.OK(t, o.admin.MakeBucket(t.Context(), bucket))
			if !o.admin.MadeByWarp(t.Context(), bucket) {
				t.Error("the container does not say that warp made it")
			}
			if way == "lean" {
				enginetest.RunIn(t, o.engine, bucket, enginetest.Lacks{})
			} else {
				enginetest.RunIn(t, o.admin, bucket, enginetest.Lacks{})
			}
		})
	}
}
