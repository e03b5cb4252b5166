//go:build unix

package cli

import (
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"warp/cli/exit"
	"warp/internal/check"
)

// However a run with keys ends, the terminal is as it was.
func TestTerminalRestored(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		end  func(s *tty, p *os.Process)
		code int
	}{
		"at its end":   {args: []string{"--duration=1s"}, code: 0},
		"q":            {end: func(s *tty, _ *os.Process) { s.send("q") }, code: 0},
		"Ctrl-C":       {end: func(s *tty, _ *os.Process) { s.send("\x03") }, code: exit.Interrupted},
		"Ctrl-C twice": {end: func(s *tty, _ *os.Process) { s.send("\x03"); s.await("a second Ctrl-C"); s.send("\x03") }, code: exit.Interrupted},
		"SIGTERM":      {end: func(_ *tty, p *os.Process) { _ = p.Signal(syscall.SIGTERM) }, code: exit.Interrupted},
		"SIGQUIT":      {end: func(_ *tty, p *os.Process) { _ = p.Signal(syscall.SIGQUIT) }, code: 2},
		"a panic":      {args: []string{"--host=panics"}, end: func(s *tty, _ *os.Process) { s.send("q") }, code: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, cmd := fakeOnTerminal(t, append([]string{"--duration=40s"}, test.args...)...)
			before, err := term.GetState(int(s.file.Fd()))
			check.OK(t, err)
			s.await("keys: q")
			if during, err := term.GetState(int(s.file.Fd())); test.end != nil && (err != nil || reflect.DeepEqual(before, during)) { // or it may be over
				t.Errorf("the terminal hands on lines, not keys (%v)", err)
			}
			if test.end != nil {
				test.end(s, cmd.Process)
			}
			_ = cmd.Wait()
			s.drain()
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d: %q", code, test.code, s)
			}
			settled(t, s.String())
			if after, err := term.GetState(int(s.file.Fd())); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("the terminal was %+v and is %+v (%v)", before, after, err)
			}
		})
	}
}

// Keys steer the run; what is typed before is no key.
func TestKeysOnTerminal(t *testing.T) {
	t.Parallel()
	s, cmd := fakeOnTerminal(t, "--duration=20s", "--host=slow")
	s.await("Preparing")
	s.send("q")
	s.await("keys: q")
	s.send("?")
	s.await("closes this help")
	s.send("\x1b[A") // an arrow
	s.send("mdisk pulled q\r")
	s.await("marked: disk pulled q")
	s.send("q")
	s.await("the report")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, s)
	}
	settled(t, s.String())
}

// Who pipes something into warp does not lose it to the keys.
func TestKeysNeedTerminal(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("warp-fake")
	check.OK(t, err)
	cmd := exec.Command("sh", "-c", `printf 'q\nrest\n' | { "$0" fake --duration=1s; cat; }`, path)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	s := startTerminal(t, cmd)
	_ = cmd.Wait()
	s.await("q\r\nrest")
	if strings.Contains(s.String(), "keys: q") {
		t.Errorf("%q", s)
	}
}

// Ctrl-Z gives the shell its terminal, and fg shows the run again.
func TestSuspendInTmux(t *testing.T) {
	t.Parallel()
	s := startScreen(t, "150", "24")
	fake, err := exec.LookPath("warp-fake")
	check.OK(t, err)
	before := s.mode("before")
	s.enter("clear; " + fake + " fake --duration=100s")
	s.await("keys: q")
	s.run("send-keys", "C-z")
	text := s.await("Stopped")
	if s.run("display-message", "-p", "#{cursor_flag}") != "1" {
		t.Error("the cursor is hidden while warp is stopped")
	}
	if strings.Contains(text, "Running  [") {
		t.Errorf("rests of the view while warp is stopped:\n%s", text)
	}
	if during := s.mode("during"); during != before {
		t.Errorf("the terminal was\n%s and is\n%s", before, during)
	}
	s.run("resize-window", "-x", "140", "-y", "24")
	s.enter("fg")
	s.await("keys: q")
	time.Sleep(time.Second) // it is drawn a few times more
	if text := s.text(); strings.Count(text, "Running  [") != 1 || !strings.Contains(text, "saved during") {
		t.Errorf("after fg:\n%s", text)
	}
	s.run("send-keys", "C-z")
	s.await("=100s\n[1] + Stopped")
	s.enter("clear; bg; echo back; sleep 1; echo ground")
	if text := s.await("ground"); strings.Contains(text, "Running  [") {
		t.Errorf("drawn over the shell:\n%s", text)
	}
	s.enter("fg")
	s.await("keys: q")
	s.run("send-keys", "q")
	if text := s.await("the report"); strings.Contains(text, "Running  [") {
		t.Errorf("after q:\n%s", text)
	}
	s.run("resize-window", "-x", "150", "-y", "24")
	if after := s.mode("after"); after != before {
		t.Errorf("the terminal was\n%s and is\n%s", before, after)
	}
}
