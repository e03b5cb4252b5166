package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/results"
)

// ReplayLines describe how well a replay repeated the requests of its log: first the summary, then what was not sent and why.
func ReplayLines(r *results.Replay) []string {
	speed := ""
	if r.Speed != 1 {
		speed = fmt.Sprintf(" at speed %g", r.Speed)
	}
	lines := []string{fmt.Sprintf("Replay of %s%s: %s of %s sent (%s), %s within %s of their time (%s).",
		r.Log, speed, human.Grouped(r.Sent), human.PluralGrouped(r.Requests, "request"), ofAll(r, r.Sent),
		human.Grouped(r.OnTime), human.Duration(time.Duration(r.OnTimeMS*float64(time.Millisecond))), ofAll(r, r.OnTime))}
	if d := r.Delay; d != nil {
		lines = append(lines, fmt.Sprintf("Delay: 99%% of the requests were sent up to %s after they were due, the latest %s.", human.Millis(d.P99), human.Millis(d.Max)))
	}
	for _, n := range r.NotSent {
		lines = append(lines, fmt.Sprintf("Not sent: %s, because %s.", human.PluralGrouped(n.Count, strings.TrimSpace(n.Op+" request")), n.Why))
	}
	if r.AssumedSizes > 0 {
		as := "with " + human.Bytes(float64(r.AssumedBytes)) + ", the median of the others"
		if r.AssumedBytes == 0 {
			as = "empty"
		}
		lines = append(lines, fmt.Sprintf("The log does not show the size of %s; %s uploaded %s.",
			human.Plural(r.AssumedSizes, "object"), human.Choose(r.AssumedSizes, "it was", "they were"), as))
	}
	return lines
}

func ofAll(r *results.Replay, n int64) string { return fmt.Sprintf("%.2f %%", 100*r.Share(n)) }

// replay begins the report of a replay.
func (p *textPrinter) replay(r *results.Replay) {
	if r == nil {
		return
	}
	for i, line := range ReplayLines(r) {
		if title, text, ok := strings.Cut(line, " "); i == 0 && ok {
			p.Line("%s %s", p.Bold(title), text)
		} else {
			p.Line(" * %s", strings.ReplaceAll(line, "Not sent:", p.Paint("Not sent:", color.FgYellow)))
		}
	}
	p.Line("")
}

// fidelity begins the report of a replay on a terminal.
func (p *compactPrinter) fidelity(r *results.Replay) {
	if r == nil {
		return
	}
	for _, line := range ReplayLines(r) {
		if text, ok := strings.CutPrefix(line, "Not sent: "); ok {
			p.Paragraph("Not sent:", text)
		} else {
			p.Paragraph("", line)
		}
	}
	p.Line("")
}
