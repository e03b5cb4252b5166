package safety

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "warp/cli" // the binary is built from this: a change makes cached results of these tests stale
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/test/testbinary"
)

var (
	stores teststore.Pool
	binary string // warp, as make builds it
)

func TestMain(m *testing.M) {
	os.Exit(testbinary.Run(func(warp string) int {
		binary = warp
		// Most tests only wait for the end of a run or a lease.
		flag.Parse()
		if p := flag.Lookup("test.parallel"); p != nil {
			_ = p.Value.Set("10")
		}
		return stores.Run(m)
	}))
}

// realStores are the stores in a separate process. The embedded one lives and dies with a run, so
// nothing in it could be lost.
func realStores() []string {
	return []string{teststore.MinIO, teststore.Versitygw, teststore.Garage}
}

// onEach runs a test against all real stores in parallel.
func onEach(t *testing.T, test func(t *testing.T, s *teststore.Store)) {
	t.Parallel()
	for _, name := range realStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, stores.Shared(t, name))
		})
	}
}

// A process is a running warp.
type process struct {
	t    *testing.T
	line string
	cmd  *exec.Cmd
	dir  string
	once sync.Once

	out, err teststore.Output
	start    time.Time
	took     time.Duration
}

// in returns the arguments for a bucket of a store, through the given endpoint.
func in(s *teststore.Store, endpoint, bucket string) []string {
	if s.Provider != "" {
		return []string{"--provider=" + s.Provider, "--host=http://" + endpoint + s.Path, "--bucket=" + bucket}
	}
	return []string{"--host=" + endpoint, "--access-key=" + s.AccessKey, "--secret-key=" + s.SecretKey,
		"--region=" + s.Region, "--bucket=" + bucket}
}

// start runs warp with an empty environment, in a separate directory.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, line: strings.Join(args, " "), dir: t.TempDir(), start: time.Now()}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Dir = p.dir
	p.cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	check.OK(t, p.cmd.Start())
	t.Cleanup(func() { p.kill(); p.wait() })
	return p
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// signal sends a signal, which may come too late.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// wait returns the exit code, or -1 if a signal ended the process.
func (p *process) wait() int {
	p.once.Do(func() {
		err := p.cmd.Wait()
		p.took = time.Since(p.start)
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			p.t.Errorf("%s: %v", p, err)
		}
	})
	return p.cmd.ProcessState.ExitCode()
}

// want fails the test if the process ends with another exit code.
func (p *process) want(code int) *process {
	p.t.Helper()
	if got := p.wait(); got != code {
		p.t.Fatalf("exit %d, want %d: %s", got, code, p)
	}
	return p
}

func (p *process) stdout() string { return p.out.String() }
func (p *process) stderr() string { return p.err.String() }

func (p *process) String() string {
	return fmt.Sprintf("warp %s\n--- stdout\n%s--- stderr\n%s", p.line, p.stdout(), p.stderr())
}

// says checks that there is exactly one error line, with all of the words.
func (p *process) says(words ...string) {
	p.t.Helper()
	p.wait()
	var lines []string
	for l := range strings.Lines(p.stderr()) {
		if strings.HasPrefix(l, "warp: error: ") {
			lines = append(lines, l)
		}
	}
	if len(lines) != 1 {
		p.t.Fatalf("%d error lines, want one: %s", len(lines), p)
	}
	for _, w := range words {
		if !strings.Contains(lines[0], w) {
			p.t.Errorf("%q is not in %q", w, lines[0])
		}
	}
}

// warns checks that there is a warning with all of the words.
func (p *process) warns(words ...string) {
	p.t.Helper()
	p.wait()
	for l := range strings.Lines(p.stderr()) {
		all := strings.HasPrefix(l, "warp: warning: ")
		for _, w := range words {
			all = all && strings.Contains(l, w)
		}
		if all {
			return
		}
	}
	p.t.Errorf("no warning with %q: %s", words, p)
}

// awaitOutput waits until standard error contains text.
func (p *process) awaitOutput(text string) {
	p.t.Helper()
	await(p.t, check.Limit, func() bool { return strings.Contains(p.stderr(), text) }, text)
}

// await polls until ok.
func await(t *testing.T, limit time.Duration, ok func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain for: %s", limit, what)
		}
	}
}

// small returns the flags of a short run.
func small(op string, more ...string) []string {
	duration := "1s"
	if op == "delete" { // it ends with the objects
		duration = "1m"
	}
	args := []string{op, "--concurrent=4", "--duration=" + duration, "--lease=10s"}
	if !slices.Contains(more, "--list-existing") { // it uploads nothing
		args = append(args, "--obj.size=1KiB")
	}
	if op != "put" {
		args = append(args, "--objects=24")
	}
	return append(args, more...)
}

// expiry is how long after a death a lease of ten seconds has expired, in a store that counts in
// whole seconds. A shorter lease could expire during a run while a busy machine pauses warp, which
// ends the run.
const expiry = 11200 * time.Millisecond
