package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/internal/columns"
	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/report/figures"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// Compact renders the report for a terminal: one line about the run, one line for each operation,
// the throughput over time, and the warnings. Only warnings may be longer than the terminal is
// wide. The last line names the op log; "" = none.
func Compact(w io.Writer, r *results.Report, o printer.Options, log string) error {
	if o.Width <= 0 {
		o.Width = 80
	}
	p := &compactPrinter{*newPrinter(o), r}
	p.fidelity(r.Replay)
	p.consistency(r.Consistency)
	p.Paragraph("Event:", r.Events()...)
	for i := range r.Groups {
		if g := &r.Groups[i]; g.Kind == results.KindPreparation {
			p.preparation(i)
		} else {
			p.group(i)
		}
	}
	p.marks()
	if r.End == "completed" && r.EndReason != "" {
		p.Paragraph("", "The run ended because "+r.EndReason+".")
	}
	p.results()
	p.clientVerdict()
	if c := r.Conditions; c != nil {
		p.Paragraph("", "Conditions: "+c.Sentence)
	}
	p.client(log)
	for i, s := range r.Warnings {
		if !slices.Contains(r.Warnings[:i], s) {
			p.Paragraph("Warning:", s)
		}
	}
	return p.To(w)
}

type compactPrinter struct {
	textPrinter
	report *results.Report
}

// results lists the results of the assertions, except for failures, which are events.
func (p *compactPrinter) results() {
	for i := range p.report.Assertions {
		if a := &p.report.Assertions[i]; a.Result != results.Failed {
			p.Paragraph("Assertion:", a.Sentence)
		}
	}
}

// fitted prints as many of the parts as fit into a line. It leaves out those at the end first.
func (p *compactPrinter) fitted(parts ...string) {
	all := make([]columns.Part, len(parts))
	for i, s := range parts {
		all[i] = part(s, i)
	}
	p.fit(all...)
}

func (p *compactPrinter) cut(line string) string { return columns.Cut(line, p.MaxWidth()) }

// preparation prints one line for each operation of the preparation, because it is not what was
// measured.
func (p *compactPrinter) preparation(group int) {
	for _, op := range p.report.OperationsOf(group) {
		p.fitted("prepared: "+op.Op+" "+human.PluralGrouped(op.Requests, "request"), human.PluralGrouped(op.Errors, "error"), human.Throughput(op.BytesPerS, op.ObjectsPerS, op.HasBytes()), human.Seconds(op.RanS))
	}
}

func (p *compactPrinter) group(group int) {
	g, ops := &p.report.Groups[group], p.report.OperationsOf(group)
	if len(ops) == 0 {
		return
	}
	if group > 0 {
		p.Line("")
	}
	p.heading(g, ops)
	p.table(ops)
	for _, op := range ops {
		p.errors(op)
	}
	for _, op := range ops {
		p.onTheWire(op)
		if op.OneObjectBytesPerS > 0 {
			p.Line("%s:  one object at %s", op.Op, human.Rate(op.OneObjectBytesPerS))
		}
	}
	p.openLoop(g)
	p.worst(ops)
	drawn := ops[max(0, slices.IndexFunc(ops, (*results.Operation).HasBytes))]
	p.overTime(drawn)
	if s := drawn.Stability; s != nil && (s.State == "unsteady" || s.State == "drifting") {
		p.Paragraph("", drawn.Op+" was "+s.Sentence)
	}
	if len(ops) == 1 {
		p.histogram(ops[0])
	}
}

