package conformance

import (
	"testing"

	"warp/internal/teststore"
)

// TestMoto runs every operation against moto. It is no store for benchmarks, but many tests use it, and it differs from
// other stores: it does not say whether a bucket has versions.
func TestMoto(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.Moto)
	for _, f := range features() {
		if f.name == "versioned" {
			continue // it has versions, but versioned does not trust its answer
		}
		for _, engine := range engineNames() {
			t.Run(f.name+"/"+engine, func(t *testing.T) {
				if became := f.run(t, s, engine); (became == works) != f.can(s) {
					t.Errorf("it is %q", became)
				}
			})
		}
	}
}
