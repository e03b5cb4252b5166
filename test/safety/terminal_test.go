package safety

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// A tmux is a terminal with a screen that can be read.
type tmux struct {
	t            *testing.T
	path, socket string
	dir          string
}

func newTmux(t *testing.T) *tmux {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		if teststore.InCI() {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: %v", err)
	}
	dir := t.TempDir()
	m := &tmux{t, path, filepath.Join(dir, "s"), dir}
	m.run("new-session", "-d", "-c", dir, "-x", "100", "-y", "150", "env", "-i", "PS1=ready> ", "TERM=screen", "HOME="+dir, "PATH="+os.Getenv("PATH"), "sh")
	t.Cleanup(func() { m.run("kill-server") })
	m.await("ready>")
	return m
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command(m.path, append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Errorf("tmux %q: %v, %s", args, err, out)
	}
	return string(out)
}

func (m *tmux) screen() string { return m.run("capture-pane", "-p") }

func (m *tmux) await(what string) string {
	m.t.Helper()
	var text string
	for end := time.Now().Add(check.Limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if text = m.screen(); strings.Contains(text, what) {
			return text
		}
	}
	m.t.Fatalf("%q did not appear:\n%s", what, text)
	return ""
}

func (m *tmux) enter(line string) { m.run("send-keys", "-l", line); m.run("send-keys", "Enter") }

// settings returns the settings of the terminal from stty.
func (m *tmux) settings(name string) string {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	m.enter("stty -g > " + path + "; echo saved " + name)
	m.await("\nsaved " + name)
	text, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

func (m *tmux) cursor() bool {
	return strings.TrimSpace(m.run("display-message", "-p", "#{cursor_flag}")) == "1"
}

// command returns a shell command: warp with these arguments, then its exit code.
func command(b *bucket, args ...string) string {
	line := "clear; " + binary
	for _, a := range append(args, b.args()...) {
		line += " '" + a + "'"
	}
	return line + "; echo exit code $?"
}

func TestTerminalIsLeftAsItWasFound(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	m := newTmux(t)
	found := m.settings("before")
	asFound := func(when string) {
		t.Helper()
		if !m.cursor() {
			t.Errorf("the cursor is hidden %s", when)
		}
		if now := m.settings(fmt.Sprint("after", time.Now().UnixNano())); now != found {
			t.Errorf("the terminal was set to %q and is set to %q %s", found, now, when)
		}
		// Typed text is visible: echo is on.
		m.run("send-keys", "-l", "echo visible")
		m.await("ready> echo visible")
		m.run("send-keys", "Enter")
	}
	run := []string{"mixed", "--objects=30", "--obj.size=1KiB", "--concurrent=4", "--duration=30s", "--lease=10s"}

	m.enter(command(b, run...))
	m.await("Running  [")
	// The rarer operations may take a while to appear.
	for _, want := range []string{"requests", "obj/s", "GET ", "STAT ", "PUT ", "DELETE ", "p50", "p99", "errors"} {
		m.await(want)
	}
	if m.cursor() {
		t.Error("the cursor is visible beside the live view")
	}
	m.run("send-keys", "C-c")
	end := m.await("exit code 130")
	for _, want := range []string{"interrupted; finishing up", "requests  0 errors", "Cleaning up: "} {
		if !strings.Contains(end, want) {
			t.Errorf("no %q after Ctrl-C:\n%s", want, end)
		}
	}
	if strings.Contains(end, "Running  [") {
		t.Errorf("rests of the live view:\n%s", end)
	}
	asFound("after one Ctrl-C")
	b.same(before)

	// Twice, while the first one's clean-up waits for a store that does not answer.
	f := newFront(t, s.Endpoint, nil)
	slow := command(b, run...)
	m.enter(strings.Replace(slow, "--host="+s.Endpoint, "--host="+f.endpoint, 1))
	m.await("Running  [")
	f.freeze(time.Hour)
	m.run("send-keys", "C-c")
	m.await("interrupted; finishing up")
	pressed := time.Now()
	m.run("send-keys", "C-c")
	m.await("exit code 130")
	if d := time.Since(pressed); d > time.Minute {
		t.Errorf("it quit %s after the second Ctrl-C", d)
	}
	asFound("after two")
	f.freeze(0)

	// And during preparation.
	m.enter(command(b, "get", "--objects=20000", "--obj.size=1KiB", "--concurrent=4", "--lease=10s"))
	m.await("Preparing: uploading  [")
	m.run("send-keys", "C-c")
	m.await("exit code 130")
	asFound("after Ctrl-C in prepare")
	b.laterRunsCleanUp(before)
}
