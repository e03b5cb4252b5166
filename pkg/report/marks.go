package report

import (
	"fmt"
	"unicode/utf8"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/results"
)

// recovery says in words when the throughput recovered after a mark.
func recovery(m *results.MarkReport, r *results.Report) string {
	switch {
	case m.LongestGapS == nil:
		if i := r.MainGroup(); i >= 0 && !m.At.Before(r.Groups[i].WindowStart) && m.At.Before(r.Groups[i].WindowEnd) {
			return "no figures"
		}
		return "outside of the measured window"
	case m.Noise:
		return "a drop of throughput is not distinguishable from noise"
	case m.RecoveryS != nil && *m.RecoveryS == 0:
		return "no drop of throughput" + relapse(m)
	case m.RecoveryS != nil:
		return dropped(m) + "recovered after " + recovered(m) + relapse(m)
	case m.Before == nil:
		return "recovery unknown, as nothing was measured before the mark"
	}
	if r.EndsTooSoon(m) {
		return fmt.Sprintf("recovery unknown, as the window ends less than %s after the mark", results.RecoverySpan)
	}
	return dropped(m) + "not recovered within the window"
}

// dropped says when the drop began if that was not at the mark.
func dropped(m *results.MarkReport) string {
	if m.DropS == nil || *m.DropS < 1 {
		return ""
	}
	return "dropped after " + human.Seconds(*m.DropS) + ", "
}

// recovered returns the time of the recovery, or the times between which it is.
func recovered(m *results.MarkReport) string {
	to := human.Seconds(*m.RecoveryS)
	if m.RecoveryFromS == nil || human.Seconds(*m.RecoveryFromS) == to {
		return to
	}
	return human.Seconds(*m.RecoveryFromS) + " to " + to
}

// relapse names the next drop after the recovery.
func relapse(m *results.MarkReport) string {
	if m.RelapseS == nil {
		return ""
	}
	return ", dropped again after " + human.Seconds(*m.RelapseS)
}

// Effect says in words what followed a mark: the recovery, and the longest gap without a success.
func Effect(m *results.MarkReport, r *results.Report) string {
	if m.LongestGapS == nil {
		return recovery(m, r)
	}
	return recovery(m, r) + "; longest gap without a success " + human.Millis(*m.LongestGapS*1e3)
}

// A Phase is a time before or after a mark, with its name.
type Phase struct {
	Name string
	*results.MarkPhase
}

// PhasesOf returns the known phases of a mark.
func PhasesOf(m *results.MarkReport) (all []Phase) {
	for _, p := range []Phase{{"before", m.Before}, {"during", m.During}, {"after", m.After}} {
		if p.MarkPhase != nil {
			all = append(all, p)
		}
	}
	return all
}

// Latency returns the p99 of a phase, if there is one.
func (p Phase) Latency() string {
	if p.P99 == nil {
		return "-"
	}
	return human.Millis(*p.P99)
}

func (p Phase) failed() string { return human.Plural(p.Errors, "error") }

// movesBytes reports whether any phase has payload.
func movesBytes(marks []results.MarkReport) bool {
	for i := range marks {
		for _, p := range PhasesOf(&marks[i]) {
			if p.BytesPerS > 0 {
				return true
			}
		}
	}
	return false
}

// marks prints the figures before and after each mark.
func (p *textPrinter) marks(r *results.Report) {
	if len(r.Marks) == 0 {
		return
	}
	hasBytes := movesBytes(r.Marks)
	p.Line("\n%s", p.Bold("Marks:"))
	for i := range r.Marks {
		m := &r.Marks[i]
		p.Line(" * %s %s: %s.", p.Clock(m.At), human.OneLine(m.Text), p.alarm(m, Effect(m, r)))
		for _, f := range PhasesOf(m) {
			p.Line("     - %-6s %s: %s, p99 %s, %s", f.Name, human.Seconds(f.Seconds), human.Throughput(f.BytesPerS, f.ObjectsPerS, hasBytes), f.Latency(), f.failed())
		}
	}
}

// alarm colors what has not recovered red.
func (p *textPrinter) alarm(m *results.MarkReport, text string) string {
	if m.RecoveryS == nil && m.LongestGapS != nil {
		return p.Paint(text, color.FgRed)
	}
	return text
}

// marks prints a line for each mark and one for each phase.
func (p *compactPrinter) marks() {
	hasBytes := movesBytes(p.report.Marks)
	for i := range p.report.Marks {
		m := &p.report.Marks[i]
		p.Line("%s", p.cut(fmt.Sprintf("mark %s  %s", p.Clock(m.At), human.OneLine(m.Text))))
		line := "  " + Effect(m, p.report)
		if utf8.RuneCountInString(line) > p.MaxWidth() {
			line = "  " + recovery(m, p.report)
		}
		p.Line("%s", p.alarm(m, p.cut(line)))
		for _, f := range PhasesOf(m) {
			parts := []string{fmt.Sprintf("  %-6s %6s", f.Name, human.Seconds(f.Seconds)), fmt.Sprintf("%8s", f.failed())}
			if hasBytes {
				parts = append(parts, fmt.Sprintf("%12s", human.Rate(f.BytesPerS)))
			}
			p.fitted(append(parts, fmt.Sprintf("p99 %6s", f.Latency()), human.PerSecond(f.ObjectsPerS)+" obj/s")...)
		}
	}
}
