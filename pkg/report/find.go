package report

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/fatih/color"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/find"
)

// FindJSON renders the result of a search as one JSON document.
func FindJSON(w io.Writer, r *find.Report) error { return writeJSON(w, r) }

// FindText renders the result of a search for people.
func FindText(w io.Writer, r *find.Report, o TextOptions) error {
	p := &printer{o: o}
	p.line("%s.", p.bold(r.Headline()))
	if r.FailsFirst != "" {
		p.line("At %s: %s.", r.Show(r.Failed), r.FailsFirst)
	}
	if r.Workers > 0 {
		p.line("%s in %s.", human.Plural(r.Workers, "worker"), human.Duration(time.Duration(r.Seconds)*time.Second))
	}
	if r.Enough != "" {
		p.line("At least %s: %s.", r.Show(r.AtLeast), r.Enough)
	}
	p.line("")
	for _, l := range columns.Fit(FindColumns(r), p.width(), nil) {
		p.line("%s", l)
	}
	for i, n := range r.Notes {
		if i == 0 {
			p.line("")
		}
		p.line("%s %s.", p.paint("Note:", color.FgYellow), n)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// FindColumns returns a table with a row for each step.
func FindColumns(r *find.Report) []columns.Column {
	table := []columns.Column{{Title: r.Unit}, {Title: "for"}, {Title: "result"}, {Title: "answered/s", Drop: 2}, {Title: "step", Drop: 3}}
	if r.Workers > 0 {
		table = append(table, columns.Column{Title: "workers", Drop: 4})
	}
	fixed := len(table)
	for i, a := range r.Assertions {
		table = append(table, columns.Column{Title: subject(r, i, a), Drop: 1}, columns.Column{Title: "99 % interval", Drop: 5})
	}
	for _, p := range r.Steps {
		row := []string{amount(p.Load), human.Duration(time.Duration(p.Seconds+.5) * time.Second), string(p.Outcome), amount(p.Rate), stepName(&p)}
		if r.Workers > 0 {
			row = append(row, strconv.Itoa(p.Workers))
		}
		for i := range p.Values {
			row = append(row, figure(&p.Values[i]), interval(&p.Values[i]))
		}
		for len(row) < len(table) {
			row = append(row, "")
		}
		for i, cell := range row[:max(len(table), fixed)] {
			table[i].Cells = append(table[i].Cells, cell)
		}
	}
	return table
}

func subject(r *find.Report, i int, text string) string {
	for _, p := range r.Steps {
		if i < len(p.Values) {
			return p.Values[i].Subject
		}
	}
	return text
}

func stepName(p *find.Point) string {
	if p.Repeated {
		return p.Role + ", repeated"
	}
	return p.Role
}

func amount(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

func figure(f *find.Figure) string {
	if f.Measured == nil {
		return "–"
	}
	return fmt.Sprintf("%.4g %s", *f.Measured, f.Unit)
}

func interval(f *find.Figure) string {
	if f.Low == nil {
		return ""
	}
	return fmt.Sprintf("%.4g to %.4g", *f.Low, *f.High)
}

// FindChangeJSON renders the comparison of two searches as one JSON document.
func FindChangeJSON(w io.Writer, c *find.Change) error { return writeJSON(w, c) }

// FindChangeText renders the comparison of two searches for people.
func FindChangeText(w io.Writer, c *find.Change, o TextOptions) error {
	p := &printer{o: o}
	p.line("before: %s", c.Before.Bracket())
	p.line("after:  %s", c.After.Bracket())
	change := ""
	if c.Percent != 0 {
		change = fmt.Sprintf(" (%+.1f %% from one estimate to the other)", c.Percent)
	}
	switch c.Verdict {
	case find.Unclear:
		p.line("%s%s", p.bold("The brackets overlap, so no difference is shown"), change)
	default:
		p.line("%s%s", p.bold("The highest load is "+c.Verdict), change)
	}
	_, err := w.Write(p.Bytes())
	return err
}
