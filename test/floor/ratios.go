package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A row is one line of the table: the same work by floor and by warp.
type row struct {
	name, op string
	size     int
	flags    []string // of warp
	hashed   bool     // warp also hashes the payload, which floor does not
	stress   bool     // not against floor, but against warp without a log
	tls      bool
	wide     bool // thousands of connections
	goal     float64
}

// ownAPI reports whether the row is about a store that does not speak S3.
func (r row) ownAPI() bool {
	return slices.ContainsFunc(r.flags, func(flag string) bool { return strings.HasPrefix(flag, "--provider=") })
}

// connections are how many requests the row has at a time.
func (r row) connections() int {
	if r.wide {
		return 4096
	}
	return 8
}

// kernelRow is the row of which it is also said how much of it the kernel does.
const kernelRow = "GET 1 KiB"

func rows() []row {
	const unsigned = "--disable-sha256-payload"
	bearer := []string{"--provider=gcs", "--access-token=a-token-of-which-requests-carry-all-that-there-is"}
	shared := []string{"--provider=azure", "--access-key=account", "--secret-key=c2VjcmV0"}
	return []row{
		{name: kernelRow, op: "get", size: 1 << 10, goal: 1.3},
		{name: "PUT 1 KiB, payload unsigned", op: "put", size: 1 << 10, flags: []string{unsigned}, goal: 1.25},
		{name: "STAT", op: "stat", size: 1 << 10, goal: 1.2},
		{name: "GET 10 MiB", op: "get", size: 10 << 20, goal: 1},
		{name: "PUT 10 MiB, payload unsigned", op: "put", size: 10 << 20, flags: []string{unsigned}, goal: 0.85},
		{name: "PUT 10 MiB, against floor + SHA-256", op: "put", size: 10 << 20, hashed: true, goal: 1.1},
		{name: "recording: GET 1 KiB against --stress", op: "get", size: 1 << 10, stress: true, goal: 1.1},
		{name: "GET 1 KiB, TLS", op: "get", size: 1 << 10, tls: true, goal: 1.3},
		{name: "PUT 1 KiB, TLS", op: "put", size: 1 << 10, tls: true, goal: 1.35},
		{name: "GET 10 MiB, TLS", op: "get", size: 10 << 20, tls: true, goal: 1.05},
		{name: "PUT 10 MiB, TLS", op: "put", size: 10 << 20, tls: true, goal: 1.15},
		{name: "GET 1 KiB, 4,096 at a time", op: "get", size: 1 << 10, wide: true, goal: 1.6}, // and 200 MiB
		{name: "GET 1 KiB, Google Cloud Storage", op: "get", size: 1 << 10, flags: bearer, goal: 1.3},
		{name: "PUT 1 KiB, Google Cloud Storage", op: "put", size: 1 << 10, flags: bearer, goal: 1.3},
		{name: "STAT, Google Cloud Storage", op: "stat", size: 1 << 10, flags: bearer, goal: 1.3},
		{name: "GET 1 KiB, Azure", op: "get", size: 1 << 10, flags: shared, goal: 1.3},
		{name: "PUT 1 KiB, Azure", op: "put", size: 1 << 10, flags: shared, goal: 1.3},
		{name: "STAT, Azure", op: "stat", size: 1 << 10, flags: shared, goal: 1.3},
		{name: "GET 1 KiB, --engine=minio", op: "get", size: 1 << 10, flags: []string{"--engine=minio"}},
	}
}

// A bench runs both programs against null stores.
type bench struct {
	warp, nullstore string
	runs            int
	duration        time.Duration
	resident        time.Duration
	kernel          []float64 // share of the CPU time of GET 1 KiB that is the kernel's
	dir             string
}