// heading prints what ran and where.
func (p *compactPrinter) heading(g *results.GroupReport, ops []*results.Operation) {
	first := ops[0]
	name := first.Op
	if len(ops) > 1 {
		name = cmp.Or(strings.ToUpper(p.report.Benchmark), "MIXED")
	}
	switch {
	case first.Stage:
		name = PartTitle(first.Part(), p.report.StatementText(first.Statement)) + ", " + name
	case first.Statement > 0:
		name = fmt.Sprintf("%s: %s", first.Part(), name)
	}
	where := human.Plural(len(first.Hosts), "host")
	if len(first.Hosts) == 1 {
		where = human.Host(first.Hosts[0].Name)
	}
	clients := ""
	if g.Clients > 1 {
		clients = human.Plural(g.Clients, "client")
	}
	p.fit(part(name, 0), part(SizeOf(ops), 3), part(human.Plural(g.Concurrency, "worker"), 4), part(clients, 6), part(where, 5),
		part(human.Seconds(first.WindowS), 2), part(human.PluralGrouped(g.Requests, "request"), 1), part(human.PluralGrouped(g.Errors, "error"), 0))
}

// fit prints as many of the parts as there is room for, in their order.
func (p *compactPrinter) fit(parts ...columns.Part) {
	p.Line("%s", columns.Line(parts, p.MaxWidth()))
}

// part returns a part of a line. Parts with the highest number are left out first, those with 0 never.
func part(text string, drop int) columns.Part { return columns.Part{Text: text, Drop: drop} }

// SizeOf returns the payload sizes of requests in words; "" without payload.
func SizeOf(ops []*results.Operation) string {
	size := results.SizeRange{}
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

// table prints a line for each operation, with as many columns as fit.
func (p *compactPrinter) table(ops []*results.Operation) {
	rows := make([]figures.Row, len(ops))
	for i, op := range ops {
		rows[i] = figures.Of(op)
	}
	p.Columns(figures.Columns("", rows, figures.Unit(rows), figures.Report()...), func(row int, title, cell string) string {
		if title == "errors" && ops[row].Errors > 0 {
			return p.Paint(cell, color.FgRed)
		}
		return cell
	})
}

// errors counts failures by code, the most frequent first.
func (p *compactPrinter) errors(op *results.Operation) {
	if len(op.ErrorsByCode) == 0 {
		return
	}
	codes := MostFrequent(op.ErrorsByCode)
	for i, code := range codes {
		codes[i] = code + " " + human.Grouped(op.ErrorsByCode[code])
	}
	p.Line("%s", p.cut(op.Op+" errors: "+strings.Join(codes, ", ")))
}

// MostFrequent returns codes of errors, the most frequent first.
func MostFrequent(codes map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(codes), func(a, b string) int {
		return cmp.Or(cmp.Compare(codes[b], codes[a]), cmp.Compare(a, b))
	})
}

// openLoop compares the requests that were due with those that were sent.
func (p *compactPrinter) openLoop(g *results.GroupReport) {
	s := g.Response
	if s == nil {
		return
	}
	rates := fmt.Sprintf("offered %s/s, achieved %s/s", human.PerSecond(g.OfferedPerS), human.PerSecond(g.AchievedPerS))
	if g.Errors > 0 {
		rates += fmt.Sprintf(", failed %s/s", human.PerSecond(g.FailedPerS()))
	}
	p.fitted(rates,
		"response p99 "+figures.Millis(s, s.P99), "max "+figures.Millis(s, s.Max), "p50 "+figures.Millis(s, s.P50), "p99.9 "+figures.Millis(s, s.P999))
	if g.Unsent > 0 {
		p.fitted(human.Plural(g.Unsent, "request") + " due but never sent")
	}
}

