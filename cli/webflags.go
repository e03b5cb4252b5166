package cli

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/report/page"
	"warp/pkg/report/web"
	"warp/pkg/results"
)

// webFlags say whether and where a page shows the run.
type webFlags struct {
	open bool
	addr string
}

func (f *webFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "web", Destination: &f.open, Usage: "show the report as a page in a browser, until Ctrl-C"},
		&cli.StringFlag{Name: "serve", Destination: &f.addr, Usage: "serve that page at `ADDRESS`, such as 127.0.0.1:7762, and open no browser"},
	}
}

// with adds flags to a group.
func with(g command.Group, flags ...cli.Flag) command.Group {
	g.Flags = append(g.Flags, flags...)
	return g
}

func (f *webFlags) wanted() bool { return f.open || f.addr != "" }

func (f *webFlags) check() error {
	if f.addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return exit.Usagef("--serve: %q is not a HOST:PORT", f.addr).WithHint("write 127.0.0.1:7762, for instance")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return exit.Usagef("--serve: the port of %q is not a number up to 65535", f.addr)
	}
	return nil
}

// listen begins to serve, and says where.
func listenWeb(inv *command.Invocation, f *webFlags, o web.Options) (*web.Server, error) {
	addr := f.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	server, err := web.Listen(addr, o)
	if err != nil {
		return nil, exit.Errorf("--serve: %w", err)
	}
	// With --quiet as well: nobody could guess the token.
	inv.Say("warp: page at " + server.URL())
	if f.open && !openBrowser(inv, server.URL()) {
		inv.Notef("there is no browser to be opened here; open that address in one")
	}
	return server, nil
}

// openBrowser has the desktop open an address. It is false where there is none.
func openBrowser(inv *command.Invocation, url string) bool {
	has := func(name string) bool { value, ok := inv.Env(name); return ok && value != "" }
	var c *exec.Cmd
	switch {
	case has("BROWSER"):
		browser, _ := inv.Env("BROWSER")
		c = exec.Command(browser, url)
	case runtime.GOOS == "darwin":
		c = exec.Command("open", url)
	case runtime.GOOS == "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case has("DISPLAY") || has("WAYLAND_DISPLAY"):
		c = exec.Command("xdg-open", url)
	default:
		return false
	}
	if c.Start() != nil {
		return false
	}
	go func() { _ = c.Wait() }() // it ends when it likes
	return true
}

// showWeb shows a page about recorded runs until Ctrl-C, where it was drawn. log is the op log, where there is one.
func showWeb(ctx context.Context, inv *command.Invocation, f *webFlags, p *page.Page, log string) error {
	if !f.wanted() || p == nil {
		return nil
	}
	o := web.Options{}
	if log != "" {
		o.Log = func() string { return log }
	}
	server, err := listenWeb(inv, f, o)
	if err != nil {
		return err
	}
	defer server.Close()
	server.Show(p)
	server.End("recorded")
	lingerWeb(ctx, inv)
	return nil
}

func lingerWeb(ctx context.Context, inv *command.Invocation) {
	inv.Notef("the page stays until Ctrl-C")
	<-ctx.Done()
}

// A livePage is the page of a session.
type livePage struct {
	s      *session
	server *web.Server
	feed   *pageFeed // nil where this process has no summary
	final  bool      // it shows the report
}

// openPage begins to serve the page of the run, where that is asked for.
func (s *session) openPage() error {
	f := &s.flags.web
	if !f.wanted() {
		return nil
	}
	server, err := listenWeb(s.Invocation, f, web.Options{
		Stop: func() { s.load.finish("it was stopped on its page") },
		Mark: func(text string) error {
			_, err := s.mark(text)
			return err
		},
		Log: s.logSoFar,
	})
	if err == nil {
		s.page = &livePage{s: s, server: server}
	}
	return err
}

// logSoFar is the file of the op log at this moment; "" where there is none here.
func (s *session) logSoFar() string {
	if s.path == "" {
		return ""
	}
	for _, path := range []string{s.path, s.path + oplog.PartSuffix} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// measuring feeds the page until stop is called.
func (p *livePage) measuring() (stop func()) {
	if p == nil {
		return func() {}
	}
	began := time.Now()
	var course *web.Course
	if p.feed == nil {
		course = p.newCourse()
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			snapshot := p.s.snapshot()
			p.server.Say(stateOf(&snapshot, time.Since(began), p.s.opts.Duration))
			if course != nil {
				p.showCourse(course, snapshot)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		p.feed.close()
		p.server.Say("the run is over; the report follows")
	}
}

// newCourse is for a coordinator, which has live figures only.
func (p *livePage) newCourse() *web.Course {
	h := p.s.header("")
	clients := max(1, len(p.s.snapshot().Clients))
	return &web.Course{Workers: clients * p.s.opts.Concurrency, Clients: clients, Base: results.Report{
		Command: h.Command, Benchmark: h.Benchmark, Warp: h.Warp, Seed: h.Seed, Parameters: h.Parameters, Warnings: []string{},
	}}
}

func (p *livePage) showCourse(course *web.Course, snapshot monitor.Snapshot) {
	course.Clients = max(course.Clients, len(snapshot.Clients))
	course.Workers = course.Clients * p.s.opts.Concurrency
	course.Add(snapshot)
	if !p.server.Wanted() || course.Elapsed() <= 0 {
		return
	}
	r := course.Report()
	for _, m := range p.s.marks() {
		r.Marks = append(r.Marks, results.MarkReport{At: m.Time(), Text: m.Text})
	}
	p.server.Show(page.Report(r, page.Options{Location: time.Local, Quick: true, Hosts: snapshot.Hosts, Clients: snapshot.Clients, Elapsed: course.Elapsed()}))
}

// show shows the report of the run.
func (p *livePage) show(r *results.Report) {
	if p == nil || r == nil {
		return
	}
	p.server.Show(page.Report(r, page.Options{Location: time.Local}))
	p.final = true
}

// end keeps the report until Ctrl-C, unless that has ended the run already or others wait for it to end.
func (p *livePage) end(ctx context.Context) {
	if p == nil {
		return
	}
	if !p.final {
		p.server.End("the run has failed")
	} else {
		p.server.End("the run is over")
	}
	if p.final && ctx.Err() == nil && !p.s.Suite {
		lingerWeb(ctx, p.s.Invocation)
	}
	p.server.Close()
}
