package webpage

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/report/page"
	"warp/pkg/report/web"
	"warp/pkg/results"
)

// A feed is a sink that shows the summary on the page. The summary is written to
// right before. The page takes at most a hundredth of the time of a core.
type feed struct {
	server  *web.Server
	summary *aggregate.Summary
	header  oplog.Header
	window  oplog.Window
	next    atomic.Int64 // unix ns before which nothing is made
	reports chan drawn
	quit    chan struct{}
	done    chan struct{}
}

// A drawn is a report to be drawn, and how long it took to make.
type drawn struct {
	report *results.Report
	took   time.Duration
}

// pageShare is the part of the time of a core that the page may take.
const pageShare = 100

func newFeed(server *web.Server, summary *aggregate.Summary, header oplog.Header) *feed {
	f := &feed{server: server, summary: summary, header: header, reports: make(chan drawn, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go f.draw()
	return f
}

func (f *feed) Write([]oplog.Record) error { return nil }

// SetWindow records the window of the run.
func (f *feed) SetWindow(w oplog.Window) error {
	f.window = w
	return nil
}

// Flush makes a report if the page is open somewhere. The collector
// waits for the report, but not for the page.
func (f *feed) Flush() error {
	began := time.Now()
	if f.window.Begin == 0 || f.window.End != 0 || began.UnixNano() < f.next.Load() || !f.server.Wanted() {
		return nil
	}
	report, err := f.summary.Report()
	if err != nil {
		return nil // the end of the run reports it
	}
	report.Describe(f.header, oplog.Trailer{})
	f.next.Store(began.Add(time.Hour).UnixNano()) // until it is drawn
	select {
	case f.reports <- drawn{report, time.Since(began)}:
	case <-f.quit:
	}
	return nil
}

func (f *feed) draw() {
	defer close(f.done)
	for {
		var d drawn
		select {
		case d = <-f.reports:
		case <-f.quit:
			return
		}
		began := time.Now()
		p := page.Report(d.report, page.Options{Location: time.Local})
		f.server.Show(p)
		took := d.took + time.Since(began)
		f.next.Store(began.Add(max(900*time.Millisecond, min(pageShare*took, 30*time.Second))).UnixNano())
	}
}

// close ends the feed.
func (f *feed) close() {
	if f != nil {
		close(f.quit)
		<-f.done
	}
}

// stateOf describes the run in a line.
func stateOf(s *monitor.Snapshot, elapsed, duration time.Duration) string {
	text := "measuring for " + human.Duration(elapsed.Round(time.Second))
	if duration > 0 {
		text += " of " + human.Duration(duration)
	}
	var parts []string
	for i := range s.Ops {
		op := &s.Ops[i]
		part := op.Op + " " + human.Throughput(op.Current.Bytes, op.Current.Objects, op.Bytes > 0)
		if op.Errors > 0 {
			part += ", " + human.Plural(op.Errors, "error")
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return text
	}
	return fmt.Sprintf("%s: %s", text, strings.Join(parts, "; "))
}
