// Package webpage serves the page of --web and --serve: about a run while it
// lasts, or about recorded runs.
package webpage

import (
	"context"
	"net"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/report/page"
	"warp/pkg/report/web"
)

// Flags choose whether and where a page is served.
type Flags struct {
	Browser bool   // --web: open it in a browser
	Addr    string // --serve
}

// Flags returns the flags.
func (f *Flags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "web", Destination: &f.Browser, Usage: "show the report as a page in a browser, until Ctrl-C"},
		&cli.StringFlag{Name: "serve", Destination: &f.Addr, Usage: "serve this page at `ADDRESS`, such as 127.0.0.1:7762, and open no browser"},
	}
}

// Wanted reports whether a page is served.
func (f *Flags) Wanted() bool { return f.Browser || f.Addr != "" }

// Check returns an error if the address is invalid.
func (f *Flags) Check() error {
	if f.Addr == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return exit.Usagef("--serve: %q is not a HOST:PORT", f.Addr).WithHint("write 127.0.0.1:7762, for instance")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return exit.Usagef("--serve: the port of %q is not a number up to 65535", f.Addr)
	}
	return nil
}

// listen starts a server and shows its address.
func (f *Flags) listen(inv *command.Invocation, o web.Options) (*web.Server, error) {
	addr := f.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	server, err := web.Listen(addr, o)
	if err != nil {
		return nil, exit.Errorf("--serve: %w", err)
	}
	// With --quiet as well, because the token cannot be guessed.
	inv.Say("warp: page at " + server.URL())
	if f.Browser && !openBrowser(inv, server.OpenURL()) {
		inv.Notef("no browser can be opened here; open that address in one")
	}
	return server, nil
}

// openBrowser opens an address in a browser. It returns false if there is none.
func openBrowser(inv *command.Invocation, url string) bool {
	var c *exec.Cmd
	switch {
	case inv.Env.Value("BROWSER") != "":
		c = exec.Command(inv.Env.Value("BROWSER"), url)
	case runtime.GOOS == "darwin":
		c = exec.Command("open", url)
	case runtime.GOOS == "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case inv.Env.Value("DISPLAY") != "" || inv.Env.Value("WAYLAND_DISPLAY") != "":
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

// ShowRecorded shows a page about recorded runs until Ctrl-C. It does nothing without a page. log is the op log, "" if
// there is none.
func (f *Flags) ShowRecorded(ctx context.Context, inv *command.Invocation, p *page.Page, log string) error {
	if !f.Wanted() || p == nil {
		return nil
	}
	o := web.Options{}
	if log != "" {
		o.Log = func() string { return log }
	}
	server, err := f.listen(inv, o)
	if err != nil {
		return err
	}
	defer server.Close()
	server.Show(p)
	server.End("recorded")
	waitForInterrupt(ctx, inv)
	return nil
}

func waitForInterrupt(ctx context.Context, inv *command.Invocation) {
	inv.Notef("the page stays until Ctrl-C")
	<-ctx.Done()
}
