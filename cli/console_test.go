package cli

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"warp/cli/exit"
	"warp/cli/terminal"
	"warp/internal/check"
	"warp/internal/teststore"
)

// A tty is a program on a pseudo terminal.
type tty struct {
	t    *testing.T
	file *os.File

	read chan struct{} // closed when the program has ended, and all that it has written was read

	teststore.Output // that
}

func startTerminal(t *testing.T, cmd *exec.Cmd) *tty {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	check.OK(t, err)
	s := &tty{t: t, file: f, read: make(chan struct{})}
	go func() { _, _ = io.Copy(s, f); close(s.read) }()
	hung := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		hung.Stop()
		_ = cmd.Process.Kill()
		_ = f.Close()
		_ = cmd.Wait()
	})
	return s
}

func (s *tty) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.file, text); err != nil {
		s.t.Fatal(err)
	}
}

// drain waits until all that was written is here.
func (s *tty) drain() {
	s.t.Helper()
	select {
	case <-s.read:
	case <-time.After(check.Limit):
		s.t.Fatalf("the terminal is still open: %q", s.String())
	}
}

// await waits until the program has written text.
func (s *tty) await(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(check.Limit); ; time.Sleep(5 * time.Millisecond) {
		if strings.Contains(s.String(), text) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q did not appear in %q", text, s.String())
		}
	}
}

// fakeOnTerminal starts warp-fake, this test binary under another name.
func fakeOnTerminal(t *testing.T, args ...string) (*tty, *exec.Cmd) {
	t.Helper()
	path, err := exec.LookPath("warp-fake")
	check.OK(t, err)
	cmd := exec.Command(path, append([]string{"fake"}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	return startTerminal(t, cmd), cmd
}

// settled checks what every use of a terminal must leave behind.
func settled(t *testing.T, text string) {
	t.Helper()
	if hidden, shown := strings.LastIndex(text, terminal.HideCursor), strings.LastIndex(text, terminal.ShowCursor); hidden < 0 || shown < hidden {
		t.Errorf("the cursor is not shown at the end: %q", text)
	}
}

func TestLiveOnTerminal(t *testing.T) {
	t.Parallel()
	s, cmd := fakeOnTerminal(t, "--duration=2s")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, s)
	}
	s.await("the report")
	settled(t, s.String())
	for _, want := range []string{"Preparing", "left", "Running", "  1234.5", "1.23ms", "2.00s",
		"STAT       -    9.9  \x1b[31m     7\x1b[0m", "keys: q stop and report", "Preparing: 20 objects, 20 MiB in "} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("%q is missing in %q", want, s.String())
		}
	}
	if after := s.String()[strings.LastIndex(s.String(), terminal.ShowCursor):]; !strings.HasSuffix(strings.TrimPrefix(after, terminal.ShowCursor), "the report\r\n") {
		t.Errorf("after the live view: %q", after)
	}
}

func TestInterruptOnTerminal(t *testing.T) {
	t.Parallel()
	s, cmd := fakeOnTerminal(t, "--duration=30s", "--host=x")
	s.await("Preparing")
	s.send("\x03")
	s.await("a second Ctrl-C quits at once")
	s.await("the report")
	s.send("\x03")
	err := cmd.Wait()
	settled(t, s.String())
	if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d, %v", code, err)
	}
}

// TestInterruptIsNoFailure: one signal ends a run with 130 and its report, and
// without an error line about a context.
func TestInterruptIsNoFailure(t *testing.T) {
	t.Parallel()
	s, cmd := fakeOnTerminal(t, "--duration=30s")
	s.await("Running")
	s.send("\x03")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d: %q", code, s)
	}
	s.await("the report")
	if strings.Contains(s.String(), "context canceled") {
		t.Errorf("%q", s)
	}
	settled(t, s.String())
}

// TestQuietOnTerminal: nothing is drawn with --quiet, with --json or on a
// terminal that cannot.
func TestQuietOnTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--quiet"}, {"--json", "--stats-interval=100ms"}} {
		s, cmd := fakeOnTerminal(t, append(args, "--duration=300ms")...)
		_ = cmd.Wait()
		s.await("the report")
		if strings.Contains(s.String(), "\x1b") {
			t.Errorf("%v: %q", args, s)
		}
	}
}

func TestLinesWithoutTerminal(t *testing.T) {
	t.Parallel()
	r := runWarp(t, nil, "fake", "--duration=2s", "--stats-interval=100ms")
	if r.out != "the report\n" || strings.Contains(r.err, "\x1b") {
		t.Errorf("%+v", r)
	}
	r.err = regexp.MustCompile(`(?m)^warp: \d+s `).ReplaceAllString(r.err, "warp: 0s ")
	if want := "warp: 0s GET: 12345 requests, 0 errors, p50 1.23ms, p99 25.0ms; now 1234.5 MiB/s, 123 obj/s\n" +
		"warp: 0s STAT: 99 requests, 7 errors, p50 812µs, p99 2.00s; now 0.0 MiB/s, 9.90 obj/s\n"; !strings.Contains(r.err, want) {
		t.Errorf("want %q in %q", want, r.err)
	}
	if !strings.Contains(r.err, "warp: Preparing: 20 objects, 20 MiB in ") {
		t.Errorf("%q", r.err)
	}

	r = runWarp(t, nil, "fake", "--duration=2s", "--stats-interval=100ms", "--json")
	if want := `"op":"GET","requests":12345,"errors":0,"mib_per_s":1234.5,"objects_per_s":123.45,"p50_ms":1.234,"p99_ms":25}` + "\n"; !strings.Contains(r.err, want) {
		t.Errorf("want %q in %q", want, r.err)
	}
	for line := range strings.Lines(r.err) {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("not a JSON line: %q", line)
		}
	}

	if r = runWarp(t, nil, "fake", "--duration=300ms", "--stats-interval=100ms", "--quiet"); r.err != "" || r.out != "the report\n" {
		t.Errorf("%+v", r)
	}
}

// TestLiveInTmux sees what a person sees: tmux is a terminal with a screen that
// can be read.
func TestLiveInTmux(t *testing.T) {
	t.Parallel()
	s := startScreen(t, "90", "20")
	fake, err := exec.LookPath("warp-fake")
	check.OK(t, err)
	before := s.mode("before")
	s.enter("clear; " + fake + " fake --duration=20s; echo exit code $?")
	s.await("Preparing  [")
	s.run("send-keys", "C-c")
	s.await("exit code 130")
	s.enter("clear; " + fake + " fake --duration=20s; echo exit code $?")
	text := s.await("Running  [")
	if s.run("display-message", "-p", "#{cursor_flag}") != "0" {
		t.Error("the cursor is visible beside the live view")
	}
	if n := strings.Count(text, "Preparing"); n != 1 {
		t.Errorf("%d lines about preparing:\n%s", n, text)
	}
	s.run("resize-window", "-x", "60", "-y", "20")
	time.Sleep(time.Second) // it is drawn a few times more
	s.run("send-keys", "q")
	text = s.await("exit code 0")
	if strings.Contains(text, "Running") || strings.Contains(text, "mean MiB/s") {
		t.Errorf("rests of the live view:\n%s", text)
	}
	if s.run("display-message", "-p", "#{cursor_flag}") != "1" {
		t.Error("the cursor is hidden at the end")
	}
	s.run("resize-window", "-x", "90", "-y", "20")
	if after := s.mode("after"); after != before {
		t.Errorf("the terminal was\n%s and is\n%s", before, after)
	}
}
