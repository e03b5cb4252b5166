package reports

import (
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/pkg/report/page"
	"warp/pkg/results"
)

// An HTMLFlag is the file of --html.
type HTMLFlag struct {
	Path  string
	Keep  bool       // the page is shown as well
	Drawn *page.Page // if it is kept
}

func (f *HTMLFlag) Flag() cli.Flag {
	return &cli.StringFlag{Name: "html", Destination: &f.Path, TakesFile: true, Usage: "also write the report with charts to `FILE`, as an HTML page"}
}

// Check returns an error if the file exists, before any work is done.
func (f *HTMLFlag) Check() error { return files.CheckNew("--html", f.Path, "name another place") }

// try finds out whether the file can be made.
func (f *HTMLFlag) try() error { return files.TryFolder("--html", f.Path) }

// Ready does both, for commands that start at once.
func (f *HTMLFlag) Ready() error { return files.Ready("--html", f.Path) }

// Show writes a result, as text or JSON, and its page if --html is given.
func Show(inv *command.Invocation, result any, text func(io.Writer) error, html *HTMLFlag, draw func(page.Options) *page.Page) error {
	inv.Hide.Strings(result)
	return exit.Join(inv.Document(result, text), SavePage(inv, html, draw))
}

// SavePage draws the page if it is wanted, and writes it.
func SavePage(inv *command.Invocation, f *HTMLFlag, draw func(page.Options) *page.Page) error {
	if f.Path == "" && !f.Keep {
		return nil
	}
	p := draw(page.Options{Location: time.Local})
	if f.Keep {
		f.Drawn = p
	}
	if f.Path == "" {
		return nil
	}
	if err := files.WriteNew(f.Path, p.Write); err != nil {
		return exit.Errorf("--html: %w", err)
	}
	inv.Notef("page written to %q", f.Path)
	return nil
}

// saveReportPage writes the page of one run, whose secrets are hidden.
func saveReportPage(inv *command.Invocation, f *HTMLFlag, r *results.Report) error {
	return SavePage(inv, f, func(o page.Options) *page.Page { return page.Report(r, o) })
}
