package distributed

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "warp/cli" // the binary is built from this: a change makes cached results of these tests stale
	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/test/testbinary"
)

var (
	stores teststore.Pool
	binary string
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "flyctl" {
		os.Exit(flyctl())
	}
	os.Exit(testbinary.Run(func(warp string) int {
		binary = warp
		return stores.Run(m)
	}))
}

// A counter is in front of a store and counts the requests for objects by client.
type counter struct {
	addr    string
	mu      sync.Mutex
	n       map[string]int    // by client
	methods map[string]int    // all requests
	source  map[string]string // address of the latest request of a client
}

// clientOf finds the client in the name of an object, because each has a separate directory.
var clientOf = regexp.MustCompile(`/c([0-9]+)/.*\.rnd$`)

func count(t *testing.T, listen, store string) *counter {
	t.Helper()
	c := &counter{n: map[string]int{}, methods: map[string]int{}, source: map[string]string{}}
	c.addr = passOn(t, listen, store, func(r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		m := clientOf.FindStringSubmatch(r.URL.Path)
		switch {
		case m != nil && r.Method != "DELETE":
			c.n[m[1]]++
			c.source[m[1]], _, _ = net.SplitHostPort(r.RemoteAddr)
			fallthrough
		case r.Method == "POST": // several objects are deleted
			c.methods[r.Method]++
		}
	})
	return c
}

// from returns the address of a client's requests.
func (c *counter) from(client string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source[client]
}

// count returns the number of requests of a method.
func (c *counter) count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.methods[method]
}

// busy returns the clients that have made more than limit requests.
func (c *counter) busy(limit int) (busy []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for client, n := range c.n {
		if n > limit {
			busy = append(busy, client)
		}
	}
	return busy
}

// passOn accepts requests to the store and calls look with each.
func passOn(t *testing.T, listen, store string, look func(*http.Request)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", listen+":0")
	check.OK(t, err)
	target := &url.URL{Scheme: "http", Host: store}
	proxy := &httputil.ReverseProxy{
		ErrorLog:  log.New(io.Discard, "", 0), // about clients that hang up when they are killed
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look(r)
		proxy.ServeHTTP(w, r)
	})}
	go server.Serve(l)
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.n)
	clear(c.methods)
}

// A host runs processes; without a namespace it is this machine.
type host struct {
	namespace string
	addr      string // address of its client
	link      string // interface to the coordinator
	second    string // address in the network of the store
	dir       string
	files     int // limit on open files; 0 = as here
	client    *process
	read      int // how much of the client's output has been read
	started   []*process
	warp      string // the program; "" = the one that users run
}

// ahead gives the host a warp whose clock differs by skew.
func (h *host) ahead(t *testing.T, skew string) {
	t.Helper()
	h.warp = filepath.Join(t.TempDir(), "warp")
	check.OK(t, testbinary.Build(h.warp, "warp", "-ldflags=-X warp/cli/commands.clockSkew="+skew))
}

func (h *host) command(args ...string) *exec.Cmd {
	binary := cmp.Or(h.warp, binary)
	cmd := exec.Command(binary, args...)
	if h.namespace != "" {
		cmd = exec.Command("ip", append([]string{"netns", "exec", h.namespace, binary}, args...)...)
	}
	if h.files > 0 {
		limited := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, h.files)
		cmd = exec.Command("sh", append([]string{"-c", limited, binary}, args...)...)
	}
	cmd.Dir = h.dir
	cmd.Env = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "WARP_CLIENT_TOKEN=a token of these tests"}
	return cmd
}

// A process is a running warp.
type process struct {
	cmd  *exec.Cmd
	out  teststore.Output
	rows teststore.Output // standard output, if it is separate
	done chan struct{}
}

func (h *host) start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{}
	h.launch(t, p, &p.out, args)
	return p
}

// startRows starts a process with separate standard output.
func (h *host) startRows(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{}
	h.launch(t, p, &p.rows, args)
	return p
}

func (h *host) launch(t *testing.T, p *process, stdout *teststore.Output, args []string) {
	t.Helper()
	p.cmd, p.done = h.command(args...), make(chan struct{})
	p.cmd.Stdout, p.cmd.Stderr = stdout, &p.out
	check.OK(t, p.cmd.Start())
	h.started = append(h.started, p)
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { p.kill(); <-p.done })
}

// kill sends SIGKILL. "ip netns exec" becomes the program that it starts, so it is the right
// process.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// wait returns the exit code. It fails after a timeout, because nothing may hang.
func (p *process) wait(t *testing.T, most time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(most):
		p.kill()
		t.Fatalf("it hangs:\n%s", p.out.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// has waits for output of the process.
func (p *process) has(t *testing.T, text string) {
	t.Helper()
	p.await(t, fmt.Sprintf("it never said %q", text), func() bool { return strings.Contains(p.out.String(), text) })
}

// await waits for a condition while the process runs.
func (p *process) await(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s:\n%s", otherwise, p.out.String())
		}
	}
}

