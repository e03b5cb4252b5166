package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/results"
)

// A wireTest is a run against a store that keeps its own times, while something keeps warp from running, or nothing.
type wireTest struct {
	name   string
	store  []string // flags of the store
	wrap   []string // what runs warp
	flags  []string
	veth   bool // the store is in a network namespace of its own
	busy   bool // other processes use the cores
	stop   bool // warp is stopped for 300 ms every 2 s
	late   bool // service times rise, and the verdict names them
	stores bool // p50 is the store's, whatever happens to warp
}

// TestMeasuredWire compares the times on the wire with the store's own log. The store has real-time priority.
func TestMeasuredWire(t *testing.T) {
	measuring(t)
	if exec.Command("chrt", "-f", "10", "true").Run() != nil {
		t.Skip("no real-time priority here")
	}
	warp, store := build(t, "warp"), build(t, "warp/test/timedstore")
	nice := []string{"nice", "-n", "19"}
	for _, test := range []wireTest{
		{name: "quiet"},
		{name: "open loop", flags: []string{"--rps-limit=500"}},
		{name: "TLS", store: []string{"-tls"}, flags: []string{"--tls", "--insecure"}},
		{name: "random service", store: []string{"-random"}},
		{name: "low priority beside others", wrap: nice, busy: true, late: true},
		{name: "one core", wrap: []string{"taskset", "-c", "0"}, busy: true},
		{name: "stopped", stop: true, late: true},
		{name: "open loop, stopped", flags: []string{"--rps-limit=500"}, stop: true, late: true},
		{name: "network namespace", veth: true},
		{name: "network namespace, low priority beside others", veth: true, wrap: nice, busy: true, late: true},
		// A store that is really slow is not excused.
		{name: "slow store beside others", store: []string{"-service=300ms"}, busy: true, stores: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.busy {
				neighbours(t, 2*runtime.NumCPU())
			}
			check.Measured(t, func() error { return test.run(t, warp, store) })
		})
	}
}

func (w *wireTest) run(t *testing.T, warp, store string) error {
	if len(w.wrap) > 0 {
		if _, err := exec.LookPath(w.wrap[0]); err != nil {
			t.Skipf("there is no %s", w.wrap[0])
		}
	}
	prefix, listen := []string(nil), "127.0.0.1:0"
	if w.veth {
		namespace, ip := namespace(t)
		prefix, listen = []string{"ip", "netns", "exec", namespace}, ip+":0"
	}
	addr, times := timedStore(t, slices.Concat(prefix, []string{store, "-addr=" + listen}, w.store)...)
	duration := "--duration=3s"
	if w.stop {
		duration = "--duration=5s"
	}
	args := slices.Concat(w.wrap, []string{warp, "get", "--json", "--host=" + addr, "--access-key=wire", "--secret-key=secretsecret", "--objects=10", "--obj.size=1KiB",
		duration, "--concurrent=4", "--benchdata=" + filepath.Join(t.TempDir(), "run")}, w.flags)
	r := runStopped(t, args, w.stop)
	op := measuredOperation(t, r, "GET")
	own := times()
	if op.Wire == nil || r.Client == nil || len(own) < 20 {
		t.Fatalf("no times on the wire: %+v, %d of the store's", r.Client, len(own))
	}
	t.Logf("%d requests: %s", op.Inside, r.Client.Text())
	for _, f := range []struct {
		name             string
		service, wire, q float64
	}{{"p50", op.Duration.P50, op.Wire.P50, .5}, {"p99", op.Duration.P99, op.Wire.P99, .99}} {
		want := float64(own[int(f.q*float64(len(own)-1))]) / 1e6
		t.Logf("%s: service time %.3f ms, on the wire %.3f ms, the store's own %.3f ms", f.name, f.service, f.wire, want)
		if f.name == "p99" && len(own) < 500 {
			continue // it is one of the few slowest, and the store's log also has those before the window
		}
		// The store's log ends before the answer has passed through the kernel.
		if f.wire < want-.05 || f.wire > want*1.1+.2 {
			return fmt.Errorf("%s on the wire is %.3f ms, the store's own %.3f ms", f.name, f.wire, want)
		}
	}
	median := slices.ContainsFunc(r.Client.Figures, func(f results.ClientFigure) bool { return f.Figure == "p50" })
	if op.Response != nil && w.late && !strings.Contains(r.Client.Sentence, "the delay behind the schedule") {
		return fmt.Errorf("requests were sent late, and the verdict is %+v", r.Client)
	}
	if w.late && len(r.Client.Figures) == 0 || w.stores && median {
		return fmt.Errorf("%+v", r.Client)
	}
	return nil
}

