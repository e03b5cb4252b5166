package cli

import (
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/newfile"
	"warp/pkg/report/page"
	"warp/pkg/results"
)

// An htmlFlag is the file of --html.
type htmlFlag struct {
	path  string
	keep  bool       // the page is shown as well
	drawn *page.Page // if it is kept
}

func (f *htmlFlag) flag() cli.Flag {
	return &cli.StringFlag{Name: "html", Destination: &f.path, TakesFile: true, Usage: "also write the report with charts to `FILE`, one page for browsers"}
}

// check returns an error if the file exists, before any work is done.
func (f *htmlFlag) check() error {
	if f.path == "" {
		return nil
	}
	return newfile.Check("--html", f.path, "name another place")
}

// try finds out whether the file can be made.
func (f *htmlFlag) try() error {
	if f.path == "" {
		return nil
	}
	return newfile.TryFolder("--html", f.path)
}

// ready does both, for commands that start at once.
func (f *htmlFlag) ready() error {
	if err := f.check(); err != nil {
		return err
	}
	return f.try()
}

// savePage draws the page if it is wanted, and writes it.
func savePage(inv *command.Invocation, f *htmlFlag, draw func(page.Options) *page.Page) error {
	if f.path == "" && !f.keep {
		return nil
	}
	p := draw(page.Options{Location: time.Local})
	if f.keep {
		f.drawn = p
	}
	if f.path == "" {
		return nil
	}
	if err := newfile.Write(f.path, p.Write); err != nil {
		return exit.Errorf("--html: %w", err)
	}
	inv.Notef("page written to %q", f.path)
	return nil
}

// saveReportPage writes the page of one run, whose secrets are hidden.
func saveReportPage(inv *command.Invocation, f *htmlFlag, r *results.Report) error {
	return savePage(inv, f, func(o page.Options) *page.Page { return page.Report(r, o) })
}
