package s3provider

import (
	"testing"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/minio"
	"warp/pkg/store/s3"
)

// All engines, and lean with its fallback, pass the suite.
func TestSuite(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func(t *testing.T, through func(string) string) store.Engine) {
		enginetest.Run(t, open(t, func(addr string) string { return addr }))
	})
}

// They pass it on odd stores, too.
func TestOddities(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func(t *testing.T, through func(string) string) store.Engine) {
		enginetest.WithOddities(t, func(t *testing.T, through func(string) string, lacks enginetest.Lacks) {
			enginetest.RunWithout(t, open(t, through), lacks)
		})
	})
}

// eachEngine calls run for each engine. Open starts a store, and opens it at the address that through returns.
func eachEngine(t *testing.T, run func(t *testing.T, open func(t *testing.T, through func(addr string) string) store.Engine)) {
	for name, open := range map[string]func(*store.Config, store.Address, *store.Counters) (store.Engine, error){
		"minio": func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return minio.New(cfg, a, n)
		},
		"lean": func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return s3.New(cfg, a, s3.NewRegions(nil), n)
		},
		"lean with fallback": func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return openLean(cfg, a, s3.NewRegions(nil), n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, through func(addr string) string) store.Engine {
				s, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
				check.OK(t, err)
				t.Cleanup(func() { _ = s.Close() })
				cfg := store.Config{Region: "us-east-1", Concurrency: 1, Credentials: store.Keys{AccessKey: "key", SecretKey: "secretsecret"}}
				addr := store.Address{Name: through(s.Addr())}
				admin, err := minio.NewAdmin(&cfg, addr)
				check.OK(t, err)
				check.OK(t, admin.MakeBucket(t.Context(), "enginetest"))
				e, err := open(&cfg, addr, new(store.Counters))
				check.OK(t, err)
				t.Cleanup(e.Close)
				return e
			})
		})
	}
}
