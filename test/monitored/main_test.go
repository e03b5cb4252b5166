package monitored

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"warp/cli"
	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// actAsWarp makes the test binary run as warp.
const actAsWarp = "WARP_MONITORED_ACT_AS_WARP"

var stores teststore.Pool

func TestMain(m *testing.M) {
	if os.Getenv(actAsWarp) != "" {
		os.Exit(cli.Main(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(stores.Run(m))
}

// timeout is the limit for events that are certain to happen, even on a slow machine.
const timeout = 2 * time.Minute

// await polls until ok, while the run runs.
func (r *run) await(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(timeout); !ok(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-r.done:
			if ok() {
				return
			}
			r.t.Fatalf("it ended before there was what is waited for, %s: %s", what, r)
		default:
		}
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain for %s: %s", what, r)
		}
	}
}

// A run is a running warp with its log.
type run struct {
	t            *testing.T
	line         string
	cmd          *exec.Cmd
	log          string
	done         chan struct{}
	began, ended time.Time

	out, err teststore.Output
}

// start runs a benchmark with an empty environment, in a separate directory.
func start(t *testing.T, args ...string) *run {
	t.Helper()
	dir := t.TempDir()
	r := &run{t: t, log: filepath.Join(dir, "run.csv.zst"), done: make(chan struct{}), began: time.Now()}
	if !slices.Contains(args, "--stress") {
		args = append(args, "--benchdata="+filepath.Join(dir, "run"))
	}
	r.line = strings.Join(args, " ")
	self, err := os.Executable()
	check.OK(t, err)
	r.cmd = exec.Command(self, args...)
	r.cmd.Dir = dir
	r.cmd.Env = []string{actAsWarp + "=1", teststore.QuickExit, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	check.OK(t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait()
		r.ended = time.Now()
		close(r.done)
	}()
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.done })
	return r
}

func (r *run) stdout() string { return r.out.String() }
func (r *run) stderr() string { return r.err.String() }

func (r *run) String() string {
	return fmt.Sprintf("warp %s\n--- stdout\n%s--- stderr\n%s", r.line, r.stdout(), r.stderr())
}

// want fails the test if the run does not end, or ends with another exit code.
func (r *run) want(code int) *run {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(timeout):
		r.t.Fatalf("does not end: %s", r)
	}
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		r.t.Fatalf("exit %d, want %d: %s", got, code, r)
	}
	return r
}

// warns checks that standard error has a line with all of the words.
func (r *run) warns(words ...string) {
	r.t.Helper()
	r.says(r.stderr(), "warp: warning: ", words)
}

// reports checks that the report has a warning with all of the words.
func (r *run) reports(words ...string) {
	r.t.Helper()
	r.says(r.stdout(), "Warning: ", words)
}

// fails checks that there is exactly one error line, with all of the words.
func (r *run) fails(words ...string) {
	r.t.Helper()
	if n := strings.Count(r.stderr(), "warp: error: "); n != 1 {
		r.t.Errorf("%d error lines, want one: %s", n, r)
	}
	r.says(r.stderr(), "warp: error: ", words)
}

func (r *run) says(text, prefix string, words []string) {
	r.t.Helper()
	for l := range strings.Lines(text) {
		all := strings.HasPrefix(l, prefix)
		for _, w := range words {
			all = all && strings.Contains(l, w)
		}
		if all {
			return
		}
	}
	r.t.Errorf("no %q with %q: %s", prefix, words, r)
}

// nothingLost checks that the report mentions no lost figures.
func (r *run) nothingLost() {
	r.t.Helper()
	for _, text := range []string{r.stdout(), r.stderr()} {
		if strings.Contains(text, "did not reach") || strings.Contains(text, "Pushgateway failed") {
			r.t.Errorf("something was lost: %s", r)
		}
	}
}

// silentAbout checks that a secret is in nothing that the run leaves: output, report, log.
func (r *run) silentAbout(secret string) {
	r.t.Helper()
	all := map[string]string{"standard output": r.stdout(), "standard error": r.stderr()}
	if f, err := os.Open(r.log); err == nil {
		defer f.Close()
		z, err := zstd.NewReader(f)
		if err != nil {
			r.t.Fatal(err)
		}
		defer z.Close()
		text, err := io.ReadAll(z)
		if err != nil {
			r.t.Fatal(err)
		}
		all["the log"] = string(text)
	}
	for where, text := range all {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), url.User(secret).String()} {
			if strings.Contains(text, form) {
				r.t.Errorf("%s has the secret: %s", where, r)
			}
		}
	}
}

