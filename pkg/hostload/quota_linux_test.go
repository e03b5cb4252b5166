package hostload

import (
	"os"
	"path/filepath"
	"testing"

	"warp/internal/check"
)

func TestCPUQuota(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		want  float64
	}{
		"nothing": {nil, 0},
		"no limit": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 0},
		"half a core": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, 0.5},
		"a group above has less": {map[string]string{
			"proc/self/cgroup": "0::/a/b/c\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/b/c/cpu.max": "400000 100000\n"}, 1.5},
		"in a container": {map[string]string{
			"proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2.5},
		"version 1": {map[string]string{
			"proc/self/cgroup":                      "3:memory:/m\n2:cpu,cpuacct:/x\n1:cpuset:/\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us":  "20000\n",
			"sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n"}, 0.2},
		"version 1 without limit": {map[string]string{
			"proc/self/cgroup":                    "2:cpu:/\n0::/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
		"both versions": {map[string]string{
			"proc/self/cgroup":                    "2:cpu:/\n0::/u\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "300000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/unified/u/cpu.max":     "100000 100000\n"}, 1},
		"nonsense": {map[string]string{
			"proc/self/cgroup": "0\n0::/../a\nx:y:z:z\n\n", "sys/fs/cgroup/a/cpu.max": "5 0\n", "sys/fs/cgroup/cpu.max": "many few\n"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for file, text := range test.files {
				check.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
				check.OK(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o644))
			}
			if got := cpuQuota(root); got != test.want {
				t.Errorf("%g cores, want %g", got, test.want)
			}
		})
	}
}
