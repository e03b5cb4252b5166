package hostload

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cpuQuota returns the number of cores that the control groups allow the process to use; 0 = no
// limit. GOMAXPROCS also follows quotas, but rounds them up, to at least two. root is "/", except
// in tests.
func cpuQuota(root string) (quota float64) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	take := func(cores float64) {
		if cores > 0 && (quota == 0 || cores < quota) {
			quota = cores
		}
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		// A container sees its own group as the root directory, whatever its path is outside. The
		// limits of parent groups apply too.
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			switch {
			case fields[0] == "0":
				take(quotaV2(filepath.Join(root, "sys/fs/cgroup", at)))
				take(quotaV2(filepath.Join(root, "sys/fs/cgroup/unified", at)))
			case slices.Contains(strings.Split(fields[1], ","), "cpu"):
				take(quotaV1(filepath.Join(root, "sys/fs/cgroup/cpu", at)))
				take(quotaV1(filepath.Join(root, "sys/fs/cgroup/cpu,cpuacct", at)))
			}
			if at == "/" {
				break
			}
		}
	}
	return quota
}

// quotaV2 parses "QUOTA PERIOD" or "max PERIOD".
func quotaV2(folder string) float64 {
	data, _ := os.ReadFile(filepath.Join(folder, "cpu.max"))
	fields := strings.Fields(string(data))
	if len(fields) != 2 {
		return 0
	}
	return ratio(fields[0], fields[1])
}

// quotaV1 reads two files. The first contains -1 if there is no limit.
func quotaV1(folder string) float64 {
	quota, _ := os.ReadFile(filepath.Join(folder, "cpu.cfs_quota_us"))
	period, _ := os.ReadFile(filepath.Join(folder, "cpu.cfs_period_us"))
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

// ratio returns a/b if both are positive numbers, and otherwise 0.
func ratio(a, b string) float64 {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	if errA != nil || errB != nil || x <= 0 || y <= 0 {
		return 0
	}
	return x / y
}
