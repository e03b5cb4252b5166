package hostload

import (
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// allowedCPUs returns the CPUs that the process may run on, one bit for each, or nil if unknown.
func allowedCPUs() *big.Int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	cpus := new(big.Int)
	for i := range len(set) * strconv.IntSize {
		if set.IsSet(i) {
			cpus.SetBit(cpus, i, 1)
		}
	}
	return cpus
}

// cpuTimes returns how long the CPUs have been idle so far, and the total time of all of them, in
// the unit of the kernel. root is "/", except in tests.
func cpuTimes(root string, cpus *big.Int) (idle, all float64) {
	if cpus == nil {
		return 0, 0
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/stat"))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 9 { // cpuN user nice system idle iowait irq softirq steal …
			continue
		}
		name, ok := strings.CutPrefix(fields[0], "cpu")
		if n, err := strconv.Atoi(name); !ok || err != nil || n < 0 || cpus.Bit(n) == 0 {
			continue
		}
		for i, field := range fields[1:9] {
			ticks, _ := strconv.ParseFloat(field, 64)
			all += ticks
			if i == 3 || i == 4 {
				idle += ticks
			}
		}
	}
	return idle, all
}
