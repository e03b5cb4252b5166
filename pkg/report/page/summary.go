package page

import (
	"fmt"
	"math"
	"strings"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/report/figures"
	"warp/pkg/results"
)

// verdict says in words and cards what ran, whether it was good and steady, and what the limit was.
func (p *Page) verdict(r *results.Report, groups []group) {
	if len(groups) == 0 {
		p.Lead = []string{"No request was measured."}
		return
	}
	requests, failed := uint64(0), uint64(0)
	for i := range groups {
		for _, op := range groups[i].ops {
			requests, failed = requests+op.Inside+op.Errors, failed+op.Errors
		}
	}
	if len(groups) == 1 {
		g := &groups[0]
		p.Cards = append(p.Cards, throughputCard(g), latencyCard(g))
	}
	limit := p.limitCard(r, groups)
	p.Cards = append(p.Cards, errorCard(groups, requests, failed), stabilityCard(groups))
	var words []string
	for _, c := range p.Cards {
		if c.sentence != "" {
			words = append(words, c.sentence)
		}
	}
	p.Cards = append(p.Cards, limit)
	ran := ranSentence(groups, requests)
	if events := append(violated(r.Consistency), r.Events()...); len(events) > 0 { // what happened, and whether the store did it, before any figure
		p.Lead = append(p.Lead, strings.Join(events, " "))
		if limit.sentence != "" {
			p.Lead = append(p.Lead, limit.sentence)
		}
		p.Lead = append(p.Lead, ran+" "+strings.Join(words, " "))
		return
	}
	if limit.sentence != "" {
		ran += " " + limit.sentence
	}
	p.Lead = append(p.Lead, ran, strings.Join(words, " "))
}

func ranSentence(groups []group, requests uint64) string {
	g := &groups[0]
	var b strings.Builder
	fmt.Fprintf(&b, "warp sent %s", human.PluralGrouped(requests, "request"))
	if len(groups) == 1 && len(g.ops) > 1 {
		var shares []string
		for _, op := range g.ops {
			shares = append(shares, human.WholePercent(op.Share)+" % "+op.Op)
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(shares, ", "))
	}
	if where := g.against(); where != "" {
		fmt.Fprintf(&b, " to %s", where)
	}
	fmt.Fprintf(&b, " with %s", human.Plural(g.Concurrency, "worker"))
	if g.Clients > 1 {
		fmt.Fprintf(&b, " of %s", human.Plural(g.Clients, "client"))
	}
	if len(groups) == 1 && g.WindowS > 0 {
		fmt.Fprintf(&b, " in %s", human.Seconds(g.WindowS))
	}
	b.WriteByte('.')
	return b.String()
}

func throughputCard(g *group) card {
	c := card{Label: "Throughput"}
	if g.WindowS <= 0 {
		c.Figure, c.Note = "unknown", "there is no time to measure in"
		return c
	}
	objects := objectsText(g.ObjectsPerS)
	if !g.hasBytes() {
		c.Figure = objects
		return c
	}
	c.Figure, c.Note = human.Rate(g.BytesPerS), objects
	return c
}

// latencyCard is about all operations together, or the only one.
func latencyCard(g *group) card {
	s, kind := g.Duration, "Latency"
	if s == nil && len(g.ops) == 1 {
		s = g.ops[0].Duration
	}
	if g.Response != nil {
		s, kind = g.Response, "Response time"
	}
	c := card{Label: kind}
	if s == nil {
		c.Figure, c.Note = "unknown", "no request succeeded"
		if a := g.ops[0].AveragedDuration; a != nil {
			c.Figure, c.Note = human.Millis(a.Mean)+" on average", "percentiles of all requests are not known"
		}
		return c
	}
	c.Figure = human.Millis(s.P50)
	c.Note = fmt.Sprintf("median; p99 %s, max %s", figures.Millis(s, s.P99), figures.Millis(s, s.Max))
	c.sentence = fmt.Sprintf("Half of the requests took at most %s, 99 of 100 at most %s.", human.Millis(s.P50), human.Millis(s.P99))
	switch {
	case figures.IsBound(s, s.P50):
		c.sentence = fmt.Sprintf("Half of the requests took more than %s.", human.Millis(s.P50))
	case figures.IsBound(s, s.P99):
		c.sentence = fmt.Sprintf("Half of the requests took at most %s, 1 of 100 more than %s.", human.Millis(s.P50), human.Millis(s.P99))
	}
	return c
}

// fewErrors is the max share of failed requests for comparing runs.
const fewErrors = compare.MaxErrors

func errorCard(groups []group, requests, failed uint64) card {
	if failed == 0 {
		return card{Label: "Errors", Figure: "none", Note: "every request succeeded", State: "good", sentence: "No request failed."}
	}
	codes := map[string]uint64{}
	for i := range groups {
		for _, op := range groups[i].ops {
			for code, n := range op.ErrorsByCode {
				codes[code] += n
			}
		}
	}
	share := percentOf(failed, requests)
	c := card{Label: "Errors", Figure: human.Grouped(failed), State: "bad", Note: share + " of the requests"}
	if float64(failed) < fewErrors*float64(requests) {
		c.State = "warn"
	}
	if sorted := report.MostFrequent(codes); len(sorted) > 0 {
		c.Note += ", most of them " + sorted[0]
		if len(sorted) == 1 {
			c.Note = share + " of the requests, all of them " + sorted[0]
		}
	}
	c.sentence = fmt.Sprintf("%s failed (%s).", human.UpperFirst(human.PluralGrouped(failed, "request")), share)
	return c
}

