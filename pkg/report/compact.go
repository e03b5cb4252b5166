package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/aggregate"
)

// CompactOptions say how a report at a glance is rendered.
type CompactOptions struct {
	Color    bool           // emphasis with terminal sequences
	Width    int            // columns; 0 = 80
	Location *time.Location // of times of day; nil = UTC
}

// Compact renders the report for a terminal: a line of what ran where, a line
// for each operation, the throughput over time, and the warnings. No line but
// a warning is longer than the terminal is wide.
func Compact(w io.Writer, r *aggregate.Report, o CompactOptions) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	p := &compactPrinter{printer{o: TextOptions{Color: o.Color, Location: o.Location}}, o.Width, r}
	for i := range r.Groups {
		if g := &r.Groups[i]; g.Kind == "preparation" {
			p.preparation(i)
		} else {
			p.group(i)
		}
	}
	p.client()
	for _, s := range r.Warnings {
		p.warning(s)
	}
	_, err := w.Write(p.Bytes())
	return err
}

type compactPrinter struct {
	printer
	width  int
	report *aggregate.Report
}

// warning breaks a sentence between words.
func (p *compactPrinter) warning(text string) {
	const title = "Warning:"
	line, n := p.paint(title, color.FgYellow), len(title)
	for word := range strings.FieldsSeq(text) {
		k := utf8.RuneCountInString(word)
		if n+1+k > p.width && n > 2 {
			p.line("%s", line)
			line, n = " ", 1
		}
		line, n = line+" "+word, n+1+k
	}
	p.line("%s", line)
}

// fitted prints what fits of the parts into a line; those at the front count most.
func (p *compactPrinter) fitted(parts ...string) {
	line := ""
	for _, s := range parts {
		if line != "" {
			s = "  " + s
		}
		if line != "" && utf8.RuneCountInString(line+s) > p.width {
			continue
		}
		line += s
	}
	p.line("%s", p.cut(line))
}

func (p *compactPrinter) cut(line string) string {
	if r := []rune(line); len(r) > p.width {
		return string(r[:p.width-1]) + "…"
	}
	return line
}

func (p *compactPrinter) operations(group int) (ops []*aggregate.Operation) {
	for i := range p.report.Operations {
		if op := &p.report.Operations[i]; op.Group == group {
			ops = append(ops, op)
		}
	}
	return ops
}

// preparation is one line for each operation: it is not what was measured.
func (p *compactPrinter) preparation(group int) {
	for _, op := range p.operations(group) {
		p.fitted("prepared: "+op.Op+" "+grouped(op.Requests)+" requests", errorCount(op.Errors), human.Throughput(op.BytesPerS, op.ObjectsPerS, op.HasBytes()), human.Seconds(op.RanS))
	}
}

func (p *compactPrinter) group(group int) {
	g, ops := &p.report.Groups[group], p.operations(group)
	if len(ops) == 0 {
		return
	}
	if group > 0 {
		p.line("")
	}
	p.heading(g, ops)
	p.table(ops)
	for _, op := range ops {
		p.errors(op)
	}
	p.openLoop(g)
	for _, op := range ops {
		if op.HasBytes() || len(ops) == 1 {
			p.overTime(op)
			break
		}
	}
}

// heading says what ran where.
func (p *compactPrinter) heading(g *aggregate.GroupReport, ops []*aggregate.Operation) {
	first := ops[0]
	name := first.Op
	if len(ops) > 1 {
		name = strings.ToUpper(p.report.Benchmark)
		if name == "" {
			name = "MIXED"
		}
	}
	if first.Statement > 0 {
		name = fmt.Sprintf("%s: %s", statementOf(first.Statement, first.Warmup), name)
	}
	parts := []string{name, grouped(g.Requests) + " " + human.Choose(g.Requests, "request", "requests"), errorCount(g.Errors)}
	if size := sizeOf(ops); size != "" {
		parts = append(parts, size)
	}
	parts = append(parts, human.Seconds(first.WindowS), human.Plural(g.Concurrency, "worker"))
	if g.Clients > 1 {
		parts = append(parts, human.Plural(g.Clients, "client"))
	}
	if hosts := first.Hosts; len(hosts) == 1 {
		parts = append(parts, strings.TrimPrefix(strings.TrimPrefix(hosts[0].Name, "http://"), "https://"))
	} else {
		parts = append(parts, human.Plural(len(hosts), "host"))
	}
	p.fitted(parts...)
}

func errorCount(n uint64) string { return grouped(n) + " " + human.Choose(n, "error", "errors") }

