package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/workload"
)

// ProfileText renders the profile of a workload for people.
func ProfileText(w io.Writer, x *workload.Profile, o printer.Options) error {
	p := newPrinter(o)
	p.Line("%s", p.Bold(human.Wrap(ProfileHeadline(x)+".", 0, p.MaxWidth(), "")))
	p.Paragraph("", ProfileSentences(x)...)
	if len(x.Arrivals.Requests) > 1 {
		p.Line("")
		p.Line("Requests/s over time, up to %s:", human.PerSecond(highestRate(&x.Arrivals)))
		p.Line("  %s", human.Sparkline(x.Arrivals.Rates(), min(p.MaxWidth()-2, 60)))
	}
	p.Line("")
	p.Columns(ProfileColumns(x), nil)
	if x.Reuse != nil {
		p.Line("")
		p.Line("Downloads that a cache could have served (LRU):")
		p.Columns(CacheColumns(x.Reuse), nil)
	}
	for i, n := range x.Notes {
		if i == 0 {
			p.Line("")
		}
		p.Paragraph("Note:", human.Visible(n))
	}
	return p.To(w)
}

func highestRate(a *workload.Arrivals) (highest float64) {
	for _, rate := range a.Rates() {
		highest = max(highest, rate)
	}
	return highest
}

// ProfileHeadline says how many requests there are.
func ProfileHeadline(x *workload.Profile) string {
	s := fmt.Sprintf("%s in %s", human.PluralGrouped(x.Requests, "request"), human.Duration(time.Duration(x.DurationS+.5)*time.Second))
	if x.DurationS > 0 {
		s += fmt.Sprintf(", %s/s on average", human.PerSecond(x.PerS()))
	}
	if x.Errors > 0 {
		s += fmt.Sprintf(", %s failed", human.Grouped(x.Errors))
	}
	return s
}

// ProfileSentences describe arrivals, popularity, ranges and reuse, a sentence or two for each.
func ProfileSentences(x *workload.Profile) []string {
	all := []string{"Arrivals: " + gapsText(&x.Arrivals)}
	if q := x.Popularity; q != nil {
		all = append(all, "Popularity: "+popularityText(q))
	}
	if r := x.Ranges; r != nil {
		s := fmt.Sprintf("Ranges: %.1f %% of the downloads are of a part of the object, half of them of at most %s", 100*r.Share, human.Bytes(r.Sizes.Quantile(.5)))
		if len(r.Objects) > 0 {
			s += fmt.Sprintf("; the objects have %s on average", human.Bytes(r.Objects.Mean()))
		}
		all = append(all, s+".")
	}
	if u := x.Reuse; u != nil && u.Requests > 0 {
		all = append(all, fmt.Sprintf("Reuse: %.1f %% of the downloads are the first use of their object in the log.", 100*float64(u.FirstRequests)/float64(u.Requests)))
	}
	return all
}

// gapsText says how regular arrivals are.
func gapsText(a *workload.Arrivals) string {
	what := map[workload.Gaps]string{
		workload.EvenGaps: "more even than at random", workload.PoissonGaps: "at random, as from many independent users (Poisson)",
		workload.BurstyGaps: "in bursts", workload.UnknownGaps: "unknown, since the log is too short or has too few requests",
	}[a.Gaps]
	var parts []string
	for _, d := range a.Dispersion {
		parts = append(parts, fmt.Sprintf("%.2f at %g s", d.Index, d.IntervalS))
	}
	if len(parts) == 0 {
		return what + "."
	}
	return what + ". Index of dispersion: " + strings.Join(parts, ", ") + "; 1 is Poisson."
}

func popularityText(q *workload.Popularity) string {
	hottest := fmt.Sprintf("the hottest 1 %% of %s got %.1f", human.PluralGrouped(q.Keys, "object"), 100*q.Hottest)
	if q.HottestError > 0 {
		hottest += fmt.Sprintf(" ± %.1f", 100*q.HottestError)
	}
	hottest += " % of the reads"
	if q.Exponent == nil {
		return hottest + "."
	}
	return fmt.Sprintf("zipf:%.2f ± %.2f over %s fits best; %s.", *q.Exponent, q.ExponentError, human.PluralGrouped(q.Objects, "object"), hottest)
}

// ProfileColumns returns a table with a row for each operation.
func ProfileColumns(x *workload.Profile) []columns.Column {
	table := []columns.Column{{Title: "operation"}, {Title: "requests", Drop: 1}, {Title: "share"}, {Title: "errors", Drop: 2}, {Title: "mean size"},
		{Title: "p50", Drop: 4}, {Title: "p90", Drop: 5}, {Title: "p99", Drop: 3}, {Title: "max", Drop: 6}}
	for i := range x.Operations {
		o := &x.Operations[i]
		row := []string{string(o.Op), human.Grouped(o.Requests), fmt.Sprintf("%.2f %%", 100*o.Share), fmt.Sprintf("%.2f %%", 100*float64(o.Errors)/float64(o.Requests))}
		if len(o.Sizes) == 0 {
			row = append(row, printer.None, printer.None, printer.None, printer.None, printer.None)
		} else {
			row = append(row, human.Bytes(o.Sizes.Mean()))
			for _, q := range []float64{.5, .9, .99, 1} {
				row = append(row, human.Bytes(o.Sizes.Quantile(q)))
			}
		}
		columns.AddRow(table, row...)
	}
	return table
}

// CacheColumns returns a table with a row for each size of a cache.
func CacheColumns(u *workload.Reuse) []columns.Column {
	table := []columns.Column{{Title: "cache"}, {Title: "requests"}, {Title: "bytes"}}
	for _, c := range u.Caches {
		columns.AddRow(table, human.Bytes(float64(c.Size)), human.Percent(c.Requests, c.RequestsError), human.Percent(c.Bytes, c.BytesError))
	}
	return table
}
