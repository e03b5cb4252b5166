package report

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/find"
	"warp/pkg/report/printer"
)

// FindText renders the result of a search for people.
func FindText(w io.Writer, r *find.Report, o printer.Options) error {
	p := newPrinter(o)
	p.Line("%s", p.Bold(human.Wrap(r.Headline()+".", 0, p.MaxWidth(), "")))
	if r.FailsFirst != "" {
		p.Sentences(fmt.Sprintf("At %s: %s.", r.Show(r.Failed), r.FailsFirst))
	}
	made := fmt.Sprintf("%s in %s", human.Plural(len(r.Steps), "step"), human.Duration(time.Duration(r.Seconds)*time.Second))
	if r.Workers > 0 {
		made += ", " + human.Plural(r.Workers, "worker") + " at the end"
	}
	p.Line("%s.", made)
	if r.Enough != "" {
		p.Line("At least %s: %s.", r.Show(r.AtLeast), r.Enough)
	}
	p.Line("")
	p.Columns(FindColumns(r), nil)
	for i, n := range r.Notes {
		if i == 0 {
			p.Line("")
		}
		p.Paragraph("Note:", n+".")
	}
	return p.To(w)
}

// FindColumns returns a table with a row for each step. Without room for all columns, it keeps the intervals, which decide the
// results, longer than other columns.
func FindColumns(r *find.Report) []columns.Column {
	table := []columns.Column{{Title: r.Unit}, {Title: "for"}, {Title: "result"}, {Title: "answered/s", Drop: 5}, {Title: "step", Drop: 4}}
	if r.Workers > 0 {
		table = append(table, columns.Column{Title: "workers", Drop: 6})
	}
	for i, a := range r.Assertions {
		table = append(table, columns.Column{Title: subject(r, i, a), Drop: min(i+1, 2)}, columns.Column{Title: "99 % interval", Drop: 3})
	}
	for _, p := range r.Steps {
		row := []string{amount(p.Load), human.Duration(time.Duration(p.Seconds+.5) * time.Second), string(p.Outcome), amount(p.Rate), stepName(&p)}
		if r.Workers > 0 {
			row = append(row, strconv.Itoa(p.Workers))
		}
		for i := range p.Values {
			row = append(row, figure(&p.Values[i]), interval(&p.Values[i]))
		}
		columns.AddRow(table, row...)
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

func amount(x float64) string { return human.Number(x, 5) }

func figure(f *find.Figure) string {
	if f.Measured == nil {
		return "–"
	}
	return human.Number(*f.Measured, 4) + " " + f.Unit
}

func interval(f *find.Figure) string {
	if f.Low == nil {
		return ""
	}
	return human.Number(*f.Low, 4) + " to " + human.Number(*f.High, 4)
}

// FindChangeText renders the comparison of two searches for people.
func FindChangeText(w io.Writer, c *find.Change, o printer.Options) error {
	p := newPrinter(o)
	p.Line("before: %s", c.Before.Bracket())
	p.Line("after:  %s", c.After.Bracket())
	p.Line("%s", p.Bold(FindVerdict(c)))
	return p.To(w)
}

// FindVerdict says how the brackets of two searches differ.
func FindVerdict(c *find.Change) string {
	change := ""
	if c.Percent != 0 {
		change = fmt.Sprintf(" (%+.1f %% from one estimate to the other)", c.Percent)
	}
	if c.Verdict == find.Unclear {
		return "The brackets overlap, so no difference is shown" + change + "."
	}
	return "The highest load is " + c.Verdict + change + "."
}
