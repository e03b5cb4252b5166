package page

import (
	"fmt"
	"math"

	"warp/internal/human"
	"warp/pkg/report"
	"warp/pkg/report/svg"
	"warp/pkg/workload"
)

// Profile returns the page of the profile of a workload.
func Profile(x *workload.Profile) *Page {
	p := newPage(x, "profile of a workload", report.ProfileHeadline(x), nil)
	p.Lead = report.ProfileSentences(x)
	p.warn("", x.Notes, "")
	p.profileCards(x)
	p.section(section{ID: "arrivals", Title: "Arrivals", Blocks: []block{{Chart: p.arrivals(&x.Arrivals)}}})
	mix := section{ID: "operations", Title: "Operations"}
	mix.chart(p.sizeChart(x))
	mix.table(tableOf("Operations", report.ProfileColumns(x)))
	p.section(mix)
	if x.Reuse != nil {
		p.section(section{ID: "caches", Title: "Caches", Lead: []string{"Downloads that a cache could have served if it evicts the least recently used object (LRU)."},
			Blocks: []block{{Chart: p.cacheChart(x.Reuse)}, {Table: tableOf("Caches", report.CacheColumns(x.Reuse))}}})
	}
	return p
}

func (p *Page) profileCards(x *workload.Profile) {
	p.Cards = append(p.Cards, card{Label: "Rate", Figure: human.PerSecond(x.PerS()) + " requests/s", Note: "gaps: " + string(x.Arrivals.Gaps)})
	if q := x.Popularity; q != nil {
		c := card{Label: "Popularity", Figure: fmt.Sprintf("%.1f %% for the hottest", 100*q.Hottest), Note: "share of the reads that the hottest 1 % of the objects got"}
		if q.Exponent != nil {
			c.Figure, c.Note = fmt.Sprintf("zipf:%.2f", *q.Exponent), fmt.Sprintf("± %.2f; the hottest 1 %% of the objects got %.1f %% of the reads", q.ExponentError, 100*q.Hottest)
		}
		p.Cards = append(p.Cards, c)
	}
	if x.Errors == 0 {
		p.Cards = append(p.Cards, card{Label: "Errors", Figure: "none", State: "good"})
	} else {
		p.Cards = append(p.Cards, card{Label: "Errors", Figure: fmt.Sprintf("%.2f %%", 100*float64(x.Errors)/float64(x.Requests)), Note: human.Plural(x.Errors, "request"), State: "warn"})
	}
}

// arrivals draws the rate over time.
func (p *Page) arrivals(a *workload.Arrivals) *chart {
	line := svg.Line{Label: "Requests per second", Y: a.Rates()}
	lines := []svg.Line{line}
	c := &svg.Chart{Title: line.Label, Desc: rangeOf(lines, func(v float64) string { return svg.Number(v) + " requests/s" }), Lines: lines}
	c.YScale = svg.FromZero(svg.Highest(lines), svg.Number)
	t := timeline{length: a.IntervalS * float64(len(a.Requests))}
	for i := range a.Requests {
		t.x = append(t.x, (float64(i)+.5)*a.IntervalS)
	}
	return p.drawTimed("arrivals", c, t, seriesOf(lines, svg.Number, mean))
}

// sizeChart draws the distributions of sizes over doublings, a line for each operation; nil if there are no sizes.
func (p *Page) sizeChart(x *workload.Profile) *chart {
	lowest, highest := math.Inf(1), 0.
	for i := range x.Operations {
		if s := x.Operations[i].Sizes; len(s) > 0 {
			lowest, highest = min(lowest, float64(s[0].Max)), max(highest, float64(s[len(s)-1].Max))
		}
	}
	if highest == 0 {
		return nil
	}
	var sizes []float64
	var labels []string
	for e := max(math.Ceil(math.Log2(max(lowest, 1)))-1, 0); ; e++ { // from a doubling that no request reaches
		sizes, labels = append(sizes, math.Exp2(e)), append(labels, human.Bytes(math.Exp2(e)))
		if math.Exp2(e) >= highest {
			break
		}
	}
	c := &svg.Chart{Title: "Share of requests up to a size", XNote: "size of the payload", XScale: svg.Places(labels), YScale: svg.FromZero(1, shareText)}
	for i := range sizes {
		c.X = append(c.X, float64(i))
	}
	for i := range x.Operations {
		o := &x.Operations[i]
		if len(o.Sizes) == 0 {
			continue
		}
		line := svg.Line{Label: string(o.Op), Color: len(c.Lines) % 8}
		for _, size := range sizes {
			line.Y = append(line.Y, upTo(o.Sizes, size))
		}
		c.Lines = append(c.Lines, line)
		c.Desc += fmt.Sprintf("%s: half of the requests have at most %s. ", o.Op, human.Bytes(o.Sizes.Quantile(.5)))
	}
	return p.draw("sizes", c)
}

// upTo returns the share of the sizes that are not larger.
func upTo(s workload.Sizes, size float64) float64 {
	n := 0.
	for _, b := range s {
		if float64(b.Max) <= size {
			n += float64(b.Requests)
		}
	}
	return n / float64(s.Requests())
}

// cacheChart draws what caches could have served over their size; nil if there is only one size.
func (p *Page) cacheChart(u *workload.Reuse) *chart {
	if len(u.Caches) < 2 {
		return nil
	}
	c := &svg.Chart{Title: "Share that a cache could have served", XNote: "size of the cache", YScale: svg.FromZero(1, shareText), Lines: []svg.Line{{Label: "requests"}, {Label: "bytes", Color: 1}}}
	var labels []string
	for i, x := range u.Caches {
		labels = append(labels, human.Bytes(float64(x.Size)))
		c.X = append(c.X, float64(i))
		c.Lines[0].Y, c.Lines[1].Y = append(c.Lines[0].Y, x.Requests), append(c.Lines[1].Y, x.Bytes)
	}
	c.XScale = svg.Places(labels)
	last := u.Caches[len(u.Caches)-1]
	c.Desc = fmt.Sprintf("%s: %.1f %% of the requests, %.1f %% of the bytes.", human.Bytes(float64(last.Size)), 100*last.Requests, 100*last.Bytes)
	return p.draw("caches", c)
}

func shareText(x float64) string { return svg.Number(100*x) + " %" }