// Late readers make the store wait, so nobody can tell its part of large downloads. No figure is called the store's.
func TestMeasuredWireOfLargeObjects(t *testing.T) {
	measuring(t)
	warp, store := build(t, "warp"), build(t, "warp/test/timedstore")
	neighbours(t, 2*runtime.NumCPU())
	addr, _ := timedStore(t, store, "-size=10485760")
	check.Measured(t, func() error {
		r := runStopped(t, []string{"nice", "-n", "19", warp, "get", "--json", "--host=" + addr, "--access-key=wire", "--secret-key=secretsecret", "--objects=4", "--obj.size=10MiB",
			"--duration=3s", "--concurrent=4", "--benchdata=" + filepath.Join(t.TempDir(), "run")}, false)
		if r.Client == nil {
			t.Fatal("no verdict")
		}
		t.Log(r.Client.Text())
		if v := r.Client.Verdict; v != results.UnknownOwner && v != results.ClientLimited {
			return fmt.Errorf("%+v", r.Client)
		}
		return nil
	})
}

// The report of a fleet names the client whose machine was busy.
func TestMeasuredWireOfFleet(t *testing.T) {
	measuring(t)
	warp, store := build(t, "warp"), build(t, "warp/test/timedstore")
	addr, _ := timedStore(t, store, "-service=20ms")
	t.Setenv("WARP_CLIENT_TOKEN", "a token of these tests")
	var clients []string
	var busy *exec.Cmd
	for range 3 {
		c := teststore.FreeAddress(t)
		cmd := exec.Command(warp, "client", c)
		var out teststore.Output
		cmd.Stdout, cmd.Stderr = &out, &out
		check.OK(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGCONT)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		check.Eventually(t, "a client at "+c, func() bool { return strings.Contains(out.String(), "listens at") })
		clients, busy = append(clients, c), cmd
	}
	ended := make(chan struct{})
	go stopRegularly(busy.Process, ended)
	defer close(ended)
	check.Measured(t, func() error {
		r := runStopped(t, []string{warp, "get", "--json", "--host=" + addr, "--access-key=wire", "--secret-key=secretsecret", "--objects=12", "--obj.size=1KiB",
			"--duration=6s", "--concurrent=4", "--warp-client=" + strings.Join(clients, ","), "--benchdata=" + filepath.Join(t.TempDir(), "run")}, false)
		for _, p := range measuredOperation(t, r, "GET").ByClient {
			t.Logf("%s: p99 %.3f ms, on the wire %.3f ms", p.Name, p.Duration.P99, p.Wire.P99)
		}
		if r.Client == nil || !slices.Contains(r.Client.Clients, clients[2]) || !strings.Contains(r.Client.Sentence, clients[2]) {
			return fmt.Errorf("%s was busy, and the verdict is %+v", clients[2], r.Client)
		}
		return nil
	})
}

// namespace creates a network namespace that a pair of interfaces connects with this one, and returns its address.
func namespace(t *testing.T) (name, ip string) {
	t.Helper()
	name = fmt.Sprintf("wire%d", rand.IntN(1e5)) // the kernel removes the previous one later
	net := fmt.Sprintf("10.%d.%d", 28+rand.IntN(100), rand.IntN(256))
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() }) // with its interface, and so the peer
	for _, line := range []string{
		"netns add " + name,
		"link add " + name + "v type veth peer name eth0 netns " + name,
		"addr add " + net + ".1/24 dev " + name + "v",
		"link set " + name + "v up",
		"-n " + name + " addr add " + net + ".2/24 dev eth0",
		"-n " + name + " link set eth0 up",
		"-n " + name + " link set lo up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			if teststore.InCI() && os.Getuid() == 0 {
				t.Fatalf("ip %s: %v: %s", line, err, out)
			}
			t.Skipf("SKIPPED: network namespaces need root and ip: ip %s: %v: %s", line, err, out)
		}
	}
	return name, net + ".2"
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
func timedStore(t *testing.T, args ...string) (addr string, times func() []int64) {
	t.Helper()
	if exec.Command("chrt", "-f", "10", "true").Run() == nil {
		args = append([]string{"chrt", "-f", "10"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
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
	if stop {
		go stopRegularly(cmd.Process, ended)
	}
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

// stopRegularly stops a process for 300 ms every 2 s, until ended.
func stopRegularly(p *os.Process, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(1700 * time.Millisecond):
		}
		_ = p.Signal(syscall.SIGSTOP)
		time.Sleep(300 * time.Millisecond)
		_ = p.Signal(syscall.SIGCONT)
	}
}
