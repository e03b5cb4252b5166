package conformance

import (
	"testing"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/teststore"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// ignored lists the conditions that stores ignore.
func ignored(store string) []string {
	return map[string][]string{
		teststore.MinIO:  {"conditional deletions"},
		teststore.Garage: {"conditional uploads", "conditional deletions", "conditional uploads in parts"},
	}[store]
}

// Both engines of S3 pass the suite for engines against every store.
func TestEngines(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		for _, engine := range []string{"lean", "minio"} {
			t.Run(engine, func(t *testing.T) {
				c, err := engines.New(store.Config{Hosts: []store.Address{{Name: s.Endpoint}}, Region: s.Region, Concurrency: 1, Engine: engine,
					Credentials: store.Keys{AccessKey: s.AccessKey, SecretKey: s.SecretKey}, Options: store.Options{NoRepeat: true}})
				check.OK(t, err)
				t.Cleanup(c.Close)
				bucket := "enginetest-" + engine
				check.OK(t, c.MakeBucket(t.Context(), bucket, false))
				enginetest.RunIn(t, c.Acquire().Engine, bucket, enginetest.Lacks{Tests: ignored(s.Name)})
			})
		}
	})
}
