package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/report/figures"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

const separator = "----------------------------------------"

// A textPrinter prints the text of one run.
type textPrinter struct{ printer.Printer }

func newPrinter(o printer.Options) *textPrinter { return &textPrinter{printer.Printer{Options: o}} }

// Text renders the report for people.
func Text(w io.Writer, r *results.Report, o printer.Options) error {
	p := newPrinter(o)
	p.replay(r.Replay)
	p.consistency(r.Consistency)
	for i := range r.Groups {
		p.group(r, i)
	}
	if r.End == "completed" && r.EndReason != "" {
		p.Line("\nThe run ended because %s.", r.EndReason)
	}
	if hottest := r.Hottest(); hottest != "" {
		p.Line("\nPopularity: %s.", hottest)
	}
	if r.Cache != nil {
		p.Line("\nCache: %s.", r.Cache.Sentence())
	}
	p.marks(r)
	p.load(r)
	PrintAssertions(&p.Printer, r.Assertions)
	if len(r.Warnings) > 0 {
		p.Line("")
	}
	p.Warnings("Warning:", r.Warnings)
	return p.To(w)
}

func (p *textPrinter) group(r *results.Report, group int) {
	g := &r.Groups[group]
	if group > 0 {
		p.Line("")
	}
	p.Line("%s", separator)
	mixed := len(g.Operations) > 1
	if mixed {
		p.Line("%s", p.Bold("Mixed operations."))
	}
	for _, op := range r.OperationsOf(group) {
		if mixed {
			p.Line("")
		}
		p.operation(op, mixed, r)
	}
	if mixed {
		p.total(r, group)
	}
	p.sections(r, group)
}

// total prints the figures of all operations together.
func (p *textPrinter) total(r *results.Report, group int) {
	g := &r.Groups[group]
	p.Line("")
	hasBytes := slices.ContainsFunc(r.OperationsOf(group), (*results.Operation).HasBytes)
	if g.WindowS > 0 {
		p.Line("Total: %s %s", human.Throughput(g.BytesPerS, g.ObjectsPerS, hasBytes), p.window(g.WindowS, g.WindowStart))
	} else {
		p.Line("Total:")
	}
	p.Line(" * %s, %s", human.Plural(g.Requests, "request"), human.Plural(g.Errors, "error"))
	p.schedule(" * ", g)
	if g.Response != nil {
		p.Line(" * Response time (from due): %s", latencies(g.Response))
	}
}

// window says which time averages are about.
func (p *textPrinter) window(seconds float64, start time.Time) string {
	return fmt.Sprintf("(%.3fs, starting %s)", seconds, p.Clock(start))
}

// average shows the throughput over the window. If it is unknown, 0 would be wrong.
func (p *textPrinter) average(op *results.Operation) string {
	if op.WindowS == 0 {
		return "unknown, because there is no time to measure in"
	}
	return p.Bold(human.Throughput(op.BytesPerS, op.ObjectsPerS, op.HasBytes())) + " " + p.window(op.WindowS, op.WindowStart)
}

func (p *textPrinter) operation(op *results.Operation, mixed bool, r *results.Report) {
	PrintStatement(&p.Printer, op.Part(), r.StatementText(op.Statement))
	p.Line("%s", p.heading(op, r.Groups[op.Group].Run))
	if mixed {
		p.Line(" * %s (%.1f%% of operations)", p.average(op), op.Share*100)
	}
	if op.OneObjectBytesPerS > 0 {
		p.Line(" * One object: %s", human.Rate(op.OneObjectBytesPerS))
	}
	p.requests(op)
	p.sizeClasses(op)
	p.requestsByHost(op)
	if !mixed {
		p.Line("\nThroughput:")
		p.Line("* Average: %s", p.average(op))
		p.schedule("* ", &r.Groups[op.Group])
	}
	p.byPart("host", op.Hosts, op)
	if p.Verbose {
		p.byPart("client", op.ByClient, op)
	}
	p.segments(op)
	p.outside(op)
	p.phases(op)
	p.errors(op)
	if op.Retries > 0 {
		p.Line("\nRetries: %s repeated one that had failed; each row's time includes them.", human.Plural(op.Retries, "request"))
	}
}

