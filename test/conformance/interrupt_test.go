package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// A child is a warp in a separate process.
type child struct {
	cmd      *exec.Cmd
	out, err teststore.Output
	done     chan struct{}
}

func startWarp(t *testing.T, args ...string) *child {
	t.Helper()
	return startWarpWith(t, nil, args...)
}

func startWarpWith(t *testing.T, env []string, args ...string) *child {
	t.Helper()
	c := &child{cmd: process(t, env, args...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	check.OK(t, c.cmd.Start())
	go func() { _ = c.cmd.Wait(); close(c.done) }()
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.done })
	return c
}

func (c *child) interrupt(t *testing.T) {
	t.Helper()
	check.OK(t, c.cmd.Process.Signal(os.Interrupt))
}

// ends waits for the process and returns how it ended, and how long that took.
func (c *child) ends(t *testing.T) (outcome, time.Duration) {
	t.Helper()
	start := time.Now()
	select {
	case <-c.done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("it does not end: %s%s", c.out.String(), c.err.String())
	}
	return outcome{strings.Join(c.cmd.Args[1:], " "), c.cmd.ProcessState.ExitCode(), c.out.String(), c.err.String()}, time.Since(start)
}

// TestInterrupt checks that Ctrl-C during a run saves the log, reports and cleans up.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Embedded} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, name))
			line, log := b.line("get", "--objects=20", "--obj.size=4KiB", "--concurrent=3", "--duration=5m", "--seed=5")
			c := startWarp(t, line...)
			check.Eventually(t, "the run to be under way", func() bool { return b.sent("GET") > 100 })
			c.interrupt(t)
			o, took := c.ends(t)
			o.want(t, 130)
			if took > 25*time.Second { // a run that is not interrupted drains for 30 s
				t.Errorf("it took %s to end", took)
			}
			if lines := o.errorLines(); len(lines) > 0 {
				t.Errorf("an interruption is told as an error: %q", lines)
			}
			o.sameAsAnalyze(t, log)
			h := readLog(t, log)
			if n := len(h.of("GET")); n < 90 || errorsIn(h.rows) > 0 || h.trailer.End != "interrupted" || len(h.warnings) > 0 {
				t.Errorf("%d rows with %d errors, the log ends %q, warnings %q", n, errorsIn(h.rows), h.trailer.End, h.warnings)
			}
			if !strings.Contains(o.out, "Operation: GET") || !strings.Contains(o.out, "interrupted") {
				t.Errorf("no report, or it does not say that the run was interrupted:\n%s", o.out)
			}
			b.clean(t)
		})
	}
}

// TestInterruptEmbedded checks that errors of the embedded store about closed connections are not
// shown.
func TestInterruptEmbedded(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "run")
	c := startWarp(t, "get", "--host=embedded", "--objects=4", "--obj.size=50MiB", "--concurrent=8", "--duration=5m",
		"--stats-interval=100ms", "--benchdata="+data)
	check.Eventually(t, "the run to be under way", func() bool { return strings.Contains(c.err.String(), "GET:") })
	c.interrupt(t)
	o, _ := c.ends(t)
	o.want(t, 130)
	o.sameAsAnalyze(t, data+".csv.zst")
	for l := range strings.Lines(o.err) {
		if !strings.HasPrefix(l, "warp: ") {
			t.Errorf("on standard error: %s", l)
		}
	}
}

// TestInterruptPrepare checks that an interrupt before the measurement leaves nothing behind.
func TestInterruptPrepare(t *testing.T) {
	t.Parallel()
	slow := &teststore.Fault{Match: onPool("PUT"), Delay: 20 * time.Millisecond}
	b := newBed(t, stores.Shared(t, teststore.MinIO), slow)
	line, log := b.line("get", "--objects=100000", "--obj.size=4KiB", "--concurrent=3", "--duration=5m")
	c := startWarp(t, line...)
	check.Eventually(t, "the uploads to be under way", func() bool { return b.sent("PUT") > 20 })
	c.interrupt(t)
	o, _ := c.ends(t)
	o.want(t, 130)
	if lines := o.errorLines(); len(lines) > 0 {
		t.Errorf("an interruption is told as an error: %q", lines)
	}
	o.sameAsAnalyze(t, log)
	h := readLog(t, log)
	if n := len(h.of("PUT")); n < 15 || h.trailer.End != "interrupted" {
		t.Errorf("%d uploads in the log, which ends %q", n, h.trailer.End)
	}
	b.clean(t)
}

// TestSecondInterrupt checks that a second Ctrl-C quits at once, whatever the first has started,
// and that the log is readable up to there.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Embedded))
	line, log := b.line("get", "--objects=20", "--obj.size=4KiB", "--concurrent=3", "--duration=5m")
	c := startWarp(t, line...)
	check.Eventually(t, "the run to be under way", func() bool { return b.sent("GET") > 100 })
	b.proxy.Freeze(time.Minute) // clean-up would wait for this
	t.Cleanup(func() { b.proxy.Freeze(0) })
	check.Eventually(t, "rows in the log", func() bool { return len(readLog(t, log+".part").of("GET")) >= 90 })
	c.interrupt(t)
	check.Eventually(t, "warp to notice", func() bool { return strings.Contains(c.err.String(), "interrupted") })
	check.Eventually(t, "the log to be saved", func() bool { return strings.Contains(c.err.String(), "Benchmark data written") })
	c.interrupt(t)
	o, took := c.ends(t)
	o.want(t, 130)
	if took > time.Minute/2 {
		t.Errorf("it took %s to quit", took)
	}
	if n := len(readLog(t, log).of("GET")); n < 90 {
		t.Errorf("%d rows in the log", n)
	}
}

// TestKill checks that the log of a killed run is readable up to a second before, with a warning.
func TestKill(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Embedded))
	line, log := b.line("get", "--objects=20", "--obj.size=4KiB", "--concurrent=3", "--duration=5m")
	c := startWarp(t, line...)
	check.Eventually(t, "the run to be under way", func() bool { return b.sent("GET") > 100 })
	check.Eventually(t, "rows in the log", func() bool { return len(readLog(t, log+".part").of("GET")) >= 50 })
	check.OK(t, c.cmd.Process.Kill())
	<-c.done
	if _, err := os.Stat(log); err == nil {
		t.Error("the log of a killed run has its final name")
	}
	left, err := filepath.Glob(filepath.Join(b.dir, "*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("the killed run left the files %v, %v", left, err)
	}
	o := warp("analyze", left[0]).want(t, 0)
	if h := readLog(t, left[0]); len(h.of("GET")) < 50 || h.trailer.End != "" || len(h.warnings) == 0 {
		t.Errorf("%d rows, the end %q, warnings %q", len(h.of("GET")), h.trailer.End, h.warnings)
	}
	if !strings.Contains(o.out, "Operation: GET") || !strings.Contains(o.err, "warning") {
		t.Errorf("analyze says %s", o)
	}
}
