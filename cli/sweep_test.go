//go:build !windows

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/aggregate"
	"warp/pkg/s3mem"
	"warp/pkg/sweep"
)

// A queueStore is a store in which so many downloads at a time take the service time each, and others wait.
type queueStore struct {
	address string
	uploads atomic.Int64 // of objects, without markers
	store   *s3mem.Embedded
}

func newQueueStore(t *testing.T, workers int, service time.Duration) *queueStore {
	t.Helper()
	store, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	q := &queueStore{store: store}
	slots := make(chan struct{}, workers)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".rnd") {
			switch r.Method {
			case http.MethodPut:
				q.uploads.Add(1)
			case http.MethodGet:
				slots <- struct{}{}
				time.Sleep(service)
				<-slots
			}
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.Close(); _ = store.Close() })
	q.address = server.Listener.Addr().String()
	return q
}

// keys lists the objects of the default bucket.
func (q *queueStore) keys(t *testing.T) []string {
	t.Helper()
	r, err := http.Get("http://" + q.address + "/warp-benchmark-bucket?list-type=2")
	check.OK(t, err)
	defer r.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r.Body)
	check.OK(t, err)
	var keys []string
	for _, part := range strings.Split(b.String(), "<Key>")[1:] {
		key, _, _ := strings.Cut(part, "</Key>")
		keys = append(keys, key)
	}
	return keys
}

// sweepCommandIn returns warp sweep in a folder, with credentials in its environment.
func sweepCommandIn(t *testing.T, dir string, args ...string) (c *exec.Cmd, out, errw *bytes.Buffer) {
	t.Helper()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	c = exec.Command(path, append([]string{"sweep"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), teststore.QuickExit, "WARP_ACCESS_KEY=key", "WARP_SECRET_KEY=secret-key")
	out, errw = &bytes.Buffer{}, &bytes.Buffer{}
	c.Stdout, c.Stderr = out, errw
	return c, out, errw
}

// runSweep runs warp sweep with --json, and returns its result.
func runSweep(t *testing.T, dir string, code int, args ...string) (r *sweep.Result, stderr string) {
	t.Helper()
	c, out, errw := sweepCommandIn(t, dir, append([]string{"--json"}, args...)...)
	_ = c.Run()
	if c.ProcessState.ExitCode() != code {
		t.Fatalf("exit code %d, want %d: %s%s", c.ProcessState.ExitCode(), code, errw, out)
	}
	r = &sweep.Result{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatalf("%v: %s%s", err, errw, out)
	}
	return r, errw.String()
}

// The throughput of N workers is min(N, c)/s at each of eight points, all over one pool that is uploaded once and removed
// at the end.
func TestMeasuredSweepOfAQueue(t *testing.T) {
	check.Measured(t, func() error { return measureSweepOfAQueue(t) })
}

func measureSweepOfAQueue(t *testing.T) error {
	const workers, service = 4, 40 * time.Millisecond
	store := newQueueStore(t, workers, service)
	dir := t.TempDir()
	r, stderr := runSweep(t, dir, exit.OK, "--pause=0s", "--logs=logs", "--vary=concurrent=1..8+1", "--show=objs,p50", "--repeat=3",
		"get", "--host="+store.address, "--obj.size=1KiB", "--objects=12", "--duration=600ms", "--seed=7")
	if n := store.uploads.Load(); n != 12 {
		t.Errorf("%d uploads, want those of one pool, 12", n)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
	if len(r.Points) != 8 || r.Missing != 0 || r.Again == nil || r.Seed != 7 {
		t.Fatalf("%+v", r)
	}
	for i, p := range r.Points {
		want := math.Min(float64(i+1), workers) / service.Seconds()
		if got := p.Cells[0].Median; got > want*1.05 || got < want*.8 { // each sleep takes a little longer
			return fmt.Errorf("concurrency %d: %.1f objects/s, want %.1f", i+1, got, want)
		}
	}
	if c := r.Conclusions; len(c) != 1 || c[0].Enough == nil || c[0].Enough.Concurrency < workers || c[0].Enough.Concurrency > workers+1 || c[0].Declined || c[0].Law != nil {
		return fmt.Errorf("%+v\n%s", c, stderr)
	}
	return nil
}

// A folder is only shown, and a sweep is resumed as it was planned: flags of another plan are refused, and so are names of nothing.
func TestSeriesRefuseFlagsOfAPlan(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(folder, "manifest.json"), []byte("{}"), 0o600))
	for args, want := range map[string]string{
		"sweep FOLDER --repeat=3":                       "is the folder of an earlier sweep, which can only be shown",
		"sweep FOLDER --dry-run":                        "is the folder of an earlier sweep, which can only be shown",
		"sweep --pause=1s FOLDER":                       "is the folder of an earlier sweep, which can only be shown",
		"sweep FOLDER --concurrent=3":                   "is the folder of an earlier sweep, which can only be shown",
		"sweep --resume=FOLDER --repeat=3":              "--resume cannot be combined with a benchmark",
		"sweep nothing":                                 "nothing is neither a benchmark nor the folder of a sweep",
		"find FOLDER --start=3":                         "is the folder of an earlier search, which can only be shown",
		"find FOLDER --assert=errors<1%":                "is the folder of an earlier search, which can only be shown",
		"find FOLDER --host=127.0.0.1:1":                "is the folder of an earlier search, which can only be shown",
		"sweep --vary=obj.size=exact:4KiB:6,1MiB:3 put": "is one value with commas",
		"sweep --vary=concurrent=1 nothing":             `"nothing"`,
		"sweep --vary=concurrent=1 --repeat=0 x":        "--repeat: 0 is less than 1",
	} {
		run := runWarp(t, nil, strings.Fields(strings.ReplaceAll(args, "FOLDER", folder))...)
		if run.code != exit.Usage || !strings.Contains(run.err, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, run.code, run.err, want)
		}
	}
}

