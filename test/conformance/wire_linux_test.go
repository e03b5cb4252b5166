package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/results"
)

// TestMeasuredWire compares the times on the wire with the store's own log, while the machine is quiet and while something
// keeps warp from running. The store has real-time priority.
func TestMeasuredWire(t *testing.T) {
	measuring(t)
	if exec.Command("chrt", "-f", "10", "true").Run() != nil {
		t.Skip("no real-time priority here")
	}
	warp, store := build(t, "warp"), build(t, "warp/test/timedstore")
	for _, test := range []struct {
		name  string
		wrap  []string
		flags []string
		busy  bool // other processes use the cores; then there are few requests
		stop  bool // warp is stopped for 300 ms every 2 s
		late  bool // service times rise
	}{
		{name: "quiet"},
		{name: "quiet, open loop", flags: []string{"--rps-limit=500"}},
		{name: "low priority beside others", wrap: []string{"nice", "-n", "19"}, busy: true, late: true},
		{name: "stopped", stop: true, late: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.busy {
				neighbours(t, 2*runtime.NumCPU())
			}
			addr, times := timedStore(t, store)
			args := append(slices.Clone(test.wrap), warp, "get", "--json", "--host="+addr, "--access-key=wire", "--secret-key=secretsecret", "--objects=10", "--obj.size=1KiB",
				"--duration=4s", "--concurrent=4", "--benchdata="+filepath.Join(t.TempDir(), "run"))
			r := runStopped(t, append(args, test.flags...), test.stop)
			op := measuredOperation(t, r, "GET")
			own := times()
			if op.Wire == nil || r.Client == nil || len(own) < 20 {
				t.Fatalf("no times on the wire: %+v, %d of the store's", r.Client, len(own))
			}
			for _, f := range []struct {
				name             string
				service, wire, q float64
			}{{"p50", op.Duration.P50, op.Wire.P50, .5}, {"p99", op.Duration.P99, op.Wire.P99, .99}} {
				want := float64(own[int(f.q*float64(len(own)-1))]) / 1e6
				t.Logf("%s: service time %.3f ms, on the wire %.3f ms, the store's own %.3f ms", f.name, f.service, f.wire, want)
				// The store's log ends before the answer has passed through the kernel.
				if f.wire < want-.05 || f.wire > want*1.1+.2 {
					t.Errorf("%s on the wire is %.3f ms, the store's own %.3f ms", f.name, f.wire, want)
				}
			}
			if named := slices.ContainsFunc(r.Client.Figures, func(f results.ClientFigure) bool { return f.Figure == "p99" || f.Figure == "p99.9" }); test.late && !named {
				t.Errorf("%+v", r.Client)
			}
		})
	}
}

func measuredOperation(t *testing.T, r *results.Report, name string) *results.Operation {
	t.Helper()
	for i := range r.Operations {
		if o := &r.Operations[i]; o.Op == name && r.Groups[o.Group].Kind == results.KindMeasured {
			return o
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

// timedStore starts a store. times ends it and returns its own times in ns, sorted.
func timedStore(t *testing.T, bin string) (addr string, times func() []int64) {
	t.Helper()
	cmd := exec.Command(bin)
	if exec.Command("chrt", "-f", "10", "true").Run() == nil {
		cmd = exec.Command("chrt", "-f", "10", bin)
	}
	in, err := cmd.StdinPipe()
	check.OK(t, err)
	out, err := cmd.StdoutPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	addr, err = lines.ReadString('\n')
	check.OK(t, err)
	return strings.TrimSpace(addr), func() (all []int64) {
		in.Close()
		text, err := io.ReadAll(lines)
		check.OK(t, err)
		check.OK(t, json.Unmarshal(text, &all))
		slices.Sort(all)
		return all
	}
}

// runStopped runs warp, and stops it for a while every 2 s if wanted.
func runStopped(t *testing.T, args []string, stop bool) *results.Report {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	check.OK(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		for stop {
			select {
			case <-ended:
				return
			case <-time.After(1700 * time.Millisecond):
			}
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
	}()
	err := cmd.Wait()
	close(ended)
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var r results.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(fmt.Errorf("%w\n%s", err, &out))
	}
	return &r
}
