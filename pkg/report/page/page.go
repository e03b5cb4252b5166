// Package page renders figures as one HTML file that needs neither a network nor scripts. Charts
// are SVG. A script shows their values at the pointer. A browser shows the same page while a run
// lasts.
//
// Keys, hosts, comments and messages come from stores and from foreign logs. They are inserted only
// as text, in which the template replaces characters that steer a page.
package page

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/report"
)

// Options are the options of a page.
type Options struct {
	Location *time.Location // for times of day; nil = UTC

	// Hosts and Clients are the figures so far, if the report does not contain them.
	Hosts, Clients []monitor.Part
	Elapsed        time.Duration // their duration
}

// newPage returns a page without figures. Other tools read the data.
func newPage(data any, kicker, heading string, loc *time.Location) *Page {
	heading = human.Visible(heading)
	return &Page{data: data, Kicker: "warp, " + kicker, Heading: heading, Title: "warp: " + heading, loc: cmp.Or(loc, time.UTC)}
}

// Waiting returns the page of a run that has not measured anything yet.
func Waiting() *Page {
	return &Page{Title: "warp", Heading: "No figures yet", Kicker: "warp", Lead: []string{"The figures appear here once the run is being measured."}}
}

// Live contains what a live page needs.
type Live struct {
	State string // what the run is doing, in a word or two
	Over  bool   // the run has ended
	Token string // allows changes to the run; "" = none are possible
	Log   bool   // an op log can be downloaded
}

// A Page contains the figures of one or more runs in the order in which they are shown.
type Page struct {
	Title    string // of the browser window
	Heading  string
	Kicker   string   // above the heading
	Lead     []string // the verdict in words
	Cards    []card
	Warnings []string
	Sections []section

	scale       latencyRange   // of all charts of latency over time
	marksListed bool           // below a chart
	data        any            // for other tools
	ids         map[string]int // number of charts of each kind
	loc         *time.Location
}

// A card answers one question.
type card struct {
	Label  string // the question
	Figure string
	Note   string
	State  string // "good", "warn", "bad", or "" for neither

	sentence string // the answer in the summary text
}

// Mark returns a sign for the state, for readers who cannot see colors.
func (c card) Mark() string {
	return map[string]string{"good": "✓", "warn": "!", "bad": "✗"}[c.State]
}

// A section is a part of the page with a heading.
type section struct {
	ID, Title string
	Lead      []string
	Blocks    []block
}

// A block is one part of a section. It uses one of its fields.
type block struct {
	Title string // in a section with several blocks
	Chart *chart
	Table *report.Table
	Code  string
	Grid  []chart
	Notes []string
}

// A chart is a drawing with its legend.
type chart struct {
	ID, Title string
	SVG       template.HTML
	Legend    []legend
	Labeled   bool     // it has words to the left
	Scrolls   bool     // it has a width of its own
	State     string   // as in a card
	Note      string   // below the chart
	Marks     []string // texts of the marks, by number
	Values    *values  // of charts over time
}

// A legend names a line.
type legend struct {
	Label  string
	Swatch template.HTML // a piece of it
}

//go:embed assets
var assets embed.FS

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{"text": human.Visible, "together": together}).ParseFS(assets, "assets/page.html"))
})

// together returns text that keeps a number and the sign after it on one line.
func together(s string) string { return strings.ReplaceAll(human.Visible(s), " %", "\u00a0%") }

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the binary
	}
	return string(b)
}

// Write renders the page as a file.
func (p *Page) Write(w io.Writer) error { return p.write(w, nil) }

// WriteLive renders the page as a live page.
func (p *Page) WriteLive(w io.Writer, live Live) error { return p.write(w, &live) }

// Data returns the document behind the page, for other tools.
func (p *Page) Data() any { return p.data }

func (p *Page) write(w io.Writer, live *Live) error {
	style, script := asset("page.css"), asset("page.js")
	data := ""
	if live == nil { // a live page offers it for download
		var err error
		if data, err = packed(p.data); err != nil {
			return err
		}
	}
	connect, images := "'none'", "'none'"
	if live != nil {
		connect, images = "'self'", "data:" // its empty icon
	}
	return layout().Execute(w, struct {
		*Page
		Live   *Live
		Policy string
		Style  template.CSS
		Script template.JS
		Data   template.HTML
	}{
		p, live,
		strings.Join([]string{"default-src 'none'", "script-src " + hashOf(script), "style-src " + hashOf(style),
			"img-src " + images, "connect-src " + connect, "base-uri 'none'", "form-action 'none'"}, "; "),
		template.CSS(style), template.JS(script), template.HTML(data),
	})
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// section adds a section unless it is empty.
func (p *Page) section(s section) {
	if len(s.Blocks) > 0 || len(s.Lead) > 0 {
		p.Sections = append(p.Sections, s)
	}
}

// chart adds a chart unless it is nil.
func (s *section) chart(c *chart) {
	if c != nil {
		s.Blocks = append(s.Blocks, block{Chart: c})
	}
}

// table adds a table unless it is nil or empty.
func (s *section) table(t *report.Table) {
	if t != nil && len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
}

// tables adds a section of tables unless they are empty.
func (p *Page) tables(id, title string, all ...*report.Table) {
	s := section{ID: id, Title: title}
	for _, t := range all {
		s.table(t)
	}
	p.section(s)
}

// warn adds warnings, each of which begins and ends with these words.
func (p *Page) warn(begin string, warnings []string, end string) {
	for _, s := range warnings {
		p.Warnings = append(p.Warnings, begin+s+end)
	}
}