func (p *textPrinter) heading(op *results.Operation, run string) string {
	s := fmt.Sprintf("Operation: %s (%d). Ran %s.", p.Bold(human.OneLine(op.Op)), op.Requests, human.Seconds(op.RanS))
	if op.HasBytes() && op.ObjectBytes.Min == op.ObjectBytes.Max {
		s += fmt.Sprintf(" Size: %d bytes.", op.ObjectBytes.Max)
	}
	if n := op.ObjectsPerOp; n.Max > 1 {
		s += fmt.Sprintf(" Objects per operation: %s.", strings.TrimSuffix(fmt.Sprintf("%.1f", n.Mean), ".0"))
	}
	s += fmt.Sprintf(" Concurrency: %d.", op.Concurrency)
	if n := len(op.Hosts); n > 1 {
		s += fmt.Sprintf(" Hosts: %d.", n)
	}
	if run != "" {
		s += " Run: " + human.OneLine(run)
		if len(op.ByClient) == 1 && op.ByClient[0].Name != run {
			s += ", client " + human.OneLine(op.ByClient[0].Name)
		}
		s += "."
	}
	if op.Clients > 1 {
		s += fmt.Sprintf(" Warp Instances: %d.", op.Clients)
	}
	return s
}

// schedule compares the requests that were due in an open loop with those that were sent.
func (p *textPrinter) schedule(bullet string, r *results.GroupReport) {
	if r.OfferedPerS == 0 {
		return
	}
	line := fmt.Sprintf("Offered: %.2f requests/s, achieved: %.2f requests/s", r.OfferedPerS, r.AchievedPerS)
	if r.Errors > 0 {
		line += fmt.Sprintf(", failed: %.2f requests/s", r.FailedPerS())
	}
	if r.Unsent > 0 {
		line += fmt.Sprintf(", %s due and never sent", human.Count(r.Unsent, "request was", "requests were"))
	}
	p.Line("%s%s", bullet, line)
}

// outside counts requests outside the window.
func (p *textPrinter) outside(op *results.Operation) {
	if op.WindowBasis == results.Whole {
		return
	}
	if w := op.WarmUp; w.Requests > 0 {
		line := fmt.Sprintf("Before the window: %s, %s", human.Plural(w.Requests, "request"), human.Plural(w.Errors, "error"))
		if f := op.InFlight; f.Requests > 0 {
			line += fmt.Sprintf("; %d in flight when it began, the longest took %s", f.Requests, human.Millis(f.LongestMS))
		}
		if w.LongestMS > op.InFlight.LongestMS {
			line += fmt.Sprintf("; the longest of all took %s", human.Millis(w.LongestMS))
		}
		p.Line("\n%s.", line)
	}
	if l := op.Late; l.Requests > 0 {
		p.Line("\nAfter the window: %s, %s.", human.Plural(l.Requests, "request"), human.Plural(l.Errors, "error"))
	}
}

func (p *textPrinter) requests(op *results.Operation) {
	sizes := ""
	if op.ObjectBytes.Min != op.ObjectBytes.Max {
		sizes = fmt.Sprintf(". Multiple sizes, average %.0f bytes", op.ObjectBytes.Mean)
	}
	p.Line("\nRequests considered: %d%s:", op.Inside, sizes)
	if op.WindowBasis == results.Aggregated {
		p.averaged(op)
		return
	}
	if op.Duration == nil {
		if op.WindowBasis == results.Whole {
			p.Line(" * None succeeded.")
		} else {
			p.Line(" * None that started in the window succeeded.")
		}
		p.unanswered(op)
		return
	}
	if op.Response == nil {
		p.Line(" * %s", latencies(op.Duration))
		p.onTheWire(op)
	} else {
		p.Line(" * Service time (from sent): %s", latencies(op.Duration))
		p.onTheWire(op)
		p.Line(" * Response time (from due): %s", latencies(op.Response))
		p.Line(" * Lag (sent after due): %s", latencies(op.Lag))
	}
	p.unanswered(op)
	p.firstByte(" * TTFB: ", op.TTFB)
	if bounds := op.FirstByteBounds(); len(bounds) > 0 {
		parts := make([]string, len(bounds))
		for i, f := range bounds {
			parts[i] = fmt.Sprintf("%s%%: %s", strings.TrimPrefix(f.Name, "p"), human.Millis(f.Wire))
		}
		p.Line(" * TTFB on the wire, at most: %s", strings.Join(parts, ", "))
	}
	if a := op.Accesses; a != nil && p.Verbose {
		if a.Sampled {
			p.Line(" * First and last access: from a sample of %d objects, because there are more", a.Objects)
		}
		p.Line(" * First Access: %s", latencies(a.First))
		p.firstByte(" * First Access TTFB: ", a.FirstTTFB)
		p.Line(" * Last Access: %s", latencies(a.Last))
		p.firstByte(" * Last Access TTFB: ", a.LastTTFB)
	}
}

// averaged marks percentiles that are averages of percentiles.
func (p *textPrinter) averaged(op *results.Operation) {
	if op.AveragedDuration == nil {
		p.Line(" * Durations are unknown.")
	} else {
		p.Line(" * %s", averages(op.AveragedDuration))
	}
	if op.AveragedTTFB != nil {
		p.Line(" * TTFB: %s", averages(op.AveragedTTFB))
	}
}

