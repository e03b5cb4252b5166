package conformance

import (
	"bufio"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/test/testbinary"
)

// measuring skips a test that measures time or memory if the race detector is on.
func measuring(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("measures nothing true under the race detector; make test runs it without")
	}
}

// build builds a package of this module as for users.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "binary.exe")
	check.OK(t, testbinary.Build(bin, pkg))
	return bin
}

// nullProcess runs a null store in a separate process and returns its address.
func nullProcess(t *testing.T, size int) string {
	t.Helper()
	cmd := exec.Command(build(t, "warp/test/nullstore"), "-stdin", fmt.Sprintf("-size=%d", size))
	in, err := cmd.StdinPipe()
	check.OK(t, err)
	out, err := cmd.StdoutPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	check.OK(t, err)
	return strings.TrimSpace(addr)
}

// TestMeasuredRate checks that 5000 requests/s are kept within 1 %, with few workers or many.
func TestMeasuredRate(t *testing.T) {
	measuring(t)
	const rate, seconds = 5000, 5
	bin, addr := build(t, "warp"), nullProcess(t, 1024)
	for _, workers := range []int{20, 2000} {
		check.Measured(t, func() error {
			data := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(bin, "stat", "--host="+addr, "--access-key=k", "--secret-key=s", "--objects=10", "--obj.size=1KiB", "--json",
				fmt.Sprintf("--concurrent=%d", workers), fmt.Sprintf("--duration=%ds", seconds), fmt.Sprintf("--rps-limit=%d", rate), "--benchdata="+data)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%d workers: %v", workers, err)
			}
			r := outcome{out: string(out)}.report(t)
			op := operation(t, r, "STAT")
			g := r.Groups[op.Group]
			t.Logf("%d workers: offered %g/s, achieved %.1f/s, lag p99 %.3f ms, unsent %d", workers, g.OfferedPerS, g.AchievedPerS, op.Lag.P99, g.Unsent)
			if got := int(op.Requests) + int(g.Unsent); got < rate*seconds*99/100 || got > rate*seconds*101/100 {
				t.Errorf("%d workers: %d requests sent and %d not", workers, op.Requests, g.Unsent)
			}
			if off := math.Abs(g.AchievedPerS/rate - 1); off > 0.01 {
				return fmt.Errorf("%d workers: the rate is %.2f %% off", workers, off*100)
			}
			return nil
		})
	}
}

// TestMeasuredMemory checks that at full speed warp stays below 100 MiB.
func TestMeasuredMemory(t *testing.T) {
	measuring(t)
	bin, addr := build(t, "warp"), nullProcess(t, 1024)
	for _, args := range [][]string{
		{"get", "--objects=100", "--concurrent=64"},
		{"put", "--concurrent=64"},
		{"mixed", "--objects=1000", "--concurrent=20"},
	} {
		peak := func(length time.Duration) (bytes int64, requests uint64) {
			data := filepath.Join(t.TempDir(), "run")
			cmd := exec.Command(bin, append(args, "--host="+addr, "--access-key=k", "--secret-key=s", "--obj.size=1KiB", "--json",
				"--duration="+length.String(), "--benchdata="+data)...)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %v", args, err)
			}
			r := (outcome{out: string(out)}).report(t)
			for _, op := range r.Operations {
				requests += op.Requests
			}
			return r.ClientLoad.MaxRSSBytes, requests // the rusage of a child includes its parent's peak
		}
		short, few := peak(time.Second)
		long, many := peak(6 * time.Second)
		t.Logf("%v: %.1f MiB after %d requests, %.1f MiB after %d", args, float64(short)/(1<<20), few, float64(long)/(1<<20), many)
		if long == 0 {
			t.Skip("this system does not tell how much memory a process had")
		}
		if long > 100<<20 {
			t.Errorf("%v: %d MiB resident", args, long>>20)
		}
	}
}
