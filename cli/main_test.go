package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"warp/cli/command"
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

func TestMain(m *testing.M) {
	name, value, _ := strings.Cut(teststore.QuickExit, "=")
	_ = os.Setenv(name, value) // of the processes that tests start
	testscript.Main(check.Waiting(m), map[string]func(){
		"warp": func() {
			os.Exit(Main(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
		},
		// warp with a command that shows progress of nothing, for real terminals
		"warp-fake": func() {
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			a := &app{in: os.Stdin, out: os.Stdout, errw: os.Stderr, env: os.LookupEnv,
				signals: signals, exit: os.Exit, extra: fakeCommands}
			os.Exit(a.main(context.Background(), os.Args[1:]))
		},
	})
}

// TestScripts runs whole command lines.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for i, name := range []string{"run.csv.zst", "other.csv.zst"} {
				if err := writeLog(filepath.Join(e.WorkDir, name), i); err != nil {
					return err
				}
			}
			if err := writeSets(e.WorkDir); err != nil {
				return err
			}
			e.Setenv("TZ", "UTC")
			e.Vars = append(e.Vars, teststore.QuickExit)
			return cutLog(filepath.Join(e.WorkDir, "run.csv.zst"), filepath.Join(e.WorkDir, "cut.csv.zst"))
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"rowsof": rowsof,
		},
	})
}

// exits runs a command like exec does, and wants the given exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [args…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// writeLog makes a small log: two threads that GET for three seconds, with one
// request in fifty that fails. Run numbers tell runs apart.
func writeLog(path string, run int) error {
	return writeRun(path, run, time.Duration(8-run)*time.Millisecond, 50)
}

// writeRun makes a log whose requests take that long. One in so many of them
// fails; 0 is none.
func writeRun(path string, run int, latency time.Duration, failing int) error {
	start := time.Date(2026, 1, 31, 12, 0, run, 0, time.UTC)
	f, err := oplog.Create(path, oplog.Header{
		Warp: "test", Run: fmt.Sprintf("run%d", run), Benchmark: "get", Command: "warp get", Start: start,
		Parameters: map[string]string{"concurrent": "2", "obj.size": "1KiB"},
	})
	if err != nil {
		return err
	}
	var rows []oplog.Record
	for i := range 600 {
		r := oplog.Record{
			Op: "GET", Run: fmt.Sprintf("run%d", run), Client: "c", Endpoint: "http://127.0.0.1:9000",
			Key: fmt.Sprintf("o%d", i%10), Thread: uint32(i % 2), Objects: 1, Bytes: 1024,
			Start:     start.Add(time.Duration(i/2) * 10 * time.Millisecond).UnixNano(),
			FirstByte: 2 * time.Millisecond, Duration: latency, Status: 200,
		}
		if failing > 0 && i%failing == failing-1 {
			r.Err, r.Status, r.Bytes = "SlowDown: reduce your request rate", 503, 0
		}
		rows = append(rows, r)
	}
	for chunk := range slices.Chunk(rows, 50) {
		if err := errors.Join(f.Write(chunk), f.Flush()); err != nil {
			return err
		}
	}
	_, err = f.Commit(oplog.Trailer{End: "completed"})
	return err
}

// writeSets makes sets of eight runs, without and with failed requests, and one
// whose runs vary a lot.
func writeSets(folder string) error {
	for i, set := range []struct {
		name    string
		latency func(run int) time.Duration
		failing int
	}{
		{"same", func(int) time.Duration { return 8 * time.Millisecond }, 50},
		{"fast", func(int) time.Duration { return 7 * time.Millisecond }, 50},
		{"good", func(int) time.Duration { return 8 * time.Millisecond }, 0},
		{"again", func(int) time.Duration { return 8 * time.Millisecond }, 0},
		{"slower", func(int) time.Duration { return 9 * time.Millisecond }, 0},
		{"varied", func(run int) time.Duration { return time.Duration(5+run%2*6) * time.Millisecond }, 0},
	} {
		if err := os.Mkdir(filepath.Join(folder, set.name), 0o755); err != nil {
			return err
		}
		for run := range 8 {
			if err := writeRun(filepath.Join(folder, set.name, fmt.Sprintf("%d.csv.zst", run)), 10*(i+1)+run, set.latency(run), set.failing); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutLog writes the beginning of a log, as a power cut leaves it.
func cutLog(from, to string) error {
	whole, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, whole[:len(whole)*6/10], 0o644)
}

// A result is what a command line has done.
type result struct {
	code     int
	out, err string
}

// runWarp runs a command line in process, with the fake commands beside the
// real ones and with no environment but env.
func runWarp(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, errw bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errw: &errw, env: mapEnvironment(env), extra: fakeCommands,
		exit: func(int) { t.Error("exit was called") }}
	code := a.main(t.Context(), args)
	return result{code, out.String(), errw.String()}
}

func mapEnvironment(m map[string]string) command.Environment {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

// needTool finds a program that a test needs. Where it is missing the test is
// skipped, but not on machines that are there for testing.
func needTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed, and CI=true wants every test", name)
	}
	t.Skipf("SKIPPED: %s is not installed", name)
	return ""
}
