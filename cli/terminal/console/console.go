// Package console shows what a command has to say: results on standard output,
// progress, notes and warnings on standard error, with secrets hidden.
package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/cli/terminal"
	"warp/cli/terminal/live"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/pkg/report/printer"
)

// A Console writes results to standard output, and everything else to standard
// error. All its methods may be called from any goroutine.
type Console struct {
	Out, Err io.Writer
	Hide     *redact.Redactor

	columns            func() int // of standard error now; 0 = it is not a terminal
	Quiet, JSON, debug bool
	OutColor, errColor bool
	mu                 sync.Mutex       // one writer on Err at a time
	screen             *terminal.Screen // nil where nothing is drawn in place
	keyboard           int              // descriptor of a terminal for keys; -1 = there is none
	keys               atomic.Pointer[terminal.Keys]

	Readable    bool                          // both streams go to the same reader, so notes in the report need not be repeated
	lastWarning atomic.Pointer[func() string] // the last warning if warp is ended at once; nil = none
}

// Options select the output.
type Options struct{ Quiet, NoColor, JSON, Debug bool }

// Streams are standard input, output and error.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// New finds out what the streams can do. Nothing is drawn in place where
// standard error is not a terminal, nor with --quiet or --json.
func New(a Streams, env func(name string) (value string, ok bool), o Options, hide *redact.Redactor) *Console {
	c := &Console{Out: a.Out, Err: a.Err, Hide: hide, Quiet: o.Quiet, JSON: o.JSON, debug: o.Debug}
	c.columns = func() int { return terminal.Columns(a.Err, env) }
	noColor, _ := env("NO_COLOR")
	dumb, _ := env("TERM")
	plain := o.NoColor || noColor != "" || dumb == "dumb"
	c.keyboard = -1
	if fd, ok := terminal.Descriptor(a.In); ok {
		c.keyboard = fd
	}
	_, outTerminal := terminal.Descriptor(a.Out)
	fd, errTerminal := terminal.Descriptor(a.Err)
	c.Readable = (outTerminal && errTerminal || sameFile(a.Out, a.Err)) && !o.JSON
	c.OutColor = outTerminal && !plain && !o.JSON
	c.errColor = errTerminal && !plain
	if errTerminal && dumb != "dumb" && !c.Quiet && !c.JSON {
		c.screen = terminal.NewScreen(a.Err, fd)
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

// OutWidth returns the width of standard output, 0 if it is not a terminal.
func (c *Console) OutWidth() int {
	if fd, ok := terminal.Descriptor(c.Out); ok {
		return terminal.Width(fd)
	}
	return 0
}

// View shows progress on the console.
func (c *Console) View(interval time.Duration) *live.View {
	return &live.View{Console: c, Quiet: c.Quiet, JSON: c.JSON, Color: c.errColor, Interval: interval, Now: time.Now}
}

// Say writes one line to standard error, above whatever is drawn there. On a terminal the line is broken at blanks.
func (c *Console) Say(line string) {
	columns := 0
	if c.columns != nil {
		columns = c.columns()
	}
	c.print(fit(c.Hide.Text(line), columns))
}

// fit breaks a line at blanks if it is wider than the terminal. 0 columns mean that it is not a terminal.
func fit(line string, columns int) string {
	if columns <= 0 || utf8.RuneCountInString(line) <= columns {
		return line
	}
	return human.Wrap(line, 0, columns, "")
}

func (c *Console) print(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
	fmt.Fprintln(c.Err, line)
}

// Figures writes v as a line of JSON. It does not hide secrets: v has only figures
// and names of warp, which a secret may resemble.
func (c *Console) Figures(v any) { c.print(JSONLine(v)) }

// JSONLine returns v as one line. Its caller has replaced numbers that JSON lacks.
func JSONLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// Note prints a line that is not a warning, unless --quiet is given.
func (c *Console) Note(text string) { c.Notef("%s", text) }

// Notef is Note with a format.
func (c *Console) Notef(format string, args ...any) {
	if !c.Quiet {
		c.Say("warp: " + oneLine(fmt.Sprintf(format, args...)))
	}
}

// Warnf prints a warning about the figures, with --quiet too.
func (c *Console) Warnf(format string, args ...any) {
	c.Say(terminal.Paint(c.errColor, color.FgYellow, "warp: warning:") + " " + oneLine(fmt.Sprintf(format, args...)))
}

// Debugf prints what warp does if --debug is given.
func (c *Console) Debugf(format string, args ...any) {
	if c.debug {
		c.Say("warp: debug: " + oneLine(fmt.Sprintf(format, args...)))
	}
}

// Clear removes the drawing.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Clear()
	}
}

