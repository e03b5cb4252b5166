package webpage

import (
	"context"
	"os"
	"time"

	"warp/cli/command"
	"warp/cli/session/marks"
	"warp/cli/terminal/live"
	"warp/pkg/aggregate"
	"warp/pkg/bench/recording"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/report/page"
	"warp/pkg/report/web"
	"warp/pkg/results"
)

// A Source is the run that a page shows.
type Source struct {
	*command.Invocation
	Duration    time.Duration // 0 = unlimited
	Concurrency int
	Log         string // path of the op log
	Marker      *marks.Marker
	Header      func() oplog.Header
	Snapshot    func() monitor.Snapshot
	Finish      func(why string) // ends the run early
}

// logSoFar returns the file of the op log, complete or not; "" if there is none here.
func (r *Source) logSoFar() string {
	if r.Log == "" {
		return ""
	}
	for _, path := range []string{r.Log, r.Log + oplog.PartSuffix} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// A Page is the page of a run. A nil Page does nothing.
type Page struct {
	run    Source
	server *web.Server
	feed   *feed // nil if this process has no summary
	final  bool  // it shows the report
}

// Open starts to serve the page of a run. It returns nil if no page is wanted.
func (f *Flags) Open(run Source) (*Page, error) {
	if !f.Wanted() {
		return nil, nil
	}
	server, err := f.listen(run.Invocation, web.Options{
		Stop: func() { run.Finish("it was stopped on its page") },
		Mark: func(text string) error {
			_, err := run.Marker.Mark(text)
			return err
		},
		Log: run.logSoFar,
	})
	if err != nil {
		return nil, err
	}
	return &Page{run: run, server: server}, nil
}

// Feed returns a sink that shows the figures of a summary, which is written to
// right before.
func (p *Page) Feed(summary *aggregate.Summary, header oplog.Header) recording.Sink {
	p.feed = newFeed(p.server, summary, header)
	return p.feed
}

// Measuring shows live figures until stop is called.
func (p *Page) Measuring() (stop func()) {
	if p == nil {
		return func() {}
	}
	began := time.Now()
	var timeline *web.Timeline
	if p.feed == nil {
		timeline = p.newTimeline()
	}
	show := func() {
		snapshot := p.run.Snapshot()
		p.server.Say(stateOf(&snapshot, time.Since(began), p.run.Duration))
		if timeline != nil {
			p.showTimeline(timeline, snapshot)
		}
	}
	show()
	end := live.Every(time.Second, show)
	return func() {
		end()
		p.feed.close()
		p.server.Say("the run is over; the report follows")
	}
}

// newTimeline returns the timeline of a coordinator, which has live figures only.
func (p *Page) newTimeline() *web.Timeline {
	h := p.run.Header()
	clients := max(1, len(p.run.Snapshot().Clients))
	return &web.Timeline{Workers: clients * p.run.Concurrency, Clients: clients, Base: results.Report{
		Command: h.Command, Benchmark: h.Benchmark, Warp: h.Warp, Seed: h.Seed, Parameters: h.Parameters, Warnings: []string{},
	}}
}

func (p *Page) showTimeline(timeline *web.Timeline, snapshot monitor.Snapshot) {
	timeline.Clients = max(timeline.Clients, len(snapshot.Clients))
	timeline.Workers = timeline.Clients * p.run.Concurrency
	timeline.Add(snapshot)
	if !p.server.Wanted() || timeline.Elapsed() <= 0 {
		return
	}
	r := timeline.Report()
	for _, m := range p.run.Marker.All() {
		r.Marks = append(r.Marks, results.MarkReport{At: m.Time(), Text: m.Text})
	}
	p.server.Show(page.Report(r, page.Options{Location: time.Local, Hosts: snapshot.Hosts, Clients: snapshot.Clients, Elapsed: timeline.Elapsed()}))
}

// Show shows the report of the run.
func (p *Page) Show(r *results.Report) {
	if p == nil || r == nil {
		return
	}
	p.server.Show(page.Report(r, page.Options{Location: time.Local}))
	p.final = true
}

// End shows the report until Ctrl-C, unless Ctrl-C ended the run or another benchmark follows. Then it ends the server.
func (p *Page) End(ctx context.Context) {
	if p == nil {
		return
	}
	if !p.final {
		p.server.End("the run has failed")
	} else {
		p.server.End("the run is over")
	}
	if p.final && ctx.Err() == nil && !p.run.Suite {
		waitForInterrupt(ctx, p.run.Invocation)
	}
	p.server.Close()
}