// overTime draws the throughput of the segments. If there are more segments than columns, a column
// shows the slowest of its segments, so that a stall does not disappear.
func (p *compactPrinter) overTime(op *results.Operation) {
	x := op.Throughput
	if x == nil || len(op.Segments) < 2 {
		return
	}
	unit := human.SegmentUnit(x.Fastest.BytesPerS)
	show := func(s *results.Segment) string { return unit.Digits(s.BytesPerS) }
	name := unit.Name()
	if x.By == "objects" {
		show = func(s *results.Segment) string { return human.PerSecond(s.ObjectsPerS) }
		name = "obj/s"
	}
	per := "second"
	if op.SegmentS != 1 {
		per = human.Seconds(op.SegmentS)
	}
	line := fmt.Sprintf("per %s  %s ", per, op.Op)
	switch { // do not show a segment twice
	case x.Segments > 2:
		line += fmt.Sprintf("min %s median %s max %s %s  ", show(&x.Slowest), show(&x.Median), show(&x.Fastest), name)
	case x.Segments == 2:
		line += fmt.Sprintf("min %s max %s %s  ", show(&x.Slowest), show(&x.Fastest), name)
	}
	values := make([]float64, len(op.Segments))
	for i := range op.Segments {
		values[i] = op.Segments[i].Rate(x.By != "objects")
	}
	if room := p.MaxWidth() - utf8.RuneCountInString(line); room >= min(8, len(values)) {
		p.Line("%s", line+human.Sparkline(values, min(room, 60)))
		return
	}
	p.Line("%s", p.cut(strings.TrimRight(line, " ")))
	p.Line("  %s", human.Sparkline(values, min(p.MaxWidth()-2, 60)))
}

// onTheWire prints the times that are partly the client's. The latest ones tell most.
func (p *compactPrinter) onTheWire(op *results.Operation) {
	parts := []string{op.Op + ":"}
	for _, f := range slices.Backward(op.WireFigures()) {
		parts = append(parts, fmt.Sprintf("%s %s (%s on the wire)", f.Name, human.Millis(f.MS), human.Millis(f.Wire)))
	}
	if len(parts) > 1 {
		p.fitted(parts...)
	}
}

// clientVerdict prints which figures are the store's.
func (p *compactPrinter) clientVerdict() {
	if hottest := p.report.Hottest(); hottest != "" {
		p.Paragraph("Popularity:", hottest)
	}
	if c := p.report.Cache; c != nil {
		p.Paragraph("Cache:", c.Sentence())
	}
	c := p.report.Client
	switch {
	case c == nil:
	case c.Verdict == results.StoresFigures || c.Verdict == results.UnknownOwner:
		p.Paragraph("", c.Sentence)
	default:
		p.Paragraph("Client:", c.Text())
	}
}

// client prints how busy the clients' machines were, and where the log is.
func (p *compactPrinter) client(log string) {
	parts := p.clientParts()
	if log == "" {
		if len(parts) > 0 {
			p.fit(parts...)
		}
		return
	}
	log = "log " + human.OneLine(log)
	n := utf8.RuneCountInString(log)
	if len(parts) == 0 {
		p.Line("%s", p.shortened(log))
		return
	}
	if room := p.MaxWidth() - n - len("  "); room >= utf8.RuneCountInString(parts[0].Text) {
		text := columns.Line(parts, room)
		p.Line("%s%s%s", text, strings.Repeat(" ", max(2, p.MaxWidth()-utf8.RuneCountInString(text)-n)), log)
		return
	}
	p.fit(parts...)
	p.Line("%s", p.shortened(log))
}

// shortened omits the middle of a line that is too long.
func (p *compactPrinter) shortened(line string) string {
	r := []rune(line)
	if len(r) <= p.MaxWidth() {
		return line
	}
	tail := (p.MaxWidth() - 1) * 2 / 3
	return string(r[:p.MaxWidth()-1-tail]) + "…" + string(r[len(r)-tail:])
}

func (p *compactPrinter) clientParts() []columns.Part {
	l := p.report.ClientLoad
	if l == nil {
		return nil
	}
	state := "client:"
	if c := p.report.Client; c != nil && c.Verdict == results.StoresFigures {
		state = "client ok:"
	}
	parts := []columns.Part{part(fmt.Sprintf("%s %.0f%% of %s", state, 100*exact.Ratio(l.CPUSeconds, l.WallSeconds*l.Cores), human.Plural(int(l.Cores+0.5), "core")), 0)}
	if l.LinkShare > 0 {
		parts = append(parts, part(fmt.Sprintf("link %.0f%%", 100*l.LinkShare), 1))
	}
	return append(parts, part(human.Bytes(float64(l.MaxRSSBytes))+" of memory", 2))
}