// A cluster is a coordinator, its clients, and a store that counts requests.
type cluster struct {
	coordinator *host
	clients     []*host
	store       *counter
	target      []string // flags for the store

	access, secret, region string
}

func (c *cluster) startClients(t *testing.T) {
	t.Helper()
	for _, h := range c.clients {
		h.client = h.start(t, "client", h.addr)
	}
	for _, h := range c.clients {
		h.client.has(t, "listens at")
		if h.warp != "" {
			h.client.has(t, "the clock is shifted")
		}
	}
}

func (c *cluster) list() string {
	var all []string
	for _, h := range c.clients {
		all = append(all, h.addr)
	}
	return "--warp-client=" + strings.Join(all, ",")
}

func (c *cluster) run(t *testing.T, name, duration string, more ...string) *process {
	t.Helper()
	return c.runOp(t, "get", name, duration, more...)
}

func (c *cluster) runOp(t *testing.T, op, name, duration string, more ...string) *process {
	t.Helper()
	c.store.reset()
	args := append([]string{op, c.list(), "--duration=" + duration, "--benchdata=" + name, "--obj.size=4KiB",
		"--concurrent=2", "--lease=12s", "--rps-limit=200", "--no-color"}, c.target...)
	if op != "put" {
		args = append(args, "--objects=20")
	}
	return c.coordinator.start(t, append(args, more...)...)
}

// measuring waits until all clients download.
func (c *cluster) measuring(t *testing.T, p *process) {
	t.Helper()
	p.has(t, "seed ")
	p.await(t, "not all clients download", func() bool { return len(c.store.busy(30)) == len(c.clients) }) // 20 are uploads
}

// recorded also waits until the coordinator has parts of all clients' logs.
func (c *cluster) recorded(t *testing.T, p *process, name string) {
	t.Helper()
	c.measuring(t, p)
	p.await(t, "not all logs arrive", func() bool {
		spools, err := filepath.Glob(filepath.Join(c.coordinator.dir, name+".*.spool"))
		return err == nil && len(spools) == len(c.clients) && !slices.ContainsFunc(spools, func(path string) bool {
			info, err := os.Stat(path)
			return err != nil || info.Size() == 0
		})
	})
}

// holds compares the rows of the log with the requests that the store got from the clients that
// count.
func (c *cluster) holds(t *testing.T, name string, clients ...int) {
	t.Helper()
	c.compare(t, name, 0, clients)
}

// about is holds after an interruption, which ends the current request of each of the two threads.
func (c *cluster) about(t *testing.T, name string, clients ...int) {
	t.Helper()
	c.compare(t, name, 2, clients)
}

func (c *cluster) compare(t *testing.T, name string, cut int, clients []int) {
	t.Helper()
	_, all := testlog.ReadFile(t, filepath.Join(c.coordinator.dir, name+".csv.zst"))
	rows := map[string]int{}
	failed := 0
	for i := range all {
		if all[i].Err != "" {
			failed++
		}
		rows[clientOf.FindStringSubmatch("/" + all[i].Key)[1]]++
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	t.Logf("%s: rows %v, the store saw %v", name, rows, c.store.n)
	if failed > 0 || cut == 0 && len(rows) != len(clients) {
		t.Errorf("%s: %d failed, rows of %v", name, failed, rows)
	}
	for _, i := range clients {
		key := fmt.Sprint(i)
		if cut == 0 && rows[key] == 0 || rows[key] > c.store.n[key] || rows[key] < c.store.n[key]-cut {
			t.Errorf("%s: client %d has %d rows, and the store saw %d requests", name, i, rows[key], c.store.n[key])
		}
	}
}

// clean fails if anything of a run is left.
func (c *cluster) clean(t *testing.T) {
	t.Helper()
	p := c.coordinator.start(t, append([]string{"clean", "--dry-run"}, c.target...)...)
	if code := p.wait(t, time.Minute); code != 0 || !strings.Contains(p.out.String(), "nothing that a run of warp left") {
		t.Errorf("%d: %s", code, p.out.String())
	}
}

func (p *process) ends(t *testing.T, code int, text string) {
	t.Helper()
	if got := p.wait(t, 2*time.Minute); got != code || !strings.Contains(p.out.String(), text) {
		t.Errorf("exit code %d, want %d with %q:\n%s", got, code, text, p.out.String())
	}
}