// rows reads the log.
func (r *run) rows() []oplog.Record {
	r.t.Helper()
	_, rows := testlog.ReadFile(r.t, r.log)
	return rows
}

// summarized returns the rows that the summary of the run is about: those that belong to its
// window, or all of an operation with fewer than 10 successful ones there.
func (r *run) summarized() (chosen []oplog.Record) {
	r.t.Helper()
	f, rows := testlog.ReadFile(r.t, r.log)
	w := f.Trailer().Window
	if w == nil || w.Begin == 0 {
		return rows
	}
	good := map[string]int{}
	for i := range rows {
		if rows[i].Err == "" && rows[i].Place(w.Begin, w.End) == oplog.InWindow {
			good[rows[i].Op]++
		}
	}
	for i := range rows {
		if good[rows[i].Op] < 10 || rows[i].Place(w.Begin, w.End) == oplog.InWindow {
			chosen = append(chosen, rows[i])
		}
	}
	return chosen
}

// client returns the id of the run's client.
func (r *run) client() string {
	r.t.Helper()
	rows := r.rows()
	if len(rows) == 0 {
		r.t.Fatalf("an empty log: %s", r)
	}
	return rows[0].Client
}

// A series is one operation at one endpoint, or at all of them without an endpoint.
type series struct{ op, endpoint string }

// figures are the figures of a series in the log, computed from the documentation and not by warp's
// own code.
type figures struct {
	requests, errors, objects, bytes int64
	times, firstBytes                []float64         // s, of requests that succeeded
	wire, client                     []float64         // s, of those whose client's part is known
	phases                           map[int][]float64 // s, including failed requests
	codes                            map[string]int64
	ends                             []int64
}

func (f *figures) add(r *oplog.Record) {
	f.requests++
	f.ends = append(f.ends, r.End())
	if r.Phases != nil {
		for k, d := range r.Phases {
			if d > 0 {
				f.phases[k] = append(f.phases[k], d.Seconds())
			}
		}
	}
	if r.Err != "" {
		code, _, _ := strings.Cut(r.Err, ":")
		f.errors++
		f.codes[code]++
		return
	}
	f.objects += int64(r.Objects)
	f.bytes += r.Bytes
	f.times = append(f.times, r.Duration.Seconds())
	if r.ClientTime > 0 {
		f.wire, f.client = append(f.wire, (r.Duration-r.ClientTime).Seconds()), append(f.client, r.ClientTime.Seconds())
	}
	switch {
	case r.FirstByte > 0:
		f.firstBytes = append(f.firstBytes, r.FirstByte.Seconds())
	case r.LastByte > 0:
		f.firstBytes = append(f.firstBytes, (r.Duration - r.LastByte).Seconds())
	}
}

// figuresOf groups the rows of a log by series.
func figuresOf(rows []oplog.Record) map[series]*figures {
	all := make(map[series]*figures)
	for i := range rows {
		for _, s := range []series{{rows[i].Op, ""}, {rows[i].Op, rows[i].Endpoint}} {
			if all[s] == nil {
				all[s] = &figures{codes: make(map[string]int64), phases: make(map[int][]float64)}
			}
			all[s].add(&rows[i])
		}
	}
	return all
}

func sum(of []float64) (s float64) {
	for _, v := range of {
		s += v
	}
	return s
}

// same compares sums that may differ by rounding.
func same(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b), 1e-3)
}

// A bed is a store behind two proxies, which are its hosts.
type bed struct {
	store *teststore.Store
	hosts [2]*teststore.Proxy
}

func newBed(t *testing.T, name string, faults func() []*teststore.Fault) *bed {
	t.Helper()
	b := &bed{store: stores.Shared(t, name)}
	for i := range b.hosts {
		var list []*teststore.Fault
		if faults != nil {
			list = faults()
		}
		b.hosts[i] = teststore.NewProxy(t, b.store.Endpoint, list...)
	}
	return b
}