func ratios(args []string) error {
	f := flag.NewFlagSet("ratios", flag.ContinueOnError)
	b := bench{}
	f.StringVar(&b.warp, "warp", "./warp", "the warp to measure")
	f.StringVar(&b.nullstore, "nullstore", "./nullstore", "the null store to measure against")
	f.IntVar(&b.runs, "n", 5, "runs, of which the median counts")
	f.DurationVar(&b.duration, "d", 3*time.Second, "how long each takes")
	f.DurationVar(&b.resident, "resident", 30*time.Second, "how long the row on memory takes")
	only := f.String("only", "", "only rows whose name contains this")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "warp-floor-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	fmt.Printf("CPU time of the client (user + system, whole process), 8 requests at a time, medians of %d runs of %v\n\n", b.runs, b.duration)
	fmt.Printf("%-38s %12s %12s %7s %6s %9s\n", "work", "floor µs/req", "warp µs/req", "ratio", "goal", "resident")
	for _, r := range rows() {
		if !strings.Contains(r.name, *only) {
			continue
		}
		if err := b.row(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if len(b.kernel) > 0 {
		fmt.Printf("\n%-38s %25.0f %% of GET 1 KiB   goal at least 60 %%\n", "CPU time of warp in the kernel", 100*median(b.kernel))
	}
	if strings.Contains(startRow, *only) {
		if err := b.start(); err != nil {
			return err
		}
	}
	if b.resident > 0 && strings.Contains(residentRow, *only) {
		return b.memory()
	}
	return nil
}

// row alternates between floor and warp, so that both see the same machine.
func (b *bench) row(r row) error {
	var floors, warps, rss []float64
	base := b.floor
	if r.stress {
		base = b.withoutLog
	}
	for range b.runs {
		floor, _, err := b.measure(r, base)
		if err != nil {
			return err
		}
		warp, resident, err := b.measure(r, b.warpRun)
		if err != nil {
			return err
		}
		floors, warps, rss = append(floors, floor), append(warps, warp), append(rss, resident)
	}
	floor, warp := median(floors), median(warps)
	if r.hashed {
		floor += hashCost(r.size)
	}
	goal := "–"
	if r.goal > 0 {
		goal = fmt.Sprintf("%.2f", r.goal)
	}
	fmt.Printf("%-38s %12.2f %12.2f %7.2f %6s %5.0f MiB\n", r.name, floor, warp, warp/floor, goal, median(rss))
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// hashCost is what SHA-256 of a payload takes, in µs of CPU time like all the rest.
func hashCost(size int) float64 {
	data := make([]byte, size)
	start := cpuTime()
	const times = 10
	for range times {
		sha256.Sum256(data)
	}
	return float64((cpuTime() - start).Microseconds()) / times
}

// A client works against the store at addr and ends.
type client func(r row, addr string) (requests int64, p *os.ProcessState, err error)

// measure runs a client against a null store of its own. It returns the
// client's CPU time per request in µs, and its memory.
func (b *bench) measure(r row, c client) (cost, rss float64, err error) {
	err = b.withStore(r, func(addr string) error {
		requests, state, err := c(r, addr)
		if err != nil {
			return err
		}
		cpu := state.UserTime() + state.SystemTime()
		cost, rss = float64(cpu.Nanoseconds())/1e3/float64(max(requests, 1)), maxRSS(state)
		return nil
	})
	return cost, rss, err
}

// withStore calls do with the address of a null store, which lives as long as the call.
func (b *bench) withStore(r row, do func(addr string) error) error {
	store := exec.Command(b.nullstore, "-size", strconv.Itoa(r.size), "-stdin", fmt.Sprintf("-tls=%v", r.tls))
	stdin, err := store.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := store.StdoutPipe()
	if err != nil {
		return err
	}
	if err := store.Start(); err != nil {
		return err
	}
	defer store.Wait()
	defer stdin.Close() // ends it
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the null store: %w", err)
	}
	return do(strings.TrimSpace(addr))
}

func (b *bench) floor(r row, addr string) (requests int64, p *os.ProcessState, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	out, p, err := output(exec.Command(self, r.op, "-addr", addr, "-size", strconv.Itoa(r.size), "-d", b.duration.String(),
		"-c", strconv.Itoa(r.connections()), fmt.Sprintf("-tls=%v", r.tls)))
	if err == nil {
		_, err = fmt.Sscanf(string(out), "requests=%d", &requests)
	}
	return requests, p, err
}

// withoutLog runs warp as in the row, but with nothing recorded.
func (b *bench) withoutLog(r row, addr string) (requests int64, p *os.ProcessState, err error) {
	r.flags = append(slices.Clone(r.flags), "--stress")
	return b.warpRun(r, addr)
}

func (b *bench) warpRun(r row, addr string) (requests int64, p *os.ProcessState, err error) {
	out, p, err := output(b.command(r, addr, r.connections(), b.duration))
	if err != nil {
		return 0, nil, err
	}
	if r.name == kernelRow {
		b.kernel = append(b.kernel, p.SystemTime().Seconds()/(p.SystemTime()+p.UserTime()).Seconds())
	}
	requests, err = answered(out, r.op)
	return requests, p, err
}

// command is warp doing the row's work.
func (b *bench) command(r row, addr string, concurrency int, d time.Duration) *exec.Cmd {
	log := filepath.Join(b.dir, "log")
	os.Remove(log + ".csv.zst")
	args := []string{r.op, "--host=" + addr,
		"--obj.size=" + strconv.Itoa(r.size), "--concurrent=" + strconv.Itoa(concurrency), "--duration=" + d.String(),
		"--noclear", "--json", "--quiet"}
	if !slices.Contains(r.flags, "--stress") {
		args = append(args, "--benchdata="+log)
	}
	if !r.ownAPI() {
		args = append(args, "--access-key=key", "--secret-key=secret", "--region=us-east-1")
	}
	if r.tls {
		args = append(args, "--tls", "--insecure")
	}
	if r.op != "put" {
		args = append(args, "--objects="+strconv.Itoa(r.objects()))
	}
	return exec.Command(b.warp, append(args, r.flags...)...)
}

// objects is how many warp uploads before it downloads. Uploads are hashed, which of large ones is work that the row is not about.
func (r row) objects() int {
	if r.size > 1<<20 {
		return 1
	}
	return 8
}

// answered is how many requests of an operation warp's report counts.
func answered(out []byte, op string) (requests int64, err error) {
	var report struct {
		Operations []struct {
			Op       string `json:"op"`
			Requests int64  `json:"requests"`
			Errors   int64  `json:"errors"`
		} `json:"operations"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, fmt.Errorf("warp's report: %w", err)
	}
	for _, o := range report.Operations {
		if strings.EqualFold(o.Op, op) && o.Errors == 0 {
			requests += o.Requests
		}
	}
	return requests, nil
}

func output(cmd *exec.Cmd) (out []byte, p *os.ProcessState, err error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, io.Writer(&stderr)
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w\n%s", cmd.Path, strings.Join(cmd.Args[1:], " "), err, &stderr)
	}
	return stdout.Bytes(), cmd.ProcessState, nil
}