// sizeOf is the payload of a request, where the operations that have one agree.
func sizeOf(ops []*aggregate.Operation) string {
	size := aggregate.SizeRange{}
	for _, op := range ops {
		if !op.HasBytes() {
			continue
		}
		if size.Max == 0 {
			size = op.ObjectBytes
		}
		size.Min, size.Max = min(size.Min, op.ObjectBytes.Min), max(size.Max, op.ObjectBytes.Max)
	}
	switch {
	case size.Max == 0:
		return ""
	case size.Min == size.Max:
		return human.Bytes(float64(size.Max))
	}
	return human.Bytes(float64(size.Min)) + " to " + human.Bytes(float64(size.Max))
}

// A column of the table of operations.
type column struct {
	title string
	drop  int // columns with the highest number are left out first where the terminal is narrow; 0 = never
	cell  func(op *aggregate.Operation) string
}

func latency(of func(s *aggregate.Stats) float64) func(*aggregate.Operation) string {
	return func(op *aggregate.Operation) string {
		if op.Duration == nil {
			return "-"
		}
		return human.Millis(of(op.Duration))
	}
}

func operationColumns(ops []*aggregate.Operation) []column {
	fastest := 0.0
	for _, op := range ops {
		fastest = max(fastest, op.BytesPerS)
	}
	unit := human.SegmentUnit(fastest)
	all := []column{
		{"", 0, func(op *aggregate.Operation) string { return op.Op }},
		{"errors", 0, func(op *aggregate.Operation) string { return grouped(op.Errors) }},
		{"share", 4, func(op *aggregate.Operation) string { return fmt.Sprintf("%.0f%%", 100*op.Share) }},
		{unit.Name(), 0, func(op *aggregate.Operation) string {
			if !op.HasBytes() || op.WindowS == 0 {
				return "-"
			}
			return unit.Digits(op.BytesPerS)
		}},
		{"obj/s", 1, func(op *aggregate.Operation) string {
			if op.WindowS == 0 {
				return "-"
			}
			return rate(op.ObjectsPerS)
		}},
		{"mean", 8, latency(func(s *aggregate.Stats) float64 { return s.Mean })},
		{"p50", 2, latency(func(s *aggregate.Stats) float64 { return s.P50 })},
		{"p90", 5, latency(func(s *aggregate.Stats) float64 { return s.P90 })},
		{"p99", 0, latency(func(s *aggregate.Stats) float64 { return s.P99 })},
		{"p99.9", 3, latency(func(s *aggregate.Stats) float64 { return s.P999 })},
		{"max", 0, latency(func(s *aggregate.Stats) float64 { return s.Max })},
		{"ttfb p50", 6, ttfb(func(s *aggregate.Stats) float64 { return s.P50 })},
		{"ttfb p99", 7, ttfb(func(s *aggregate.Stats) float64 { return s.P99 })},
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return c.title == "share" && len(ops) == 1 || c.title == unit.Name() && fastest == 0
	})
}

func ttfb(of func(s *aggregate.Stats) float64) func(*aggregate.Operation) string {
	return func(op *aggregate.Operation) string {
		if op.TTFB == nil {
			return "-"
		}
		return human.Millis(of(op.TTFB))
	}
}

// table has a line for each operation, and as many columns as fit.
func (p *compactPrinter) table(ops []*aggregate.Operation) {
	all := operationColumns(ops)
	for {
		lines, width := layout(all, ops)
		last := slices.MaxFunc(all, func(a, b column) int { return a.drop - b.drop }).drop
		if width <= p.width || last == 0 {
			p.rows(lines, ops)
			return
		}
		all = slices.DeleteFunc(all, func(c column) bool { return c.drop == last })
	}
}

// layout aligns the cells, the first column to the left and the others to the right.
func layout(columns []column, ops []*aggregate.Operation) (lines []string, width int) {
	lines = make([]string, 1+len(ops))
	for i, c := range columns {
		cells := []string{c.title}
		for _, op := range ops {
			cells = append(cells, c.cell(op))
		}
		n := 0
		for _, s := range cells {
			n = max(n, utf8.RuneCountInString(s))
		}
		for k, s := range cells {
			pad := strings.Repeat(" ", n-utf8.RuneCountInString(s))
			if i == 0 {
				lines[k] += s + pad
			} else {
				lines[k] += "  " + pad + s
			}
		}
	}
	return lines, utf8.RuneCountInString(lines[0])
}

func (p *compactPrinter) rows(lines []string, ops []*aggregate.Operation) {
	for i, l := range lines {
		l = p.cut(l)
		if i > 0 && ops[i-1].Errors > 0 {
			l = p.paint(l, color.FgRed)
		}
		p.line("%s", l)
	}
}

