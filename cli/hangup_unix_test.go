//go:build !windows

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// hungUp runs a benchmark in a process of its own, sends it SIGHUP twice and
// ends it. Before the second one it waits until requests were traced, if the
// first one is to switch that on. It returns what was written.
func hungUp(t *testing.T, shell string, args ...string) (text, log string, lines []string) {
	t.Helper()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	log = filepath.Join(t.TempDir(), "run")
	all := append([]string{"-c", shell + ` exec "$0" "$@"`, path, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=2",
		"--max-objects=1000000", "--rps-limit=200", "--duration=5m", "--stats-interval=100ms", "--benchdata=" + log}, args...)
	teststore.HearHangups()
	cmd := exec.Command("sh", all...)
	s := startTerminal(t, cmd)
	awaitRows(t, s, log+".csv.zst.part") // the first requests are from before the signal
	_ = cmd.Process.Signal(syscall.SIGHUP)
	if shell == "" || len(args) > 0 {
		s.await("HTTP tracing is ")
		awaitTraced(t, s, log+".csv.zst.part")
		before := strings.Count(s.String(), "HTTP tracing is ")
		_ = cmd.Process.Signal(syscall.SIGHUP)
		for deadline := time.Now().Add(time.Minute); strings.Count(s.String(), "HTTP tracing is ") == before && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
	} else {
		time.Sleep(300 * time.Millisecond) // it would have died
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d: %s", code, s)
	}
	for line := range strings.Lines(s.String()) {
		if _, state, ok := strings.Cut(line, "warp: HTTP tracing is "); ok {
			lines = append(lines, strings.TrimSpace(state))
		}
	}
	return s.String(), log + ".csv.zst", lines
}

// awaitRows waits until the log that is being written has a row.
func awaitRows(t *testing.T, s *tty, path string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, all, _, err := readTraced(t.Context(), path); err == nil && all > 0 { // or the log has not begun
			return
		}
	}
	t.Fatalf("no request is recorded: %s", s)
}

// awaitTraced waits until the log that is being written has rows with phases, where tracing is on now.
func awaitTraced(t *testing.T, s *tty, path string) {
	t.Helper()
	if !strings.Contains(s.String(), "HTTP tracing is on") {
		return
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if rows, _, _, err := readTraced(t.Context(), path); err == nil && rows > 0 {
			return
		}
	}
	t.Errorf("no request is traced: %s", s)
}

// traced counts the rows with phases of a request, and returns the log's notes.
func traced(t *testing.T, path string) (rows, all int, notes string) {
	t.Helper()
	rows, all, notes, err := readTraced(t.Context(), path)
	check.OK(t, err)
	return rows, all, notes
}

func readTraced(ctx context.Context, path string) (rows, all int, notes string, err error) {
	f, err := oplog.Open(path)
	if err != nil {
		return 0, 0, "", err
	}
	defer func() { _ = f.Close() }()
	err = f.Each(ctx, func(batch []oplog.Record) error {
		for i := range batch {
			all++
			if p := batch[i].Phases; p != nil && p[4] > 0 {
				rows++
			}
		}
		return nil
	})
	return rows, all, strings.Join(f.Trailer().Notes, "\n"), err
}

func TestHangup(t *testing.T) {
	t.Parallel()
	t.Run("off at first", func(t *testing.T) {
		t.Parallel()
		text, log, lines := hungUp(t, "", "--trace-http-sample=1")
		rows, all, notes := traced(t, log)
		if strings.Join(lines, " ") != "on off" || rows == 0 || rows == all {
			t.Errorf("lines %q, %d of %d rows traced: %s", lines, rows, all, text)
		}
		if !strings.Contains(notes, "HTTP tracing was switched on at ") || !strings.Contains(notes, "HTTP tracing was switched off at ") {
			t.Errorf("notes %q", notes)
		}
	})
	t.Run("ignored", func(t *testing.T) {
		t.Parallel()
		text, log, lines := hungUp(t, "trap '' HUP;")
		if rows, _, notes := traced(t, log); len(lines) > 0 || rows > 0 || strings.Contains(notes, "tracing") {
			t.Errorf("lines %q, notes %q, %d rows traced: %s", lines, notes, rows, text)
		}
	})
	t.Run("ignored and asked for", func(t *testing.T) {
		t.Parallel()
		text, log, lines := hungUp(t, "trap '' HUP;", "--trace-http", "--trace-http-sample=1")
		if rows, _, _ := traced(t, log); strings.Join(lines, " ") != "off on" || rows == 0 {
			t.Errorf("lines %q, %d rows traced: %s", lines, rows, text)
		}
	})
}

// TestHangupHolds: what SIGHUP has switched on in one benchmark of a file is on
// in the next one.
func TestHangupHolds(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("warp")
	check.OK(t, err)
	dir := t.TempDir()
	const file = `warp:
  api: v1
  benchmarks:
    - benchmark: put
      params: {benchdata: first, rps-limit: 200, max-objects: 2400}
    - benchmark: stat
      params: {benchdata: second, objects: 5, duration: 1s}
`
	check.OK(t, os.WriteFile(filepath.Join(dir, "two.yml"), []byte(file), 0o644))
	teststore.HearHangups()
	cmd := exec.Command(path, "run", "two.yml", "--host=embedded", "--obj.size=1KiB", "--concurrent=2",
		"--stats-interval=100ms", "--trace-http-sample=1")
	cmd.Dir = dir
	s := startTerminal(t, cmd)
	awaitRows(t, s, filepath.Join(dir, "first.csv.zst.part")) // the first requests are from before the signal
	_ = cmd.Process.Signal(syscall.SIGHUP)
	s.await("HTTP tracing is on")
	s.await("benchmark 2 of 2")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exit.OK {
		t.Errorf("exit code %d: %s", code, s)
	}
	for _, name := range []string{"first", "second"} {
		rows, all, notes := traced(t, filepath.Join(dir, name+".csv.zst"))
		if rows == 0 || (name == "first") == (rows == all) || !strings.Contains(notes, "HTTP tracing was switched on at ") {
			t.Errorf("%s: %d of %d rows traced, notes %q", name, rows, all, notes)
		}
	}
}

// TestTerminalClosed: a run whose terminal is closed ends as at Ctrl-C, with a
// log and a clean bucket, but one that was begun with tracing goes on.
func TestTerminalClosed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, shell, flag, reason string
		code                      int
	}{
		{"plain", "", "", "interrupted", exit.Interrupted},
		{"traced", "", "--trace-http", "completed", exit.OK},
		{"nohup", "trap '' HUP;", "", "completed", exit.OK},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath("warp")
			check.OK(t, err)
			dir := t.TempDir()
			teststore.HearHangups()
			cmd := exec.Command("sh", "-c", test.shell+` exec "$0" put --host=embedded --obj.size=1KiB --concurrent=2 --rps-limit=100 `+
				`--max-objects=800 --duration=5m --stats-interval=100ms --benchdata=run `+test.flag+` >text 2>&1`, path)
			cmd.Dir = dir
			terminal, err := pty.Start(cmd)
			check.OK(t, err)
			defer time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
			text := func() string {
				b, _ := os.ReadFile(filepath.Join(dir, "text"))
				return string(b)
			}
			for deadline := time.Now().Add(time.Minute); !strings.Contains(text(), "PUT") && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			_ = terminal.Close()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d: %s", code, test.code, text())
			}
			f, _ := testlog.ReadFile(t, filepath.Join(dir, "run.csv.zst"))
			if end := f.Trailer().End; end != test.reason {
				t.Errorf("the log says that the run ended as %q, want %q: %s", end, test.reason, text())
			}
		})
	}
}