func averages(s *results.AveragedStats) string {
	known := func(mark string, ms *float64) string {
		if ms == nil {
			return "unknown"
		}
		return mark + human.Millis(*ms)
	}
	return fmt.Sprintf("Avg: %s, 50%%: %s, 90%%: %s, 99%%: %s, Fastest: %s, Slowest: %s (≈: averages of percentiles)",
		human.Millis(s.Mean), known("≈", s.P50), known("≈", s.P90), known("≈", s.P99), known("", s.Min), known("", s.Max))
}

// unanswered reports the requests that percentiles cannot show.
func (p *textPrinter) unanswered(op *results.Operation) {
	if u := op.Unanswered; u != nil {
		p.Line(" * %d not in the percentiles, each ≥ %s: no answer by the end of the run", u.Requests, human.Millis(u.ShortestMS))
	}
}

func latencies(s *results.Stats) string {
	mean := human.Millis(s.Mean)
	if s.Unsent > 0 {
		mean = "> " + mean
	}
	return fmt.Sprintf("Avg: %s, 50%%: %s, 90%%: %s, 99%%: %s, 99.9%%: %s, Fastest: %s, Slowest: %s, StdDev: %s",
		mean, figures.Millis(s, s.P50), figures.Millis(s, s.P90), figures.Millis(s, s.P99), figures.Millis(s, s.P999),
		human.Millis(s.Min), figures.Millis(s, s.Max), human.Millis(s.StdDev))
}

// onTheWire prints the times without the client's part, if that makes a difference.
func (p *textPrinter) onTheWire(op *results.Operation) {
	if len(op.WireFigures()) > 0 {
		p.Line(" * On the wire: %s", latencies(op.Wire))
	}
}

func (p *textPrinter) firstByte(label string, s *results.Stats) {
	if s == nil {
		return
	}
	p.Line("%sAvg: %s, Best: %s, 25th: %s, Median: %s, 75th: %s, 90th: %s, 99th: %s, 99.9th: %s, Worst: %s, StdDev: %s",
		label, human.Millis(s.Mean), human.Millis(s.Min), human.Millis(s.P25), human.Millis(s.P50), human.Millis(s.P75),
		human.Millis(s.P90), human.Millis(s.P99), human.Millis(s.P999), human.Millis(s.Max), human.Millis(s.StdDev))
}

func (p *textPrinter) sizeClasses(op *results.Operation) {
	if !p.Verbose {
		return
	}
	for _, c := range op.SizeClasses {
		to := " -> " + c.To
		if c.To == "" {
			to = " and more"
		}
		p.Line("\nRequest size %s%s. Requests - %d:", c.From, to, c.Requests)
		if s := c.Speed; s != nil && c.Bytes > 0 {
			u := human.SegmentUnit(s.Fastest)
			p.Line(" * Throughput: Average: %s, 50%%: %s, 90%%: %s, 99%%: %s, Fastest: %s, Slowest: %s",
				u.Speed(s.Mean), u.Speed(s.P50), u.Speed(s.P90), u.Speed(s.P99), u.Speed(s.Fastest), u.Speed(s.Slowest))
		}
		p.Line(" * %s", latencies(c.Duration))
		if f := c.TTFB; f != nil {
			p.Line(" * First Byte: Average: %s, Median: %s, Best: %s, Worst: %s",
				human.Millis(f.Mean), human.Millis(f.P50), human.Millis(f.Min), human.Millis(f.Max))
		}
	}
}

func (p *textPrinter) requestsByHost(op *results.Operation) {
	if !p.Verbose || len(op.Hosts) < 2 {
		return
	}
	p.Line("\nRequests by host:")
	for i := range op.Hosts {
		h := &op.Hosts[i]
		p.Line(" * %s - %s:", partName(h), human.Plural(h.Inside, "request"))
		if s := h.Duration; s != nil {
			p.Line("        - %s", latencies(s))
		}
		p.firstByte("        - First Byte: ", h.TTFB)
	}
}

func partName(h *results.Part) string { return cmp.Or(h.Name, "(unknown)") }

