// Package page renders figures as one HTML file that needs nothing else: no
// network, and no scripts. Charts are SVG. Where scripts run, charts over time
// can be zoomed. The same page is what a browser shows while a run lasts.
//
// Keys, hosts, comments and messages come from stores and from logs of others.
// They reach the page as text only.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"warp/pkg/monitor"
	"warp/pkg/report/svg"
)

// Options say how a page is rendered.
type Options struct {
	Location *time.Location // of times of day; nil = UTC
	Quick    bool           // pictures are made faster, and are larger: for a page that is made anew all the time

	// What hosts and clients have done so far, where the report does not have that.
	Hosts, Clients []monitor.Part
	Elapsed        time.Duration // in this time
}

// Waiting is the page of a run that has not measured anything yet.
func Waiting() *Page {
	return &Page{Title: "warp", Heading: "Nothing was measured yet", Kicker: "warp", Lead: []string{"The figures appear here once the run is being measured."}}
}

// Live is what a page needs to be fed.
type Live struct {
	State string // what the run does, in a word or two
	Over  bool   // the run has ended
	Token string // for what changes the run; "" = there is nothing to change
	Log   bool   // there is an op log to download
}

// A Page is what is known of a run, or of several, in the order in which it is shown.
type Page struct {
	Title    string // of the window
	Heading  string
	Kicker   string   // above the heading
	Lead     []string // the verdict in words
	Cards    []card
	Warnings []string
	Sections []section

	plots []svg.Data
	data  any            // what other tools can read
	ids   map[string]int // how many charts there are of each kind
	loc   *time.Location
	quick bool
}

// A card is one answer.
type card struct {
	Label  string // the question
	Figure string
	Note   string
	State  string // "good", "warn", "bad", or "" where it is neither

	sentence string // the same, among the others
}

// Mark is a sign for the state, for those who see no colors.
func (c card) Mark() string {
	return map[string]string{"good": "✓", "warn": "!", "bad": "✗"}[c.State]
}

// A section has a heading of its own.
type section struct {
	ID, Title string
	Lead      []string
	Blocks    []block
}

// A block is one of its fields.
type block struct {
	Title string // of what follows, in a section with several
	Chart *chart
	Table *table
	Code  string
	Grid  []chart
	Notes []string
}

// A chart is a drawing with its legend.
type chart struct {
	ID, Title string
	SVG       template.HTML
	Legend    []legend
	Tall      bool // it has a note below the axis
	Labeled   bool // words are to the left of it
	Zooms     bool
	State     string   // as of a card
	Note      string   // below it
	Marks     []string // what was done, by number
}

// A legend is the name of a line.
type legend struct {
	Label string
	Color int
	Class string
}

// A table has its first column as headings of rows.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Closed  bool // it is opened by who wants to see it
	Text    bool // its cells are text, not numbers
}

//go:embed assets
var assets embed.FS

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{"together": together}).ParseFS(assets, "assets/page.html"))
})

// together keeps a number and the sign behind it on one line.
func together(s string) string { return strings.ReplaceAll(s, " %", "\u00a0%") }

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the binary
	}
	return string(b)
}

// Write renders the page as a file.
func (p *Page) Write(w io.Writer) error { return p.write(w, nil) }

// WriteLive renders the page as one that is fed.
func (p *Page) WriteLive(w io.Writer, live Live) error { return p.write(w, &live) }

// Data is what the page is made of: a document for other tools.
func (p *Page) Data() any { return p.data }

func (p *Page) write(w io.Writer, live *Live) error {
	style := asset("uPlot.min.css") + asset("page.css")
	library, script := asset("uPlot.iife.min.js"), asset("page.js")
	plots, err := packed(p.plots)
	if err != nil {
		return err
	}
	data := ""
	if live == nil { // which has it for download
		if data, err = packed(p.data); err != nil {
			return err
		}
	}
	connect := "'none'"
	if live != nil {
		connect = "'self'"
	}
	return layout().Execute(w, struct {
		*Page
		Live        *Live
		Policy      string
		Style       template.CSS
		Library     template.HTML
		Script      template.JS
		Licence     template.HTML
		Plots, Data template.HTML
	}{
		p, live,
		strings.Join([]string{"default-src 'none'", "script-src " + hashOf(library) + " " + hashOf(script), "style-src " + hashOf(style),
			"img-src data:", "connect-src " + connect, "base-uri 'none'", "form-action 'none'"}, "; "),
		template.CSS(style), template.HTML(compressed([]byte(library))), template.JS(script),
		template.HTML("<!--\n" + asset("uPlot.LICENSE") + "-->"),
		template.HTML(plots), template.HTML(data),
	})
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// section adds a section that has something to show.
func (p *Page) section(s section) {
	if len(s.Blocks) > 0 || len(s.Lead) > 0 {
		p.Sections = append(p.Sections, s)
	}
}
