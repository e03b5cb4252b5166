package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/creack/pty"

	"warp/cli/terminal"
	"warp/internal/teststore"
)

// A tty is a program on a pseudo terminal.
type tty struct {
	t    *testing.T
	file *os.File

	teststore.Output // all that the program has written
}

func startTerminal(t *testing.T, cmd *exec.Cmd) *tty {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	s := &tty{t: t, file: f}
	go func() { _, _ = io.Copy(s, f) }()
	hung := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
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

// await waits until the program has written text.
func (s *tty) await(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
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
	if err != nil {
		t.Fatal(err)
	}
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
	s, cmd := fakeOnTerminal(t, "--duration=600ms")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, s)
	}
	s.await("the report")
	settled(t, s.String())
	for _, want := range []string{"Preparing", "left", "Running", "1234.5 MiB/s (avg   1200.0)", "123 req/s", "p50 1.23ms", "p99  2.00s",
		"\x1b[31m  7 errors", "Preparing: 20 objects in "} {
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
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, %v", code, err)
	}
}

// TestInterruptIsNoFailure: one signal ends a run with 130 and its report, and
// without an error line about a context.
func TestInterruptIsNoFailure(t *testing.T) {
	t.Parallel()
	s, cmd := fakeOnTerminal(t, "--duration=2s")
	s.await("Running")
	s.send("\x03")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
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
	r := runWarp(t, nil, "fake", "--duration=450ms", "--stats-interval=100ms")
	if r.out != "the report\n" || strings.Contains(r.err, "\x1b") {
		t.Errorf("%+v", r)
	}
	if want := "warp: 0s GET: 12345 requests, 0 errors, 1234.5 MiB/s, 123 obj/s, p50 1.23ms, p99 25.0ms\n" +
		"warp: 0s STAT: 99 requests, 7 errors, 0.0 MiB/s, 9.90 obj/s, p50 812µs, p99 2.00s\n"; !strings.Contains(r.err, want) {
		t.Errorf("want %q in %q", want, r.err)
	}
	if !strings.Contains(r.err, "warp: Preparing: 20 objects in ") {
		t.Errorf("%q", r.err)
	}

	r = runWarp(t, nil, "fake", "--duration=450ms", "--stats-interval=100ms", "--json")
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

// TestLiveLines looks at the view for several widths.
func TestLiveLines(t *testing.T) {
	t.Parallel()
	l := &liveRun{con: &console{}, snapshot: fakeSnapshot, length: time.Minute, pb: newTimeBar(int64(time.Minute))}
	want := []string{
		"Running  [==============>                                             ]  25%  15s of 1m, 45s left",
		"GET       1234.5 MiB/s (avg   1200.0)     123 req/s  p50 1.23ms  p99 25.0ms  0 errors",
		"STAT        9.90 obj/s (avg     9.00)    9.90 req/s  p50  812µs  p99  2.00s  7 errors",
	}
	got := l.lines(97, 15*time.Second)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is\n%q, want\n%q", i, got[i], want[i])
		}
	}
	if l.length = 0; !strings.HasPrefix(l.lines(80, 90*time.Second)[0], "Running  1m30s") {
		t.Errorf("without an end: %q", l.lines(80, 90*time.Second)[0])
	}
}

func TestBarLine(t *testing.T) {
	t.Parallel()
	b := &bar{title: "Preparing", unit: "objects", pb: newTimeBar(2500)}
	b.total.Store(2500)
	b.add(1000)
	if got, want := b.line(100, 4*time.Second), "Preparing  [===============>                      ]  40%  1000/2500, 250 objects/s, 6.0s left"; strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") && pb.CellCount(got) != 100 {
		t.Errorf("got %q", got)
	}
	b.total.Store(0)
	if got := b.line(80, 4*time.Second); got != "Preparing  1000 objects, 250/s" {
		t.Errorf("got %q", got)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "-", 812 * time.Nanosecond: "0.81µs", 999 * time.Microsecond: "999µs", 1234 * time.Microsecond: "1.23ms",
		25 * time.Millisecond: "25.0ms", 250 * time.Millisecond: "250ms", 1234 * time.Millisecond: "1.23s", 125 * time.Second: "125s",
	} {
		if got := latency(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// TestLiveInTmux sees what a person sees: tmux is a terminal with a screen that
// can be read.
func TestLiveInTmux(t *testing.T) {
	t.Parallel()
	tmux := needTool(t, "tmux")
	fake, err := exec.LookPath("warp-fake")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	run := func(args ...string) string {
		out, err := exec.Command(tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("tmux %q: %v, %s", args, err, out)
		}
		return strings.TrimRight(string(out), "\n")
	}
	awaitScreen := func(what string) string {
		t.Helper()
		for range 400 {
			if text := run("capture-pane", "-p"); strings.Contains(text, what) {
				return text
			}
			time.Sleep(25 * time.Millisecond)
		}
		t.Fatalf("%q did not appear:\n%s", what, run("capture-pane", "-p"))
		return ""
	}
	run("new-session", "-d", "-x", "90", "-y", "20", "env", "PS1=ready> ", "ENV=", "sh")
	defer run("kill-server")
	awaitScreen("ready>")
	state := func(name string) string {
		run("send-keys", "stty -a > '"+filepath.Dir(socket)+"/"+name+"'; echo saved "+name, "Enter")
		awaitScreen("\nsaved " + name)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(socket), name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := state("before")

	run("send-keys", "clear; "+fake+" fake --duration=20s; echo exit code $?", "Enter")
	awaitScreen("Preparing  [")
	run("send-keys", "C-c")
	awaitScreen("exit code 130")
	run("send-keys", "clear; "+fake+" fake --duration=3s; echo exit code $?", "Enter")
	text := awaitScreen("Running  [")
	if run("display-message", "-p", "#{cursor_flag}") != "0" {
		t.Error("the cursor is visible beside the live view")
	}
	if n := strings.Count(text, "Preparing"); n != 1 {
		t.Errorf("%d lines about preparing:\n%s", n, text)
	}
	run("resize-window", "-x", "60", "-y", "20")
	text = awaitScreen("exit code 0")
	if strings.Contains(text, "Running") || strings.Contains(text, "MiB/s") {
		t.Errorf("rests of the live view:\n%s", text)
	}
	if run("display-message", "-p", "#{cursor_flag}") != "1" {
		t.Error("the cursor is hidden at the end")
	}
	run("resize-window", "-x", "90", "-y", "20")
	if after := state("after"); after != before {
		t.Errorf("the terminal was\n%s and is\n%s", before, after)
	}
}
