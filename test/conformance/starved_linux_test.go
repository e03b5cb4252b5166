package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/results"
)

// TestMeasuredVerdict runs warp with less CPU than it could use, limited in different ways, and
// with enough.
func TestMeasuredVerdict(t *testing.T) {
	measuring(t)
	bin, addr := build(t, "warp"), nullProcess(t, 1024)
	run := func(t *testing.T, wrap []string, env string, flags ...string) *results.ClientVerdict {
		args := append(wrap, bin, "stat", "--json", "--host="+addr, "--access-key=verdict", "--secret-key=secretsecret", "--objects=10", "--obj.size=1KiB",
			"--duration=2s", "--concurrent=32", "--benchdata="+filepath.Join(t.TempDir(), "run"))
		args = append(args, flags...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), env)
		var b strings.Builder
		cmd.Stderr = &b
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &b)
		}
		var r results.Report
		if err := json.Unmarshal(out, &r); err != nil || r.Client == nil {
			t.Fatalf("%v: no verdict: %v\n%s", args, err, out)
		}
		return r.Client
	}
	verdict := func(t *testing.T, busy bool, wrap []string, env string, flags ...string) {
		t.Helper()
		check.Measured(t, func() error {
			v := run(t, wrap, env, flags...)
			if v.Verdict == results.UnknownOwner {
				t.Fatalf("no time stamps: %+v", v)
			}
			if busy == (v.Verdict != results.StoresFigures) {
				return nil
			}
			if share := freeShare(); !busy && share < 0.9 {
				t.Skipf("the verdict is right: something else runs here, which leaves %.0f %% of the cores", share*100)
			}
			return fmt.Errorf("%+v, although the machine was busy: %v", v, busy)
		})
	}
	t.Run("one core of several", func(t *testing.T) {
		if _, err := exec.LookPath("taskset"); err != nil {
			t.Skip("there is no taskset")
		}
		verdict(t, true, []string{"taskset", "-c", "0"}, "")
	})
	t.Run("GOMAXPROCS", func(t *testing.T) { verdict(t, true, nil, "GOMAXPROCS=1") })
	t.Run("quota", func(t *testing.T) {
		verdict(t, true, []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, quotaGroup(t, 20)}, "")
	})
	t.Run("low priority beside others", func(t *testing.T) {
		if _, err := exec.LookPath("nice"); err != nil {
			t.Skip("there is no nice")
		}
		neighbours(t, runtime.NumCPU())
		verdict(t, true, []string{"nice", "-n", "19"}, "", "--concurrent=8")
	})
	t.Run("busy neighbours", func(t *testing.T) {
		neighbours(t, 2*runtime.NumCPU())
		verdict(t, true, nil, "", "--rps-limit=300")
	})
	// An idle core takes tens of microseconds to wake up, which is much of an answer of the null store.
	t.Run("enough", func(t *testing.T) {
		slow, _ := timedStore(t, build(t, "warp/test/timedstore"))
		verdict(t, false, nil, "", "--rps-limit=200", "--host="+slow)
	})
}

// freeShare returns the share of all cores that this process gets if it wants all of them: a loop
// that reads the clock notices when it did not run.
func freeShare() float64 {
	cores, start := runtime.NumCPU(), time.Now()
	var lost atomic.Int64
	var spinning sync.WaitGroup
	for range cores {
		spinning.Go(func() {
			for last := start; last.Sub(start) < time.Second; {
				now := time.Now()
				if gap := now.Sub(last); gap > time.Millisecond {
					lost.Add(int64(gap))
				}
				last = now
			}
		})
	}
	spinning.Wait()
	return 1 - time.Duration(lost.Load()).Seconds()/time.Since(start).Seconds()/float64(cores)
}

// neighbours starts processes that use as much CPU as they can until the test ends.
func neighbours(t *testing.T, n int) {
	t.Helper()
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		check.OK(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// quotaGroup creates a control group with a quota in percent of a core, and returns the file that
// adds processes to it.
func quotaGroup(t *testing.T, percent int) string {
	t.Helper()
	name := fmt.Sprintf("warp-test-%d", os.Getpid())
	for _, g := range []struct{ folder, file, text string }{
		{"/sys/fs/cgroup/cpu/" + name, "cpu.cfs_quota_us", fmt.Sprint(percent * 1000)},
		{"/sys/fs/cgroup/" + name, "cpu.max", fmt.Sprint(percent*1000, " 100000")},
	} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(g.folder), "cgroup.procs")); err != nil || os.Mkdir(g.folder, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(g.folder) })
		if os.WriteFile(filepath.Join(g.folder, g.file), []byte(g.text), 0o644) == nil {
			return filepath.Join(g.folder, "cgroup.procs")
		}
	}
	t.Skip("control groups cannot be made here; fake ones are tested with the code that reads them")
	return ""
}
