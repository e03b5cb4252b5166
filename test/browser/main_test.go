package browser

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/report/page"
	"warp/pkg/results"
)

// browser starts Chromium, which CI has. Nothing that it reports may be an error.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium, and CI tests with one")
		}
		t.Skip("there is no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	check.OK(t, chromedp.Run(ctx))
	return ctx
}

// A memoryLog is a log with rows in memory.
type memoryLog struct {
	header  oplog.Header
	rows    []oplog.Record
	trailer oplog.Trailer
}

func (l *memoryLog) Header() oplog.Header { return l.header }

func (l *memoryLog) Read(_ func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	return l.trailer, rows(l.rows)
}

// reportOf returns the report of a synthetic run, after change.
func reportOf(t *testing.T, l testlog.Load, change func(*memoryLog)) *results.Report {
	t.Helper()
	log := &memoryLog{rows: l.Rows(1), header: oplog.Header{Benchmark: "mixed", Warp: "1.2.3", Seed: 5, Command: "warp mixed"},
		trailer: oplog.Trailer{End: "completed", Load: &hostload.Load{CPUSeconds: 1, WallSeconds: 5, Cores: 2}}}
	if change != nil {
		change(log)
	}
	r, err := aggregate.Analyze(log, aggregate.Options{Verbose: true})
	check.OK(t, err)
	r.Describe(log.header, log.trailer)
	return r
}

// render returns the page of a report.
func render(t *testing.T, r *results.Report) string {
	t.Helper()
	var b bytes.Buffer
	check.OK(t, page.Report(r, page.Options{}).Write(&b))
	return b.String()
}