// The plan of a sweep says what all of its runs send together, with objects that are shared counted once. Nothing is sent or written.
func TestSweepDryRun(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"--vary=concurrent=1..4x2 get": {"7 runs of get over concurrent 1, 2, 4; op logs go to curve", "the objects are uploaded once and kept until the end",
			"all preparations together make 1,500 PUT requests, 1.5 MiB at most", "all runs together make 1,400 GET requests, 1.4 MiB at most",
			"all clean-ups together make about 2 listings", "the first run:", "the measurement makes 200 GET requests", "Nothing was done (--dry-run)."},
		"--vary=obj.size=1KiB,2KiB --vary=concurrent=1,2 get": {"--vary        obj.size=1KiB,2KiB, concurrent=1,2\n", "the objects of each of 2 pools are uploaded once", "all preparations together make 3,000 PUT requests, 4.4 MiB at most"},
		"--vary=seed=1,2 get":                     {"all preparations together make 7,500 PUT requests", "all clean-ups together make about 10 listings"},
		"--vary=concurrent=1,2 --retries=1 mixed": {"all runs together make about 450 GET, 300 STAT, 150 PUT, 100 DELETE requests, 600 KiB and at most 1000 KiB, up to 2 times as many"},
		"--vary=rps-limit=0,9 get":                {"all runs together make as many GET requests as the store answers"},
		"--vary=host=a,b get":                     {"all preparations together make 3,000 PUT"},
	} {
		dir := t.TempDir()
		words := append([]string{"sweep", "--dry-run", "--logs=curve", "--repeat=2", "--objects=1500", "--duration=2s"}, strings.Fields(args)...)
		if !strings.Contains(args, "host=") {
			words = append(words, "--host=127.0.0.1:1")
		}
		if !strings.Contains(args, "obj.size=") {
			words = append(words, "--obj.size=1KiB")
		}
		if !strings.Contains(args, "rps-limit=") {
			words = append(words, "--rps-limit=100")
		}
		run := warpIn(t, dir, words...)
		for _, want := range want {
			if !strings.Contains(run.out, want) {
				t.Errorf("%s: the plan does not say %q: %s%s", args, want, run.err, run.out)
			}
		}
		if strings.Contains(args, "seed=") && strings.Contains(run.out, "uploaded once") {
			t.Errorf("%s: runs with seeds of their own share no objects: %s", args, run.out)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 || run.code != exit.OK {
			t.Errorf("%s: exit code %d, %v, written were %v", args, run.code, err, files)
		}
	}
	run := warpIn(t, t.TempDir(), "sweep", "--dry-run", "--json", "--vary=concurrent=1,2", "get", "--host=127.0.0.1:1", "--objects=10", "--obj.size=1KiB", "--rps-limit=10", "--duration=1s")
	var d struct {
		Cost struct {
			Uploads  float64 `json:"preparation_requests"`
			Requests []struct{ Max float64 }
		}
	}
	if err := json.Unmarshal([]byte(run.out), &d); err != nil || d.Cost.Uploads != 10 || len(d.Cost.Requests) != 1 || d.Cost.Requests[0].Max != 30 {
		t.Errorf("%v, %+v: %s%s", err, d, run.err, run.out)
	}
}

