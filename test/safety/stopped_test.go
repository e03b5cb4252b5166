//go:build unix

package safety

import (
	"syscall"
	"testing"
	"time"

	"warp/internal/teststore"
)

// A run that was stopped for longer than its lease must not overwrite or remove what another run
// has kept under the same names meanwhile.
func TestStoppedRunDoesNotGoOn(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		stopped := b.warp("put", "--seed=77", "--obj.size=1KiB", "--concurrent=4", "--duration=60s", "--lease=10s")
		await(t, 30*time.Second, func() bool { return len(b.keys(isData)) > 100 }, "objects")
		stopped.signal(syscall.SIGSTOP)
		time.Sleep(expiry)
		b.warp(small("put", "--seed=77", "--keep-data", "--max-objects=200")...).want(0)
		kept := b.snapshot()
		stopped.signal(syscall.SIGCONT)
		stopped.want(1).says("the lease of this run", "stops writing")
		b.same(kept)
	})
}