// byPart shows throughput by host or by client if there are several.
func (p *textPrinter) byPart(kind string, parts []results.Part, op *results.Operation) {
	if len(parts) < 2 {
		return
	}
	largest := 0.0
	for i := range parts {
		largest = max(largest, parts[i].BytesPerS)
	}
	unit := human.AverageUnit(largest)
	p.Line("\nThroughput by %s:", kind)
	for i := range parts {
		h := &parts[i]
		errs := ""
		if h.Errors > 0 {
			errs = p.Paint(fmt.Sprintf(", %s of %s", human.Plural(h.Errors, "error"), human.Plural(h.Requests, "request")), color.FgRed)
		}
		p.Line(" * %s: Avg: %s%s", partName(h), unit.Average(h.BytesPerS, h.ObjectsPerS, op.HasBytes()), errs)
		if t := h.Throughput; p.Verbose && t != nil {
			for _, s := range segmentsOf(t) {
				p.Line("        - %s: %s (%s)", s.name, unit.Average(s.BytesPerS, s.ObjectsPerS, op.HasBytes()), lengthOf(s.Segment, op.SegmentS))
			}
		}
	}
}

type namedSegment struct {
	name string
	*results.Segment
}

func segmentsOf(t *results.Extremes) []namedSegment {
	return []namedSegment{{"Fastest", &t.Fastest}, {"50% Median", &t.Median}, {"Slowest", &t.Slowest}}
}

// segmentLength returns the length of the segments that Extremes chose from.
func segmentLength(op *results.Operation) string {
	if op.Throughput.Segments == 1 {
		return lengthOf(&op.Throughput.Fastest, op.SegmentS)
	}
	return human.Duration(time.Duration(op.SegmentS * 1e9))
}

// lengthOf returns the length of a segment. The first and the last one may be
// shorter or longer than the others.
func lengthOf(s *results.Segment, usual float64) string {
	if math.Abs(s.DurationS-usual) < 1e-9 {
		return human.Duration(time.Duration(usual * 1e9))
	}
	return human.Millis(s.DurationS * 1e3)
}

func (p *textPrinter) segments(op *results.Operation) {
	t := op.Throughput
	if t == nil || op.WindowS == 0 {
		return
	}
	length, unit := segmentLength(op), human.AverageUnit(op.BytesPerS) // the unit of the average above
	if t.Fastest.BytesPerS >= 10<<30 {
		unit = human.SegmentUnit(t.Fastest.BytesPerS)
	}
	p.Line("\nThroughput, split into %d x %s:", t.Segments, length)
	for _, s := range segmentsOf(t) {
		p.Line(" * %s: %s (%s, starting %s)", s.name, unit.Segment(s.BytesPerS, s.ObjectsPerS, t.Fastest.BytesPerS, op.HasBytes()), lengthOf(s.Segment, op.SegmentS), p.Clock(s.Start))
	}
	if s := op.Stability; s != nil && s.State != "unknown" {
		p.Line(" * Stability: %s", s.Sentence)
	}
}

func (p *textPrinter) errors(op *results.Operation) {
	if op.Errors > 0 {
		p.Line("\n%s %d of %s (%.2f%%):", p.Paint("Errors:", color.FgRed), op.Errors, human.Plural(op.Inside+op.Errors, "request"),
			100*exact.Ratio(float64(op.Errors), float64(op.Inside+op.Errors)))
		p.errorCodes(op.FirstErrors, op.ErrorsByCode)
	}
	if op.WindowBasis == results.Whole {
		return // they are among the errors
	}
	for _, o := range []struct {
		when string
		*results.Outside
	}{{"before", &op.WarmUp}, {"after", &op.Late}} {
		if o.Errors > 0 {
			p.Line("\n%s %d of %s:", p.Paint("Errors "+o.when+" the window:", color.FgRed), o.Errors, human.Plural(o.Requests, "request"))
			p.errorCodes(o.FirstErrors, o.ErrorsByCode)
		}
	}
}

func (p *textPrinter) errorCodes(first []results.FirstError, counts map[string]uint64) {
	for _, e := range first {
		from := ""
		if e.Endpoint != "" {
			from = " from " + e.Endpoint
		}
		if e.Time.IsZero() {
			p.Line(" * %s: %d, the first of them: %s", e.Code, counts[e.Code], human.OneLine(e.Error))
			continue
		}
		p.Line(" * %s: %d, first at %s%s: %s", e.Code, counts[e.Code], p.Clock(e.Time), from, human.OneLine(strings.TrimPrefix(e.Error, e.Code+": ")))
	}
}

// load shows the cost of the run on the clients' machines.
func (p *textPrinter) load(r *results.Report) {
	l := r.ClientLoad
	if l == nil {
		return
	}
	p.Line("\nClient: %.1f s of CPU in %.1f s (%.0f%% of %g cores), %s of memory at most.",
		l.CPUSeconds, l.WallSeconds, 100*exact.Ratio(l.CPUSeconds, l.WallSeconds*l.Cores), l.Cores, human.Bytes(float64(l.MaxRSSBytes)))
	if c := r.Client; c != nil {
		p.Line("%s", human.OneLine(c.Text()))
	}
	if c := r.Conditions; c != nil {
		p.Line("Conditions: %s.", c.Sentence)
	}
}
