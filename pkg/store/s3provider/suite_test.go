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
			s, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
			check.OK(t, err)
			t.Cleanup(func() { _ = s.Close() })
			cfg := store.Config{Region: "us-east-1", Concurrency: 1, Credentials: store.Keys{AccessKey: "key", SecretKey: "secretsecret"}}
			addr := store.Address{Name: s.Addr()}
			admin, err := minio.NewAdmin(&cfg, addr)
			check.OK(t, err)
			check.OK(t, admin.MakeBucket(t.Context(), "enginetest"))
			e, err := open(&cfg, addr, new(store.Counters))
			check.OK(t, err)
			t.Cleanup(e.Close)
			enginetest.Run(t, e)
		})
	}
}