// percentOf never rounds to 0 unless the value is 0.
func percentOf(part, all uint64) string {
	share := 100 * exact.Ratio(float64(part), float64(all))
	switch {
	case share > 0 && share < .01:
		return "less than 0.01 %"
	case share < 10:
		return fmt.Sprintf("%.2f %%", share)
	}
	return fmt.Sprintf("%.0f %%", share)
}

// stabilityCard is about the operation whose throughput varied the most.
func stabilityCard(groups []group) card {
	rank := map[string]int{"steady": 1, "drifting": 2, "unsteady": 3}
	var worst *results.Operation
	for i := range groups {
		for _, op := range groups[i].ops {
			if op.Stability != nil && (worst == nil || rank[op.Stability.State] > rank[worst.Stability.State]) {
				worst = op
			}
		}
	}
	c := card{Label: "Over time", Figure: "unknown", Note: "there are no segments to compare"}
	if worst == nil {
		return c
	}
	s := worst.Stability
	_, detail, _ := strings.Cut(s.Sentence, ": ")
	c.Figure, c.Note = s.State, detail
	switch s.State {
	case "steady":
		c.State, c.sentence = "good", "Throughput was steady."
	case "drifting":
		c.State, c.Note = "warn", s.Sentence
	case "unsteady":
		c.State = "warn"
	default:
		c.Figure = "too short to tell"
	}
	if c.State == "warn" {
		c.sentence = "Throughput was " + s.Sentence + "."
		if len(groups) > 1 || len(groups[0].ops) > 1 {
			c.Note = worst.Op + " " + c.Note
			c.sentence = "Throughput of " + worst.Op + " was " + s.Sentence + "."
		}
	}
	return c
}

// cores names a number of cores, of which a quota may leave a part.
func cores(n float64) string {
	if n == math.Trunc(n) {
		return human.Plural(int(n), "core")
	}
	return fmt.Sprintf("%.2g cores", n)
}

func scheduleNote(g *results.GroupReport) string {
	note := fmt.Sprintf("%s of %s requests/s achieved", human.PerSecond(g.AchievedPerS), human.PerSecond(g.OfferedPerS))
	if g.Errors > 0 {
		note += fmt.Sprintf(", %s/s failed", human.PerSecond(g.FailedPerS()))
	}
	return note
}

// limitCard says what kept the run from being faster, as far as warp can know.
func (p *Page) limitCard(r *results.Report, groups []group) card {
	c := card{Label: "Limit"}
	busy := ""
	if l := r.ClientLoad; l != nil {
		busy = fmt.Sprintf("client used %.0f %% of %s", 100*exact.Ratio(l.CPUSeconds, l.WallSeconds*l.Cores), cores(l.Cores))
		if l.LinkShare > 0 {
			busy += fmt.Sprintf(", %.0f %% of %s", 100*l.LinkShare, l.Link)
		}
	}
	g := &groups[0]
	switch v := r.Client; {
	case v != nil && v.Verdict == results.ClientLimited:
		c.Figure, c.State, c.Note, c.sentence = "this machine", "bad", busy, v.Text()
	case v != nil && v.Verdict == results.SomeFigures:
		c.Figure, c.State, c.Note, c.sentence = "partly this machine", "warn", busy, v.Text()
	case len(r.ClientLimits()) > 0:
		c.Figure, c.State, c.Note = "unknown", "warn", busy
		c.sentence = "This machine may have been the limit."
	case len(groups) == 1 && g.OfferedPerS > 0 && g.AchievedPerS+g.FailedPerS() >= .99*g.OfferedPerS:
		c.Figure, c.State, c.Note = "the schedule", "good", scheduleNote(g.GroupReport)
		c.sentence = fmt.Sprintf("The store kept up with the schedule of %s requests/s.", human.PerSecond(g.OfferedPerS))
		if g.Errors > 0 {
			c.sentence = fmt.Sprintf("Requests went out on the schedule of %s requests/s, and %s of them/s failed.", human.PerSecond(g.OfferedPerS), human.PerSecond(g.FailedPerS()))
		}
	case len(groups) == 1 && g.OfferedPerS > 0:
		c.Figure, c.State, c.Note = "below the schedule", "bad", scheduleNote(g.GroupReport)
		c.sentence = fmt.Sprintf("Only %s of the %s requests/s of the schedule were achieved.", human.PerSecond(g.AchievedPerS), human.PerSecond(g.OfferedPerS))
	case r.ClientLoad == nil:
		c.Figure, c.Note = "unknown", "the log does not say how busy the client was"
	case r.Client == nil || r.Client.Verdict == results.UnknownOwner:
		c.Figure, c.Note = "unknown", busy
		c.sentence = "Whether this machine slowed the requests is not known."
		if r.Client != nil {
			c.sentence = r.Client.Sentence
		}
	default:
		c.Figure, c.State, c.Note = "not the client", "good", busy
		c.sentence = r.Client.Sentence
	}
	return c
}
