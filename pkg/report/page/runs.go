package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/comparison"
	"warp/pkg/report/figures"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

// MaxRuns is the max number of runs in a comparison, because there are only so many distinguishable
// colors.
const MaxRuns = 8

// runsData is the data embedded in a page about several runs.
type runsData struct {
	Version    int              `json:"version"`
	Kind       string           `json:"kind"`
	Runs       []runData        `json:"runs"`
	Comparison *compare.Changes `json:"comparison,omitempty"`
}

type runData struct {
	Name   string          `json:"name"`
	Report *results.Report `json:"report"`
}

// A side is one of the compared runs.
type side struct {
	name   string
	report *results.Report
	groups []group
}

// Runs compares several runs in common charts. changes contains the changes from the first to the
// second if there are two.
func Runs(runs []compare.Run, changes *compare.Changes, o Options) *Page {
	data := runsData{Version: 1, Kind: "runs", Comparison: changes}
	var sides []side
	for _, r := range runs {
		data.Runs = append(data.Runs, runData{human.Visible(r.Name), r.Report.Compact()})
		sides = append(sides, side{r.Name, r.Report, measuredGroups(r.Report)})
	}
	shortNames(sides)
	var names []string
	for i := range sides {
		names = append(names, sides[i].name)
	}
	p := newPage(data, fmt.Sprintf("comparison of %d runs", len(runs)), human.And(names), o.Location)
	for i := range sides {
		p.warn(sides[i].name+": ", sides[i].report.Warnings, "")
	}
	p.compareTotals(sides)
	p.compareOperations(sides)
	if changes != nil {
		p.changes(changes)
	}
	p.differences(sides)
	return p
}

