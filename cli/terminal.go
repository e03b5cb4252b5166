package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/fatih/color"
	"golang.org/x/term"
)

// A console is what a command shows itself through: results on standard
// output, everything else on standard error. All its methods may be called
// from any goroutine.
type console struct {
	out, errw io.Writer
	hide      *redactor

	quiet, json, debug bool
	outColor, errColor bool
	mu                 sync.Mutex // one writer on errw at a time
	screen             *screen    // nil where nothing is drawn in place
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
	_, outTerminal := terminal(a.out)
	fd, errTerminal := terminal(a.errw)
	c.readable = outTerminal && errTerminal && !o.json
	c.outColor = outTerminal && !plain && !o.json
	c.errColor = errTerminal && !plain
	if errTerminal && dumb != "dumb" && !c.quiet && !c.json {
		c.screen = &screen{w: a.errw, size: func() (int, int) {
			width, height, err := term.GetSize(fd)
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24
			}
			return width, height
		}}
	}
	return c
}

// terminal reports whether w is one, and its descriptor.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// say writes one line to standard error, above whatever is drawn there.
func (c *console) say(line string) { c.sayFigures(c.hide.text(line)) }

// sayFigures is say for lines that are made of figures and names of ours only.
// A secret that looks like one of them must not take it out.
func (c *console) sayFigures(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.clear()
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
	c.say(paint(c.errColor, color.FgYellow, "warp: warning:") + " " + oneLine(fmt.Sprintf(format, args...)))
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
		c.screen.clear()
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
		c.screen.clear()
		c.screen.gone = true
	}
}

// draw shows lines in place of those drawn before.
func (c *console) draw(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.draw(lines)
	}
}

// paint colors s, independent of the process-wide switch of the package.
func paint(on bool, attribute color.Attribute, s string) string {
	if !on {
		return s
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(s)
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	eraseRight = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// A screen is a block of lines at the end of a terminal that is drawn again
// and again in place.
type screen struct {
	w     io.Writer
	size  func() (width, height int)
	drawn []int // widths of the lines that are there now
	gone  bool  // nothing is drawn any more
}

// margin is what stays free at the right, so that the ^C which a terminal
// echoes does not begin a new line.
const margin = 3

// draw replaces the block. It is one write, and a line is erased only behind
// its new text: that is what makes it free of flicker.
func (s *screen) draw(lines []string) {
	if s.gone {
		return
	}
	width, height := s.size()
	lines = lines[:min(len(lines), max(1, height-1))]
	var b strings.Builder
	if s.drawn == nil {
		b.WriteString(hideCursor)
	}
	b.WriteString(s.home(width))
	s.drawn = make([]int, len(lines))
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		line = cut(line, max(1, width-margin))
		s.drawn[i] = pb.CellCount(line)
		b.WriteString(line + eraseRight)
	}
	b.WriteString(eraseBelow)
	io.WriteString(s.w, b.String())
}

// clear takes the block away and gives the cursor back.
func (s *screen) clear() {
	if s.drawn == nil {
		return
	}
	width, _ := s.size()
	io.WriteString(s.w, s.home(width)+eraseBelow+showCursor)
	s.drawn = nil
}

// home moves the cursor to the beginning of the block. A terminal that has
// become narrower has wrapped the lines that were drawn for its old width.
func (s *screen) home(width int) string {
	up := -1
	for _, n := range s.drawn {
		up += max(1, (n+width-1)/width)
	}
	if up <= 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}

// cut shortens a line to width cells. A colored line that is too long loses its
// colors, since the end of a color may be what is cut off.
func cut(line string, width int) string {
	if pb.CellCount(line) <= width {
		return line
	}
	return pb.StripString(withoutColor(line), width)
}

// withoutColor removes color sequences.
func withoutColor(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
