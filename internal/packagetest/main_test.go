package packagetest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "warp/cli" // what the binary is built from: a change of it makes a cached result of these tests stale
	"warp/internal/teststore"
)

const root = "../.."

var binary string // warp, static as it is shipped

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "warp-package-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "warp")
	build := exec.Command("go", "build", "-o", binary, "warp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build warp: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// missing skips the test for want of something on this machine; in CI that is a failure.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if teststore.InCI() {
		t.Fatalf(format, args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}

// read is a file of the project.
func read(t *testing.T, name string) string {
	t.Helper()
	return string(content(t, filepath.Join(root, name)))
}

// freeAddress is one on loopback that nothing listens on at this moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A printed is what a process has printed so far.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// start runs a command until the test ends.
func start(t *testing.T, cmd *exec.Cmd) *printed {
	t.Helper()
	out := &printed{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

// awaitText waits until a process has printed it.
func awaitText(t *testing.T, out *printed, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(out.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not there after a minute:\n%s", text, out)
		}
	}
}
