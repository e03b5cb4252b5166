package cli

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fatih/color"

	"warp/cli/terminal"
)

// A console is what a command shows itself through: results on standard
// output, everything else on standard error. All its methods may be called
// from any goroutine.
type console struct {
	out, errw io.Writer
	hide      *redactor

	quiet, json, debug bool
	outColor, errColor bool
	mu                 sync.Mutex       // one writer on errw at a time
	screen             *terminal.Screen // nil where nothing is drawn in place
	refresh            time.Duration
	now                func() time.Time

	readable bool                          // who reads standard error reads the report too
	parting  atomic.Pointer[func() string] // what is to be said when warp is ended at once; nil = nothing
}

// newConsole finds out what the writers can do. Nothing is drawn in place where
// standard error is not a terminal, and none of it with --quiet or --json.
func newConsole(a *app, o *outputFlags, hide *redactor) *console {
	c := &console{out: a.out, errw: a.errw, hide: hide, refresh: time.Second / 4, now: time.Now}
	if o == nil {
		o = &outputFlags{}
	}
	c.quiet, c.json, c.debug = o.quiet, o.json, o.debug
	noColor, _ := a.env("NO_COLOR")
	dumb, _ := a.env("TERM")
	plain := o.noColor || noColor != "" || dumb == "dumb"
	_, outTerminal := terminal.Descriptor(a.out)
	fd, errTerminal := terminal.Descriptor(a.errw)
	c.readable = outTerminal && errTerminal && !o.json
	c.outColor = outTerminal && !plain && !o.json
	c.errColor = errTerminal && !plain
	if errTerminal && dumb != "dumb" && !c.quiet && !c.json {
		c.screen = terminal.NewScreen(a.errw, fd)
	}
	return c
}

// outWidth is how many characters a line of standard output has room for, 0 where
// that is unknown.
func (c *console) outWidth() int {
	if fd, ok := terminal.Descriptor(c.out); ok {
		return terminal.Width(fd)
	}
	return 0
}

// say writes one line to standard error, above whatever is drawn there.
func (c *console) say(line string) { c.sayFigures(c.hide.text(line)) }

// sayFigures is say for lines that are made of figures and names of ours only.
// A secret that looks like one of them must not take it out.
func (c *console) sayFigures(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
	fmt.Fprintln(c.errw, line)
}

// notef tells something worth knowing that is not an error.
func (c *console) notef(format string, args ...any) {
	if !c.quiet {
		c.say("warp: " + oneLine(fmt.Sprintf(format, args...)))
	}
}

// warnf tells of something that makes the numbers less than they seem. It is
// shown with --quiet too, where the user has said to want no progress, not no
// truth.
func (c *console) warnf(format string, args ...any) {
	c.say(terminal.Paint(c.errColor, color.FgYellow, "warp: warning:") + " " + oneLine(fmt.Sprintf(format, args...)))
}

// debugf tells what warp does, with --debug.
func (c *console) debugf(format string, args ...any) {
	if c.debug {
		c.say("warp: debug: " + oneLine(fmt.Sprintf(format, args...)))
	}
}

// restore leaves the terminal as it was found.
func (c *console) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
}

// undrawn takes the terminal for one that nothing is drawn on in place.
func (c *console) undrawn() {
	c.restore()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen = nil
}

// part says what whoever ends warp at once has to know, unless somebody is stuck in writing.
func (c *console) part() {
	text := c.parting.Load()
	if text == nil {
		return
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		if text := (*text)(); text != "" {
			c.warnf("%s", text)
		}
	}()
	select {
	case <-said:
	case <-time.After(200 * time.Millisecond):
	}
}

// quit is restore for the last time: the process ends, and nothing may be drawn
// any more.
//
// Somebody may be stuck in writing to a terminal that is stopped. Then there is
// nothing to be restored on it either.
func (c *console) quit() {
	for range 20 {
		if c.mu.TryLock() {
			defer c.mu.Unlock()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if c.screen != nil {
		c.screen.Close()
	}
}

// draw shows lines in place of those drawn before.
func (c *console) draw(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Draw(lines)
	}
}