// someFail makes one in ten downloads and uploads fail.
func someFail() []*teststore.Fault {
	on := func(method string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == method && isObject(r.URL.Path) }
	}
	return []*teststore.Fault{
		{Match: on(http.MethodGet), Status: 503, Every: 10},
		{Match: on(http.MethodPut), Status: 500, Code: "InternalError", Every: 10},
	}
}

// line returns a command line for the bed.
func (b *bed) line(op string, more ...string) []string {
	args := []string{op, "--host=" + b.hosts[0].Endpoint + "," + b.hosts[1].Endpoint, "--access-key=" + b.store.AccessKey,
		"--secret-key=" + b.store.SecretKey, "--region=" + b.store.Region, "--bucket=monitored", "--host-select=roundrobin",
		"--obj.size=1KiB-4KiB", "--concurrent=4"}
	return append(args, more...)
}

// uploads returns the number of uploads so far.
func (b *bed) uploads() (n int) {
	for _, h := range b.hosts {
		n += len(h.Requests(func(s *teststore.Seen) bool { return s.Method == http.MethodPut && s.Status == 200 && isObject(s.Path) }))
	}
	return n
}

// isObject reports whether a request is about an object of a run, rather than a bucket or a marker.
func isObject(path string) bool {
	_, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.HasSuffix(key, ".rnd")
}

// A gate is a server in front of a receiver. It delays requests while it is shut.
type gate struct {
	Addr string
	shut chan struct{} // closed when it opens
	once sync.Once

	mu   sync.Mutex
	held int
}

// newGate returns a gate in front of a server at addr. It delays only requests that match holds.
func newGate(t *testing.T, addr string, holds func(*http.Request) bool) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	g := &gate{Addr: l.Addr().String(), shut: make(chan struct{})}
	next := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	next.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	server := &http.Server{ReadHeaderTimeout: timeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if holds(r) && !g.pass(r) {
			return
		}
		next.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { g.open(); _ = server.Close() })
	return g
}

// pass waits until the gate is open. It returns false if the client has gone.
func (g *gate) pass(r *http.Request) bool {
	body, err := io.ReadAll(r.Body) // otherwise the server does not notice that the client goes
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.mu.Lock()
	g.held++
	g.mu.Unlock()
	select {
	case <-g.shut:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (g *gate) open() { g.once.Do(func() { close(g.shut) }) }

// waiting returns the number of requests delayed so far.
func (g *gate) waiting() int { g.mu.Lock(); defer g.mu.Unlock(); return g.held }

// A turnstile lets a number of uploads pass and delays the others until it is opened, so that
// something can happen in the middle of a run.
type turnstile struct {
	mu      sync.Mutex
	left    int
	reached chan struct{}
	opened  chan struct{}
}

func newTurnstile(after int) *turnstile {
	return &turnstile{left: after, reached: make(chan struct{}), opened: make(chan struct{})}
}

// fault returns a fault that never applies, but whose Match is called.
func (s *turnstile) fault() *teststore.Fault {
	return &teststore.Fault{Match: func(r *http.Request) bool {
		if r.Method != http.MethodPut || !isObject(r.URL.Path) {
			return false
		}
		s.mu.Lock()
		s.left--
		left := s.left
		s.mu.Unlock()
		if left == -1 {
			close(s.reached)
		}
		if left < 0 {
			<-s.opened
		}
		return false
	}}
}

func (s *turnstile) await(t *testing.T, r *run) {
	t.Helper()
	select {
	case <-s.reached:
	case <-r.done:
		t.Fatalf("ended early: %s", r)
	case <-time.After(timeout):
		t.Fatalf("never came so far: %s", r)
	}
}

func (s *turnstile) open() { close(s.opened) }

// stop ends a run, as Ctrl-C does.
func stop(r *run) { _ = r.cmd.Process.Signal(os.Interrupt) }

// documented returns the text between two marks in the documentation of receivers.
func documented(t *testing.T, begin, end string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/monitoring-setup.md")
	check.OK(t, err)
	_, rest, found := strings.Cut(string(page), begin)
	text, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("docs/monitoring-setup.md has nothing between %q and %q", begin, end)
	}
	return text
}