// Two sizes have a pool each.
func TestSweepOfTwoPools(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 8, time.Millisecond)
	r, _ := runSweep(t, t.TempDir(), exit.OK, "--pause=0s", "--vary=obj.size=1KiB,2KiB", "--vary=concurrent=1,2", "--repeat=2",
		"get", "--host="+store.address, "--objects=10", "--duration=500ms", "--verify=content")
	if n := store.uploads.Load(); n != 20 {
		t.Errorf("%d uploads, want 20", n)
	}
	if len(r.Points) != 4 || len(r.Points[3].Logs) != 2 || strings.Join(r.Points[3].Values, " ") != "2KiB 2" {
		t.Errorf("%+v", r.Points)
	}
}

// The process that keeps the objects of a sweep removes them when the sweep is killed, although the kernel may interrupt it
// more than once then.
func TestKilledSweepLeavesNothing(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			store := newQueueStore(t, 8, 5*time.Millisecond)
			dir := t.TempDir()
			c, _, errw := sweepCommandIn(t, dir, "--pause=0s", "--logs=logs", "--vary=concurrent=1,2",
				"get", "--host="+store.address, "--obj.size=1KiB", "--objects=10", "--duration=10s", "--lease=10m")
			check.OK(t, c.Start())
			check.Eventually(t, "the objects", func() bool { return store.uploads.Load() == 10 })
			time.Sleep(time.Duration(100*(i+1)) * time.Millisecond)
			check.OK(t, c.Process.Kill())
			_ = c.Wait()
			check.Eventually(t, "an empty bucket after "+errw.String(), func() bool { return len(store.keys(t)) == 0 })
			check.Eventually(t, "the end of the run, which writes its log", func() bool { return os.RemoveAll(filepath.Join(dir, "logs")) == nil })
		})
	}
}

