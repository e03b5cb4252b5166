package hostload

import (
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
)

const procStat = `cpu  300 0 300 1400 100 0 0 0 0 0
cpu0 100 0 100 200 100 0 0 0 0 0
cpu1 0 0 0 1000 0 0 0 0 0 0
cpu10 200 0 200 200 0 0 0 100 700 0
cpux 1 1 1 1 1 1 1 1 1 1
intr 12 1 2 3 4 5 6 7 8 9
`

func TestCPUTimes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	check.OK(t, os.Mkdir(filepath.Join(root, "proc"), 0o755))
	check.OK(t, os.WriteFile(filepath.Join(root, "proc/stat"), []byte(procStat), 0o644))
	for name, test := range map[string]struct {
		root      string
		cpus      *big.Int
		idle, all float64
	}{
		"one":          {root, big.NewInt(1), 300, 500},
		"two":          {root, big.NewInt(1<<10 | 1), 500, 1200}, // the time of guests is already in user time
		"another":      {root, big.NewInt(1 << 4), 0, 0},
		"not known":    {root, nil, 0, 0},
		"no such file": {t.TempDir(), big.NewInt(1), 0, 0},
	} {
		if idle, all := cpuTimes(test.root, test.cpus); idle != test.idle || all != test.all {
			t.Errorf("%s: %g of %g idle, want %g of %g", name, idle, all, test.idle, test.all)
		}
	}
}

func TestAllowedCPUs(t *testing.T) {
	t.Parallel()
	cpus := allowedCPUs()
	if cpus == nil || cpus.Sign() <= 0 {
		t.Fatalf("this process may run on %v", cpus)
	}
	if _, all := cpuTimes("/", cpus); all <= 0 {
		t.Errorf("CPUs %x have been there for %g", cpus, all)
	}
}

// The end of a thread does not reduce the waits of the others.
func TestWaitOfEndedThread(t *testing.T) {
	t.Parallel()
	m := Meter{waits: map[string]time.Duration{"/proc/self/task/0": time.Hour}}
	before := m.waited()
	if before <= 0 || m.waited() < before {
		t.Errorf("threads have waited %v, and later %v", before, m.waited())
	}
}