// TakeOut returns standard output for rows. Results go to standard error from
// then on, and nothing is drawn in place where the rows would run through it.
func (c *Console) TakeOut() io.Writer {
	rows := c.Out
	if _, ok := terminal.Descriptor(rows); ok {
		c.Clear()
		c.mu.Lock()
		c.screen = nil
		c.mu.Unlock()
	}
	c.Out, c.OutColor = c.Err, c.errColor
	return rows
}

// SetLastWarning sets the last warning if warp is ended at once. A nil text removes it.
func (c *Console) SetLastWarning(text func() string) {
	if text == nil {
		c.lastWarning.Store(nil)
		return
	}
	c.lastWarning.Store(&text)
}

// PrintLastWarning prints the last warning, unless another goroutine is stuck in writing.
func (c *Console) PrintLastWarning() {
	text := c.lastWarning.Load()
	if text == nil {
		return
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		if text := (*text)(); text != "" {
			c.Warnf("%s", text)
		}
	}()
	select {
	case <-said:
	case <-time.After(200 * time.Millisecond):
	}
}

// lockSoon takes the lock, unless another goroutine is stuck in writing to a
// stopped terminal. Then nothing can be restored on it either.
func (c *Console) lockSoon() bool {
	for range 20 {
		if c.mu.TryLock() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Close is the last Clear: the process ends, and nothing may be drawn any more.
func (c *Console) Close() {
	c.keys.Load().Close()
	if c.lockSoon() {
		defer c.mu.Unlock()
	}
	if c.screen != nil {
		c.screen.Close()
	}
}

// Size returns the room for drawing, 0 if nothing is drawn in place.
func (c *Console) Size() (width, lines int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen == nil {
		return 0, 0
	}
	return c.screen.Size()
}

// Keys calls pressed for each key until the returned function is called. It returns nil without a keyboard.
func (c *Console) Keys(pressed func(key rune)) (stop func()) {
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
func (c *Console) suspend(pause func()) {
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

// resumed draws everything again, because other programs may have written to the terminal.
func (c *Console) resumed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Forget()
	}
}

// Draw replaces the drawing with lines.
func (c *Console) Draw(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen != nil {
		c.screen.Draw(lines)
	}
}

// PrintError is the only function that prints an error. It prints one line
// whatever the error contains, because scripts and logs cut at line ends. On a
// terminal the line is broken at blanks, so that it fits into columns.
func PrintError(w io.Writer, hide *redact.Redactor, err error, columns int) {
	fmt.Fprintln(w, fit("warp: error: "+hide.Text(oneLine(err.Error())), columns))
}

// oneLine joins the lines of s, and removes control characters: parts of a
// message may come from a server or from a file.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	// Messages of stores end in a full stop, and a hint may follow.
	return strings.NewReplacer(".;", ";", ".)", ")").Replace(human.OneLine(strings.Join(words, " ")))
}

// Document writes the result of the command as one JSON document with --json, and otherwise as text.
func (c *Console) Document(document any, text func(io.Writer) error) error {
	if c.JSON {
		return c.ResultJSON(document)
	}
	return c.Result(text)
}

// ResultJSON is Result with a JSON document.
func (c *Console) ResultJSON(document any) error {
	return c.Result(func(w io.Writer) error { return printer.JSON(w, document) })
}

// Resultf is Result with a format.
func (c *Console) Resultf(format string, args ...any) error {
	return c.Result(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	})
}

// Result writes the result of the command to standard output. A reader that has
// closed its end, such as head, is not an error.
func (c *Console) Result(write func(io.Writer) error) error {
	shown := terminal.NewPlainWriter(c.Out, c.OutColor)
	w := bufio.NewWriter(shown)
	err := write(w)
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	if flushErr := shown.Flush(); err == nil {
		err = flushErr
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}
