// Package printer writes documents about runs: text with paragraphs and tables that fit the terminal, and JSON. It knows nothing
// of what they say.
package printer

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"warp/internal/columns"
	"warp/internal/human"

	"github.com/fatih/color"
)

// Options are the options of a text.
type Options struct {
	Color    bool           // emphasis with terminal sequences
	Location *time.Location // for times of day; nil = UTC
	Width    int            // of the terminal, in characters; 0 = unknown
	Verbose  bool           // all details; aggregate.Options has to ask for those that need memory
}

// None is a cell without a value.
const None = "–"

// Float formats a number with all its digits and without an exponent, for other programs.
func Float(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// A Printer renders into memory, so that a slow or broken writer gets the whole text or an error,
// and lines need no error handling.
type Printer struct {
	Options
	text bytes.Buffer
}

// To writes the text.
func (p *Printer) To(w io.Writer) error {
	_, err := w.Write(p.text.Bytes())
	return err
}

// Line prints a line.
func (p *Printer) Line(format string, a ...any) { fmt.Fprintf(&p.text, format+"\n", a...) }

// Paint colors a text if colors are wanted.
func (p *Printer) Paint(s string, attributes ...color.Attribute) string {
	if !p.Color {
		return s
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(s)
}

// Bold emphasizes a text.
func (p *Printer) Bold(s string) string { return p.Paint(s, color.Bold) }

// Clock shows a time of day. The date does not matter in a fresh report.
func (p *Printer) Clock(t time.Time) string {
	return t.In(cmp.Or(p.Location, time.UTC)).Format("15:04:05 MST")
}

// defaultWidth is used if the width of the output is unknown.
const defaultWidth = 100

// MaxWidth returns the number of characters for a line.
func (p *Printer) MaxWidth() int { return cmp.Or(max(p.Width, 0), defaultWidth) }

// Sentences prints sentences, each from a new line on.
func (p *Printer) Sentences(all ...string) {
	for _, s := range all {
		p.Line("%s", human.Wrap(s, 0, p.MaxWidth(), ""))
	}
}

// Paragraph prints texts, each after a title such as "Warning:", which is colored. Further lines are indented.
func (p *Printer) Paragraph(title string, all ...string) {
	for _, text := range all {
		text = human.Wrap(title+" "+text, 0, p.MaxWidth(), "  ")
		if rest, ok := strings.CutPrefix(text, title); ok && title != "" {
			text = p.Paint(title, color.FgYellow) + rest
		}
		p.Line("%s", text)
	}
}

// Columns prints as many columns of a table as fit. paint, if not nil, may color a cell after it is padded.
func (p *Printer) Columns(table []columns.Column, paint func(row int, title, cell string) string) {
	for _, l := range columns.Fit(table, p.MaxWidth(), paint) {
		p.Line("%s", l)
	}
}

// Warnings prints warnings, each after the title. Lines of a known width are broken between words; otherwise each warning is
// one line, which scripts can read.
func (p *Printer) Warnings(title string, all []string) {
	for _, s := range all {
		if p.Width > 0 {
			p.Paragraph(title, s)
			continue
		}
		p.Line("%s %s", p.Paint(title, color.FgYellow), s)
	}
}