// errors counts what failed by its code, the most frequent first.
func (p *compactPrinter) errors(op *aggregate.Operation) {
	if len(op.ErrorsByCode) == 0 {
		return
	}
	codes := slices.SortedFunc(maps.Keys(op.ErrorsByCode), func(a, b string) int {
		return cmp.Or(cmp.Compare(op.ErrorsByCode[b], op.ErrorsByCode[a]), cmp.Compare(a, b))
	})
	for i, code := range codes {
		codes[i] = code + " " + grouped(op.ErrorsByCode[code])
	}
	p.line("%s", p.cut(op.Op+" errors: "+strings.Join(codes, ", ")))
}

// openLoop compares what was due with what was done.
func (p *compactPrinter) openLoop(g *aggregate.GroupReport) {
	s := g.Response
	if s == nil {
		return
	}
	p.fitted(fmt.Sprintf("offered %s/s, achieved %s/s", rate(g.OfferedPerS), rate(g.AchievedPerS)),
		"response p99 "+lowerBound(s, s.P99), "max "+lowerBound(s, s.Max), "p50 "+lowerBound(s, s.P50), "p99.9 "+lowerBound(s, s.P999))
	if g.Unsent > 0 {
		p.fitted(human.Plural(g.Unsent, "request") + " due but never sent")
	}
}

// lowerBound marks a figure that requests that were never sent make a lower bound.
func lowerBound(s *aggregate.Stats, ms float64) string {
	if s.Unsent > 0 && ms >= s.UnsentMin {
		return "> " + human.Millis(ms)
	}
	return human.Millis(ms)
}

// sparks are the levels of a sparkline.
const sparks = "▁▂▃▄▅▆▇█"

// overTime draws the throughput of the segments. Where there are more than
// columns, one shows the slowest of its segments: a stall must not disappear.
func (p *compactPrinter) overTime(op *aggregate.Operation) {
	x := op.Throughput
	if x == nil || len(op.Segments) < 2 {
		return
	}
	value := func(s *aggregate.Segment) float64 { return s.BytesPerS }
	unit := human.SegmentUnit(x.Fastest.BytesPerS)
	show := func(s *aggregate.Segment) string { return unit.Digits(s.BytesPerS) }
	name := unit.Name()
	if x.By == "objects" {
		value = func(s *aggregate.Segment) float64 { return s.ObjectsPerS }
		show = func(s *aggregate.Segment) string { return rate(s.ObjectsPerS) }
		name = "obj/s"
	}
	per := "second"
	if op.SegmentS != 1 {
		per = human.Seconds(op.SegmentS)
	}
	line := fmt.Sprintf("per %s  %s min %s median %s max %s %s  ", per, op.Op, show(&x.Slowest), show(&x.Median), show(&x.Fastest), name)
	if room := p.width - utf8.RuneCountInString(line); room >= min(8, len(op.Segments)) {
		line += sparkline(op.Segments, value, min(room, 60))
	}
	p.line("%s", p.cut(strings.TrimRight(line, " ")))
}

func sparkline(segments []aggregate.Segment, value func(*aggregate.Segment) float64, width int) string {
	n := min(len(segments), width)
	lows, highest := make([]float64, n), 0.0
	for i := range lows {
		part := segments[i*len(segments)/n : (i+1)*len(segments)/n]
		lows[i] = value(&part[0])
		for k := range part {
			lows[i] = min(lows[i], value(&part[k]))
		}
		highest = max(highest, lows[i])
	}
	levels := []rune(sparks)
	var b strings.Builder
	for _, v := range lows {
		b.WriteRune(levels[min(int(exact.Ratio(v, highest)*float64(len(levels))), len(levels)-1)])
	}
	return b.String()
}

// client says how busy the machines were that made the load.
func (p *compactPrinter) client() {
	l := p.report.ClientLoad
	if l == nil {
		return
	}
	state := "client ok:"
	if len(p.report.ClientLimits()) > 0 {
		state = "client was the limit:"
	}
	parts := []string{fmt.Sprintf("%s %.0f%% of %s", state, 100*exact.Ratio(l.CPUSeconds, l.WallSeconds*l.Cores), human.Plural(int(l.Cores+0.5), "core"))}
	if l.LinkShare > 0 {
		parts = append(parts, fmt.Sprintf("link %.0f%%", 100*l.LinkShare))
	}
	p.fitted(append(parts, human.Bytes(float64(l.MaxRSSBytes))+" of memory")...)
}

// rate shows a number per second: whole above a hundred.
func rate(x float64) string {
	if x >= 100 {
		return grouped(uint64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// grouped separates thousands.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