// A sweep that is killed at some moment and resumed has the points that it was to have, each run once. What is not warp's
// stays, and nothing of warp's is left.
func TestKilledSweepIsResumed(t *testing.T) {
	t.Parallel()
	for i, after := range []time.Duration{300 * time.Millisecond, 900 * time.Millisecond, 1800 * time.Millisecond} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			store := newQueueStore(t, 8, 5*time.Millisecond)
			for _, path := range []string{"/warp-benchmark-bucket", "/warp-benchmark-bucket/holiday.jpg"} {
				request, err := http.NewRequest(http.MethodPut, "http://"+store.address+path, nil)
				check.OK(t, err)
				reply, err := http.DefaultClient.Do(request)
				check.OK(t, err)
				reply.Body.Close()
			}
			dir := t.TempDir()
			c, _, errw := sweepCommandIn(t, dir, "--pause=0s", "--logs=logs", "--vary=concurrent=1..4x2", "--repeat=3",
				"get", "--host="+store.address, "--obj.size=1KiB", "--objects=10", "--duration=1s", "--lease=20s")
			check.OK(t, c.Start())
			check.Eventually(t, "a manifest", func() bool {
				_, err := os.Stat(filepath.Join(dir, "logs", "manifest.json"))
				return err == nil
			})
			time.Sleep(after)
			check.OK(t, c.Process.Signal(syscall.SIGKILL))
			_ = c.Wait()
			r, stderr := runSweep(t, dir, exit.OK, "--resume=logs")
			var logs []string
			for _, p := range r.Points {
				if len(p.Logs) != 3 {
					t.Errorf("%v has the logs %v; %s%s", p.Values, p.Logs, errw, stderr)
				}
				logs = append(logs, p.Logs...)
			}
			logs = append(logs, r.Again.Log)
			if slices.Sort(logs); len(slices.Compact(logs)) != 10 || len(r.Points) != 3 || r.Missing != 0 {
				t.Errorf("%v", logs)
			}
			for _, log := range logs {
				if _, err := os.Stat(filepath.Join(dir, log)); err != nil {
					t.Error(err)
				}
			}
			check.Eventually(t, "the foreign object alone in the bucket", func() bool {
				// A child of the killed process cleans up by itself; otherwise the next warp does, once its lease is over.
				c, _, _ := sweepCommandIn(t, dir)
				c.Args = []string{c.Args[0], "clean", "--host=" + store.address}
				_ = c.Run()
				return slices.Equal(store.keys(t), []string{"holiday.jpg"})
			})
		})
	}
}

// Ctrl-C ends a sweep in good order: the runs that are done are shown, and the objects are removed.
func TestInterruptedSweep(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 8, 5*time.Millisecond)
	dir := t.TempDir()
	c, out, errw := sweepCommandIn(t, dir, "--json", "--pause=0s", "--logs=logs", "--vary=concurrent=1,2", "--repeat=20",
		"get", "--host="+store.address, "--obj.size=1KiB", "--objects=10", "--duration=500ms")
	check.OK(t, c.Start())
	check.Eventually(t, "two logs", func() bool {
		logs, _ := filepath.Glob(filepath.Join(dir, "logs", "*.csv.zst"))
		return len(logs) >= 2
	})
	check.OK(t, c.Process.Signal(os.Interrupt))
	_ = c.Wait()
	var r sweep.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || c.ProcessState.ExitCode() != exit.Interrupted {
		t.Fatalf("exit code %d, %v: %s%s", c.ProcessState.ExitCode(), err, errw, out)
	}
	if r.Missing == 0 || len(r.Failed) > 0 || !strings.Contains(errw.String(), "warp sweep --resume logs makes them") {
		t.Errorf("%d missing, %v failed: %s", r.Missing, r.Failed, errw)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// Secrets are neither in the folder nor on the command lines of the runs, and have to be given again.
func TestSweepKeepsNoSecrets(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 8, 0)
	dir := t.TempDir()
	var mu sync.Mutex
	seen := ""
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() { // the command lines of all processes
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, name := range lines {
				if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("--use-pool=")) {
					mu.Lock()
					seen += string(text) + "\n"
					mu.Unlock()
				}
			}
		}
	}()
	args := []string{"get", "--host=" + store.address, "--secret-key=a-very-secret-value", "--obj.size=1KiB", "--objects=10", "--duration=500ms"}
	runSweep(t, dir, exit.OK, append([]string{"--pause=0s", "--logs=logs", "--vary=concurrent=1,2"}, args...)...)
	close(done)
	<-watched
	if strings.Contains(seen, "a-very-secret-value") {
		t.Error("the secret is on the command line of a run")
	}
	files, err := filepath.Glob(filepath.Join(dir, "logs", "*"))
	check.OK(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		check.OK(t, err)
		if bytes.Contains(text, []byte("a-very-secret-value")) {
			t.Errorf("the secret is in %s", name)
		}
	}
	c, _, errw := sweepCommandIn(t, dir, "--resume=logs")
	c.Env = slices.DeleteFunc(c.Env, func(s string) bool { return strings.HasPrefix(s, "WARP_SECRET_KEY=") })
	if _ = c.Run(); c.ProcessState.ExitCode() != exit.Usage || !strings.Contains(errw.String(), "the sweep was started with --secret-key, which its folder does not keep; give --secret-key again") {
		t.Errorf("%d: %s", c.ProcessState.ExitCode(), errw)
	}
}

