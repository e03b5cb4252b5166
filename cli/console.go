package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fatih/color"

	"warp/cli/live"
	"warp/cli/redact"
	"warp/cli/terminal"
	"warp/internal/human"
)

// A console is what a command shows itself through: results on standard
// output, everything else on standard error. All its methods may be called
// from any goroutine.
type console struct {
	out, errw io.Writer
	hide      *redact.Redactor

	quiet, json, debug bool
	outColor, errColor bool
	mu                 sync.Mutex       // one writer on errw at a time
	screen             *terminal.Screen // nil where nothing is drawn in place
	keyboard           int              // descriptor of a terminal for keys; -1 = there is none
	keys               atomic.Pointer[terminal.Keys]

	readable bool                          // who reads standard error reads the report too
	parting  atomic.Pointer[func() string] // what is to be said when warp is ended at once; nil = nothing
}

// newConsole finds out what the writers can do. Nothing is drawn in place where
// standard error is not a terminal, and none of it with --quiet or --json.
func newConsole(a *app, o *outputFlags, hide *redact.Redactor) *console {
	c := &console{out: a.out, errw: a.errw, hide: hide}
	if o == nil {
		o = &outputFlags{}
	}
	c.quiet, c.json, c.debug = o.quiet, o.json, o.debug
	noColor, _ := a.env("NO_COLOR")
	dumb, _ := a.env("TERM")
	plain := o.noColor || noColor != "" || dumb == "dumb"
	c.keyboard = -1
	if fd, ok := terminal.Descriptor(a.in); ok {
		c.keyboard = fd
	}
	_, outTerminal := terminal.Descriptor(a.out)
	fd, errTerminal := terminal.Descriptor(a.errw)
	c.readable = (outTerminal && errTerminal || sameFile(a.out, a.errw)) && !o.json
	c.outColor = outTerminal && !plain && !o.json
	c.errColor = errTerminal && !plain
	if errTerminal && dumb != "dumb" && !c.quiet && !c.json {
		c.screen = terminal.NewScreen(a.errw, fd)
	}
	return c
}

// sameFile reports whether both are one file, as after 2>&1.
func sameFile(a, b io.Writer) bool {
	var infos [2]os.FileInfo
	for i, w := range []io.Writer{a, b} {
		f, ok := w.(*os.File)
		if !ok {
			return false
		}
		var err error
		if infos[i], err = f.Stat(); err != nil {
			return false
		}
	}
	return os.SameFile(infos[0], infos[1])
}

// outWidth is how many characters a line of standard output has room for, 0 where
// that is unknown.
func (c *console) outWidth() int {
	if fd, ok := terminal.Descriptor(c.out); ok {
		return terminal.Width(fd)
	}
	return 0
}

// view shows progress on the console.
func (c *console) view(interval time.Duration) *live.View {
	return &live.View{Console: c, Quiet: c.quiet, JSON: c.json, Color: c.errColor, Interval: interval, Now: time.Now}
}

// say writes one line to standard error, above whatever is drawn there.
func (c *console) say(line string) { c.print(c.hide.Text(line)) }

func (c *console) print(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
	fmt.Fprintln(c.errw, line)
}

// Figures writes v as a line of JSON. It is made of figures and names of ours
// only: a secret that looks like one of them must not take it out.
func (c *console) Figures(v any) { c.print(jsonLine(v)) }

// jsonLine is v as one line. Numbers that JSON cannot say have become 0 before.
func jsonLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// Note tells something worth knowing that is not an error.
func (c *console) Note(text string) { c.notef("%s", text) }

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

// Clear takes away what is drawn.
func (c *console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
}

// undrawn takes the terminal for one that nothing is drawn on in place.
func (c *console) undrawn() {
	c.Clear()
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

// lockSoon takes the lock, unless somebody is stuck in writing to a terminal that
// is stopped. Then there is nothing to be restored on it either.
func (c *console) lockSoon() bool {
	for range 20 {
		if c.mu.TryLock() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// quit is Clear for the last time: the process ends, and nothing may be drawn
// any more.
func (c *console) quit() {
	c.keys.Load().Close()
	if c.lockSoon() {
		defer c.mu.Unlock()
	}
	if c.screen != nil {
		c.screen.Close()
	}
}

// Size is how much room there is to draw, 0 where nothing is drawn in place.
func (c *console) Size() (width, lines int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen == nil {
		return 0, 0
	}
	return c.screen.Size()
}

// Keys calls pressed for each key until the returned function is called, where there are keys to be read.
func (c *console) Keys(pressed func(key rune)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen == nil || c.keyboard < 0 {
		return nil
	}
	keys := terminal.ReadKeys(c.keyboard, pressed)
	if keys == nil {
		return nil
	}
	c.keys.Store(keys)
	return keys.Close
}

// suspend gives the terminal back while pause lasts.
func (c *console) suspend(pause func()) {
	if c.lockSoon() {
		defer c.mu.Unlock()
	}
	if c.screen != nil {
		c.screen.Clear()
	}
	c.keys.Load().Pause()
	pause()
	c.keys.Load().Resume()
}

// resumed has everything drawn anew, because somebody else may have written to the terminal.
func (c *console) resumed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Forget()
	}
}

// Draw shows lines in place of those drawn before.
func (c *console) Draw(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Draw(lines)
	}
}

// printError is the only place that tells the user about an error. The message
// is one line whatever the error contains, because scripts and logs cut at line
// ends.
func printError(w io.Writer, hide *redact.Redactor, err error) {
	fmt.Fprintln(w, "warp: error: "+hide.Text(oneLine(err.Error())))
}

// oneLine joins the lines of s, and takes out what could steer a terminal:
// parts of a message may come from a server or from a file.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	// What a store says ends in a full stop, and goes on here.
	return strings.NewReplacer(".;", ";", ".)", ")").Replace(human.OneLine(strings.Join(words, " ")))
}