// shortNames removes the common start and end of the names of files: their folder and extension.
func shortNames(sides []side) {
	for i := range sides {
		name := sides[i].name
		if at := strings.LastIndexAny(name, `/\`); at >= 0 && at+1 < len(name) {
			name = name[at+1:]
		}
		for _, end := range []string{".zst", ".gz", ".csv", ".json"} {
			name = strings.TrimSuffix(name, end)
		}
		sides[i].name = cmp.Or(name, sides[i].name)
	}
	for i := range sides {
		for k := range sides[:i] {
			if sides[i].name == sides[k].name { // files with the same name in different folders
				sides[i].name = fmt.Sprintf("%s (%d)", sides[i].name, i+1)
			}
		}
	}
}

// compareTotals has a card for each figure of all operations together.
func (p *Page) compareTotals(sides []side) {
	var totals []results.Figures
	for i := range sides {
		f, ok := sides[i].report.Total()
		if !ok {
			p.Lead = append(p.Lead, "Not all runs have a total, so each operation is compared separately.")
			return
		}
		totals = append(totals, f)
	}
	for _, shown := range []struct{ metric, label string }{
		{"throughput", "Throughput"}, {"objs", "Objects"}, {"p50", "Median latency"}, {"p99", "p99 latency"}, {"errors", "Errors"},
	} {
		m, _ := results.FindMetric(shown.metric)
		var values []float64
		for i := range totals {
			if v, ok := m.Of(&totals[i]); ok {
				values = append(values, v)
			}
		}
		if len(values) < len(totals) {
			continue
		}
		largest := slices.Max(values)
		show := func(v float64) string { return comparison.MetricText(m.Unit, v, largest) }
		c := card{Label: shown.label}
		if len(values) == 2 {
			c.Figure = changeOf(values[0], values[1])
			c.Note = show(values[0]) + " → " + show(values[1])
		} else {
			best, worst := slices.Max(values), slices.Min(values)
			if !m.Higher {
				best, worst = worst, best
			}
			c.Figure = show(best)
			c.Note = "the best, of " + sides[slices.Index(values, best)].name + "; the worst " + show(worst) + ", of " + sides[slices.Index(values, worst)].name
		}
		p.Cards = append(p.Cards, c)
	}
	if len(sides) == 2 && len(p.Cards) > 0 {
		var words []string
		for _, c := range p.Cards {
			words = append(words, human.LowerFirst(c.Label)+" "+c.Figure)
		}
		p.Lead = append(p.Lead, fmt.Sprintf("From %s to %s: %s.", sides[0].name, sides[1].name, strings.Join(words, ", ")))
	}
	if len(sides) == 2 {
		p.Lead = append(p.Lead, comparison.TwoRuns)
	} else {
		p.Lead = append(p.Lead, "Single runs prove nothing, because runs of the same benchmark differ as well. For a verdict, compare sets of runs with warp cmp or warp ab.")
	}
}

// changeOf returns a change in percent of the old value.
func changeOf(before, after float64) string {
	switch {
	case before == after:
		return "no change"
	case before == 0:
		return "new"
	}
	return fmt.Sprintf("%+.1f %%", 100*(after-before)/before)
}

// changes returns the table of all metrics of two runs.
func (p *Page) changes(c *compare.Changes) {
	t := &report.Table{Caption: "What changed", Head: []string{"metric", "before", "after", "change"}}
	for i := range c.Operations {
		op := &c.Operations[i]
		for _, m := range op.Metrics {
			before, after := comparison.Values(m.Unit, m.Change.Before, m.Change.After)
			t.Rows = append(t.Rows, []string{op.Name().String() + " " + m.Metric, before, after, changeOf(m.Change.Before, m.Change.After)})
		}
	}
	s := section{ID: "changes", Title: "Changes"}
	for _, only := range comparison.Only(c, "run") {
		s.Lead = append(s.Lead, human.UpperFirst(only)+".")
	}
	s.table(t)
	p.section(s)
}

// An operationOf is an operation in several runs; nil for runs without it.
type operationOf struct {
	label string
	of    []*results.Operation
	begin []time.Time
}

func sameOperations(sides []side) (all []operationOf) {
	index := map[string]int{}
	for i := range sides {
		for _, g := range sides[i].groups {
			begin, _ := g.length()
			for _, op := range g.ops {
				label := compare.NameOf(op).String()
				k, ok := index[label]
				if !ok {
					k = len(all)
					index[label] = k
					all = append(all, operationOf{label, make([]*results.Operation, len(sides)), make([]time.Time, len(sides))})
				}
				all[k].of[i], all[k].begin[i] = op, begin
			}
		}
	}
	return all
}

// compareOperations shows the runs of each operation in common charts.
func (p *Page) compareOperations(sides []side) {
	figures := section{ID: "operations", Title: "Figures"}
	throughput := section{ID: "throughput", Title: "Throughput over time"}
	latency := section{ID: "latency", Title: "Latency over time"}
	percentiles := section{ID: "percentiles", Title: "Distribution of latency"}
	var names []string
	for i := range sides {
		p.scale.add(sides[i].groups)
		names = append(names, sides[i].name)
	}
	for _, same := range sameOperations(sides) {
		figures.table(sameTable(same, sides))
		throughput.chart(p.sameThroughput(same, sides))
		latency.chart(p.sameLatency(same, sides))
		percentiles.chart(p.percentileChart(same.label+", latency that a share of the requests did not exceed", same.of, names))
	}
	for _, s := range []section{figures, throughput, latency, percentiles} {
		p.section(s)
	}
}

func sameTable(same operationOf, sides []side) *report.Table {
	var rows []figures.Row
	for i, op := range same.of {
		if op != nil {
			r := rowOf(op)
			r.Name = sides[i].name
			rows = append(rows, r)
		}
	}
	return tableOf(same.label, figures.Columns("run", rows, figures.Unit(rows), partFigures()...))
}

// overlay puts the segments of runs on one axis, which starts at the start of each run.
func overlay(same operationOf) (x []float64, of [][]int, segments [][]results.Segment, length float64) {
	var lists [][]float64
	for i, op := range same.of {
		if op == nil {
			lists, segments = append(lists, nil), append(segments, nil)
			continue
		}
		list := segmentsOf(op)
		at := middles(list, same.begin[i])
		for k := range list {
			length = max(length, at[k]+list[k].DurationS/2)
		}
		lists, segments = append(lists, at), append(segments, list)
	}
	x, of = svg.Union(lists)
	return x, of, segments, length
}

func (p *Page) sameThroughput(same operationOf, sides []side) *chart {
	x, of, segments, length := overlay(same)
	if len(x) == 0 {
		return nil
	}
	bytes := slices.ContainsFunc(same.of, func(op *results.Operation) bool { return op != nil && op.HasBytes() })
	var lines []svg.Line
	for i := range same.of {
		lines = append(lines, svg.Line{Label: sides[i].name, Color: i % 8, Y: interpolated(x, of[i], func(k int) float64 { return segments[i][k].Rate(bytes) })})
	}
	show := func(v float64) string { return rateText(v, bytes) }
	return p.rateChart("throughput", same.label, rangeOf(lines, show), 1, timeline{length: length, x: x}, lines, bytes)
}

func (p *Page) sameLatency(same operationOf, sides []side) *chart {
	x, of, segments, length := overlay(same)
	var lines []svg.Line
	for i := range same.of {
		for _, k := range []struct {
			name, class string
			of          func(*results.SegmentStats) float64
		}{{"p50", "", func(s *results.SegmentStats) float64 { return s.P50 }}, {"p99", "dash", func(s *results.SegmentStats) float64 { return s.P99 }}} {
			lines = append(lines, svg.Line{Label: sides[i].name + " " + k.name, Color: i % 8, Class: k.class, Y: interpolated(x, of[i], func(n int) float64 {
				if d := segments[i][n].Duration; d != nil {
					return k.of(d)
				}
				return math.NaN()
			})})
		}
	}
	return p.latencyChart(same.label+" latency", rangeOf(lines, human.Millis), timeline{length: length, x: x}, lines, nil, 220)
}

// differences shows the commands and the parameters that differ between the runs.
func (p *Page) differences(sides []side) {
	s := section{ID: "command", Title: "Commands and parameters"}
	var settings []map[string]string
	names := map[string]string{}
	for i := range sides {
		facts := compare.FactsOf(sides[i].report)
		set := facts.Circumstances
		maps.Copy(set, facts.Settings)
		set["(workload)"] = cmp.Or(facts.Workload.ID, "unknown")
		settings = append(settings, set)
		maps.Copy(names, set)
	}
	t := &report.Table{Caption: "Parameters that differ", Head: []string{"parameter"}, Text: true}
	for i := range sides {
		t.Head = append(t.Head, sides[i].name)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row := []string{name}
		differs := false
		for i := range settings {
			differs = differs || settings[i][name] != settings[0][name]
			row = append(row, compare.OrNone(settings[i][name]))
		}
		if differs {
			t.Rows = append(t.Rows, row)
		}
	}
	s.table(t)
	for i := range sides {
		s.command(sides[i].name, sides[i].report.Command)
	}
	p.section(s)
}
