package hostload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	// on returns the load of a client that used cpu seconds of two cores for ten seconds.
	on := func(machine string, at time.Duration, cpu float64, change ...func(*Load)) *Load {
		l := &Load{Machine: machine, Start: noon.Add(at), CPUs: "3", Cores: 2, WallSeconds: 10, CPUSeconds: cpu}
		for _, c := range change {
			c(l)
		}
		return l
	}
	bound := func(cpus string, cores float64) func(*Load) {
		return func(l *Load) { l.CPUs, l.Cores = cpus, cores }
	}
	fifty := make([]*Load, 50)
	for i := range fifty {
		fifty[i] = on("a", time.Duration(i)*time.Millisecond, 0.37)
	}
	tests := map[string]struct {
		loads            []*Load
		cpu, wall, cores float64
		note             string // "" = none
	}{
		"one":                      {[]*Load{nil, on("a", 0, 19)}, 19, 10, 2, ""},
		"two machines":             {[]*Load{on("a", 0, 5), on("b", time.Hour, 6)}, 11, 10, 4, ""},
		"one machine":              {[]*Load{on("a", time.Second, 5), on("b", 0, 1), on("a", 0, 6)}, 12, 11, 4, ""},
		"fifty on one":             {fifty, 18.5, 10.049, 2, "50 clients on one machine together used 92 %"},
		"waiting":                  {[]*Load{on("a", 0, 1, func(l *Load) { l.CPUWaitS = 9 }), on("a", 0, 1)}, 2, 10, 2, "2 clients on one machine together waited for a core in 82 % of the time"},
		"one after the other":      {[]*Load{on("a", 10*time.Second, 16), on("a", 0, 16)}, 32, 20, 2, ""},
		"two, then two":            {[]*Load{on("a", 0, 5), on("a", time.Minute, 5), on("a", 9*time.Second, 5), on("a", 69*time.Second, 5)}, 20, 38, 2, ""},
		"bound to one core each":   {[]*Load{on("a", 0, 5, bound("1", 1)), on("a", 0, 5, bound("2", 1))}, 10, 10, 2, ""},
		"bound to the same core":   {[]*Load{on("a", 0, 5, bound("1", 1)), on("a", 0, 4, bound("1", 1))}, 9, 10, 1, "2 clients on one machine together used 90 %"},
		"containers with quotas":   {[]*Load{on("a", 0, 5, bound("ffffffffffffffffffff", 4)), on("a", 0, 5, bound("ffffffffffffffffffff", 4))}, 10, 10, 8, ""},
		"unknown machines":         {[]*Load{on("", 0, 5), on("", 0, 5)}, 10, 10, 4, ""},
		"unknown start, old log":   {[]*Load{{CPUSeconds: 1, WallSeconds: 3, Cores: 2}, {CPUSeconds: 2, WallSeconds: 4, Cores: 2}}, 3, 4, 4, ""},
		"unknown cores":            {[]*Load{on("a", 0, 5, bound("", 2)), on("a", 0, 5)}, 10, 10, 4, ""},
		"nonsense":                 {[]*Load{on("a", 0, 5, bound("-3", 2)), on("a", 0, 5, bound("many", 2))}, 10, 10, 4, ""},
		"too short for a judgment": {[]*Load{on("a", 0, 0.8, func(l *Load) { l.WallSeconds = 0.4 }), on("a", 0, 0, func(l *Load) { l.WallSeconds = 0.4 })}, 0.8, 0.4, 2, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // in either order
				l, notes := Merge(test.loads)
				if !near(l.CPUSeconds, test.cpu) || !near(l.WallSeconds, test.wall) || l.Cores != test.cores {
					t.Errorf("%g s in %g s of %g cores, want %g s in %g s of %g", l.CPUSeconds, l.WallSeconds, l.Cores, test.cpu, test.wall, test.cores)
				}
				if test.note == "" && len(notes) > 0 || test.note != "" && (len(notes) != 1 || !strings.HasPrefix(notes[0], suspicion+test.note)) {
					t.Errorf("notes %q, want one with %q", notes, test.note)
				}
				test.loads = slices.Clone(test.loads)
				slices.Reverse(test.loads)
			}
		})
	}
	if l, notes := Merge([]*Load{nil}); l != nil || notes != nil {
		t.Errorf("nothing merged is %v, %q", l, notes)
	}
	alone := on("a", 0, 5)
	if l, _ := Merge([]*Load{alone}); *l != *alone || l == alone {
		t.Errorf("one load alone became %+v", l)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestMachineID(t *testing.T) {
	t.Parallel()
	const bootID = "aa774743-aa00-4953-9b28-58d1acf00db4"
	id := func(text string) string {
		root := t.TempDir()
		file := filepath.Join(root, "proc/sys/kernel/random/boot_id")
		check.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check.OK(t, os.WriteFile(file, []byte(text), 0o644))
		return machineID(root)
	}
	a, b := id(bootID+"\n"), id(strings.Replace(bootID, "4", "5", 1))
	if len(a) != 16 || a == b || a != id(bootID) || strings.Contains(bootID, a[:4]) {
		t.Errorf("two machines are called %q and %q", a, b)
	}
	if got := id(" \n") + machineID(t.TempDir()); got != "" {
		t.Errorf("an unknown machine is called %q", got)
	}
}
