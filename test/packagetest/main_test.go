package packagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "warp/cli" // what the binary is built from: a change of it makes a cached result of these tests stale
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/test/testbinary"
)

const root = "../.."

var binary string // warp, static as it is shipped

func TestMain(m *testing.M) {
	os.Exit(testbinary.Run(func(warp string) int {
		binary = warp
		return m.Run()
	}))
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

// start runs a command until the test ends.
func start(t *testing.T, cmd *exec.Cmd) *teststore.Output {
	t.Helper()
	out := &teststore.Output{}
	cmd.Stdout, cmd.Stderr = out, out
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

// awaitText waits until a process has printed it.
func awaitText(t *testing.T, out *teststore.Output, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(out.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not there after a minute:\n%s", text, out)
		}
	}
}
