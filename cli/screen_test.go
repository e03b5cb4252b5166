package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

// A screen that tmux shows.
type screen struct {
	t      *testing.T
	tmux   string
	socket string
}

func startScreen(t *testing.T, width, height string) *screen {
	t.Helper()
	s := &screen{t: t, tmux: needTool(t, "tmux"), socket: filepath.Join(t.TempDir(), "s")}
	s.run("new-session", "-d", "-x", width, "-y", height, "env", "PS1=ready> ", "ENV=", "sh")
	t.Cleanup(func() { s.run("kill-server") })
	s.await("ready>")
	return s
}

func (s *screen) run(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(s.tmux, append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Errorf("tmux %q: %v, %s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (s *screen) text() string { return s.run("capture-pane", "-p") }

// enter types a line.
func (s *screen) enter(line string) { s.run("send-keys", line, "Enter") }

// await waits until the screen shows what.
func (s *screen) await(what string) string {
	s.t.Helper()
	for end := time.Now().Add(check.Limit); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		if text := s.text(); strings.Contains(text, what) {
			return text
		}
	}
	s.t.Fatalf("%q did not appear:\n%s", what, s.text())
	return ""
}

// mode is how the terminal is set up.
func (s *screen) mode(name string) string {
	s.t.Helper()
	path := filepath.Join(filepath.Dir(s.socket), name)
	// The command must not contain what it prints. A busy shell may print it after its prompt.
	s.enter("stty -a > '" + path + "'; echo saved  " + name)
	s.await("saved " + name)
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}