// Over a fleet, each client uploads its objects once for all runs, and checks that it reads these.
func TestSweepOverAFleet(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 64, time.Millisecond)
	r, stderr := runSweep(t, t.TempDir(), exit.OK, "--pause=0s", "--vary=concurrent=1,2", "get", "--host="+store.address,
		"--warp-client="+twoClients(t), "--warp-client-wait=60s", "--obj.size=1KiB", "--objects=5", "--duration=6s", "--verify=content")
	if n := store.uploads.Load(); n != 2*5 || len(r.Points) != 2 || !r.Points[1].Cells[0].Known() || strings.Contains(r.Points[1].LeftOut, "failed") {
		t.Errorf("%d uploads, want those of two clients, 10; %+v %s", n, r.Points, stderr)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// The runs of the embedded store use the same objects, too, and the same versions of them; each has random numbers of its own.
func TestSweepOfTheEmbeddedStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, stderr := runSweep(t, dir, exit.OK, "--pause=0s", "--vary=concurrent=1,2", "get", "--host=embedded", "--obj.size=1KiB", "--objects=10", "--versions=3",
		"--duration=500ms", "--verify=content", "--rps-limit=200", "--arrival=poisson")
	if !strings.Contains(stderr, "the objects are uploaded once") || len(r.Points) != 2 {
		t.Errorf("%+v %s", r.Points, stderr)
	}
	seeds := map[uint64]bool{}
	for _, log := range []string{r.Points[0].Logs[0], r.Points[1].Logs[0], r.Again.Log} {
		a, err := runlog.Analyze(t.Context(), filepath.Join(dir, log), nil, aggregate.Options{})
		check.OK(t, err)
		for _, op := range a.Operations {
			if op.Op != "GET" || op.Errors > 0 {
				t.Errorf("%s has %s with %d errors", log, op.Op, op.Errors)
			}
		}
		seeds[a.Seed] = true
	}
	if len(seeds) != 3 {
		t.Errorf("three runs have the seeds %v", seeds)
	}
}

// Versions are uploaded once, too.
func TestSweepOfVersions(t *testing.T) {
	t.Parallel()
	store := newQueueStore(t, 8, 0)
	r, stderr := runSweep(t, t.TempDir(), exit.OK, "--pause=0s", "--vary=concurrent=1,2", "get", "--host="+store.address, "--obj.size=1KiB", "--objects=5", "--versions=2",
		"--duration=500ms", "--verify=content")
	if n := store.uploads.Load(); n != 10 || len(r.Points) != 2 || strings.Contains(r.Points[1].LeftOut, "failed") {
		t.Errorf("%d uploads, want 10; %+v %s", n, r.Points, stderr)
	}
	if keys := store.keys(t); len(keys) > 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// The objects of a store that does not list them cannot be shared, so each run uploads its own.
func TestSweepWithoutListings(t *testing.T) {
	t.Parallel()
	null, err := s3mem.StartNull(s3mem.NullOptions{Size: 1 << 10})
	check.OK(t, err)
	defer null.Close()
	r, stderr := runSweep(t, t.TempDir(), exit.OK, "--pause=0s", "--vary=concurrent=1,2", "get", "--host="+null.Addr(), "--obj.size=1KiB", "--objects=5", "--duration=500ms")
	if len(r.Points) != 2 || !r.Points[1].Cells[0].Known() || strings.Count(stderr, "each run uploads its own") != 1 {
		t.Errorf("%+v %s", r.Points, stderr)
	}
}
