package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"warp/cli/exit"
	"warp/internal/check"
)

// rowsOf is the text of a log without its comments.
func rowsOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	dec, err := zstd.NewReader(file)
	if err != nil {
		return "", err
	}
	defer dec.Close()
	text, err := io.ReadAll(dec)
	var rows strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "# ") {
			rows.WriteString(line)
		}
	}
	return rows.String(), err
}

// rowsof checks that a file has the rows of a log, and nothing else.
func rowsof(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rowsof LOG FILE")
	}
	want, err := rowsOf(ts.MkAbs(args[0]))
	ts.Check(err)
	switch got := ts.ReadFile(args[1]); {
	case strings.Count(want, "\n") < 10:
		ts.Fatalf("the log has hardly a row: %q", want)
	case got != want:
		ts.Fatalf("%s has %d lines and the rows of %s are %d, or their text differs", args[1], strings.Count(got, "\n"), args[0], strings.Count(want, "\n"))
	}
}

// A warpProcess is warp with --stdout, and with a log.
type warpProcess struct {
	*exec.Cmd
	rows io.ReadCloser
	log  string
	err  bytes.Buffer
}

// startRows starts warp put, whose rows go to a pipe.
func startRows(t *testing.T, args ...string) *warpProcess {
	t.Helper()
	p := newProcess(t, args...)
	p.Stderr = &p.err
	p.start(t)
	return p
}

func newProcess(t *testing.T, args ...string) *warpProcess {
	t.Helper()
	warp, err := exec.LookPath("warp")
	check.OK(t, err)
	dir := t.TempDir()
	p := &warpProcess{log: filepath.Join(dir, "log.csv.zst")}
	p.Cmd = exec.Command(warp, append([]string{"put", "--host=embedded", "--obj.size=1KiB", "--concurrent=2", "--stdout", "--benchdata=log"}, args...)...)
	p.Dir = dir
	if p.rows, err = p.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *warpProcess) start(t *testing.T) {
	t.Helper()
	check.OK(t, p.Start())
	hung := time.AfterFunc(2*time.Minute, func() { _ = p.Process.Kill() })
	t.Cleanup(func() {
		hung.Stop()
		_ = p.Process.Kill()
	})
}

// end waits for the process, and wants its exit code.
func (p *warpProcess) end(t *testing.T, code int) {
	t.Helper()
	_ = p.Cmd.Wait()
	if got := p.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, p.err.String())
	}
}

// says wants a text on standard error so many times.
func (p *warpProcess) says(t *testing.T, text string, times int) {
	t.Helper()
	if n := strings.Count(p.err.String(), text); n != times {
		t.Errorf("%q is there %d times, want %d: %s", text, n, times, p.err.String())
	}
}

// Rows come while the run goes on, which only the reader ends here; and after
// that the rest of them.
func TestStdoutWhileRunning(t *testing.T) {
	t.Parallel()
	p := startRows(t, "--duration=10m", "--rps-limit=200")
	var got strings.Builder
	lines := bufio.NewReader(p.rows)
	for range 30 {
		line, err := lines.ReadString('\n')
		check.OK(t, err)
		got.WriteString(line)
	}
	check.OK(t, p.Process.Signal(syscall.SIGINT))
	if _, err := io.Copy(&got, lines); err != nil {
		t.Fatal(err)
	}
	p.end(t, exit.Interrupted)
	want, err := rowsOf(p.log)
	if err != nil || got.String() != want {
		t.Errorf("the reader has %d lines and the log %d: %v", strings.Count(got.String(), "\n"), strings.Count(want, "\n"), err)
	}
}

// A reader that has seen enough ends nothing.
func TestStdoutClosedPipe(t *testing.T) {
	t.Parallel()
	p := startRows(t, "--max-objects=3000")
	if _, err := bufio.NewReader(p.rows).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = p.rows.Close()
	p.end(t, exit.OK)
	p.says(t, "warning: --stdout: ", 1)
	p.says(t, "the reader has closed it; the run goes on without it", 1)
	p.says(t, "Operation: PUT (3000)", 1)
}

// Whoever does not read holds up the end only, until Ctrl-C. That the rows are
// not all there is said by warning, error and exit code, and by the log.
func TestStdoutUnread(t *testing.T) {
	t.Parallel()
	p := newProcess(t, "--max-objects=3000")
	errs, err := p.StderrPipe()
	check.OK(t, err)
	p.start(t)
	var said strings.Builder
	lines := bufio.NewReader(errs)
	for {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if strings.Contains(line, "waiting for the reader of --stdout") {
			check.OK(t, p.Process.Signal(syscall.SIGINT))
		}
		if err != nil {
			break
		}
	}
	p.err.WriteString(said.String())
	p.end(t, exit.Failed)
	p.says(t, "waiting for the reader of --stdout", 1)
	p.says(t, "warning: --stdout: up to ", 1)
	p.says(t, " of 3000 rows did not reach the reader, which was not waited for after the interruption", 3) // warning, report, error
	p.says(t, "Operation: PUT (3000)", 1)
	report := runWarp(t, nil, "analyze", p.log)
	if want := "of 3000 rows did not reach the reader"; !strings.Contains(report.out, want) {
		t.Errorf("the log does not say that %s: %s", want, report.out)
	}
}

// A command without standard output fails, and a benchmark before it starts.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows what was closed")
	}
	warp, err := exec.LookPath("warp")
	check.OK(t, err)
	dir := t.TempDir()
	check.OK(t, writeLog(filepath.Join(dir, "run.csv.zst"), 1))
	for _, args := range []string{
		"analyze run.csv.zst", "analyze --json run.csv.zst", "cmp run.csv.zst run.csv.zst", "help", "get --help", "--version",
		"put --host=embedded --obj.size=1KiB --max-objects=3 --benchdata=put", "put --host=embedded --dry-run --max-objects=3 --obj.size=1KiB",
	} {
		for script, code := range map[string]int{
			`"$0" ` + args + ` >&-; exit $?`:                exit.Failed,
			`exec >&-; "$0" ` + args + `; exit $?`:          exit.Failed,
			`"$0" ` + args + ` >/dev/null; exit $?`:         exit.OK,
			`exec 1<>/dev/null; "$0" ` + args + `; exit $?`: exit.OK, // as processes that other languages start
		} {
			cmd := exec.Command("sh", "-c", script, warp)
			cmd.Dir = dir
			said, err := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("%s: exit code %d, want %d: %v, %s", script, got, code, err, said)
			}
			if want := "warp: error: "; code != exit.OK && (strings.Count(string(said), want) != 1 || !strings.Contains(string(said), "standard output is closed")) {
				t.Errorf("%s says %s", script, said)
			}
			_ = os.Remove(filepath.Join(dir, "put.csv.zst"))
		}
	}
	// A parent that discards the output itself, as Python does.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	check.OK(t, err)
	defer null.Close()
	cmd := exec.Command(warp, "--version")
	cmd.Stdout = null
	if err := cmd.Run(); err != nil {
		t.Errorf("output that is discarded: %v", err)
	}
}
