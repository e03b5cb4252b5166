package page

import (
	"fmt"
	"strings"

	"warp/internal/human"
	"warp/pkg/report"
	"warp/pkg/results"
)

// consistency shows which properties the store kept, and the requests that prove violations.
func (p *Page) consistency(c *results.Consistency) {
	if c == nil {
		return
	}
	p.Cards = append([]card{consistencyCard(c)}, p.Cards...)
	s := section{ID: "consistency", Title: "Consistency"}
	notes := report.ConsistencyNotes(c)
	for i := range c.Properties {
		q := &c.Properties[i]
		if q.Reason != "" {
			notes = append(notes, fmt.Sprintf("%s, %s: %s", q.Property, q.Verdict, q.Reason))
		}
		for k := range q.Shown {
			v := &q.Shown[k]
			s.Blocks = append(s.Blocks, block{
				Title: fmt.Sprintf("%s, %s: %s", human.UpperFirst(q.Verdict), q.Property, v.Rule),
				Code:  strings.Join(report.ViolationLines(v), "\n"),
			})
		}
	}
	s.Blocks = append(s.Blocks, block{Table: tableOf("Properties", report.ConsistencyColumns(c)), Notes: notes})
	p.section(s)
}

// consistencyCard counts the properties by verdict.
func consistencyCard(c *results.Consistency) card {
	count := map[string]int{}
	for i := range c.Properties {
		count[c.Properties[i].Verdict]++
	}
	var others []string
	for _, verdict := range []string{results.ConsistencyUndecided, results.ConsistencyNotSupported, results.ConsistencyNotPromised} {
		if n := count[verdict]; n > 0 {
			others = append(others, fmt.Sprintf("%d %s", n, verdict))
		}
	}
	k := card{Label: "Consistency", Figure: human.Count(count[results.ConsistencyHeld], "property", "properties") + " held", State: "good", Note: strings.Join(others, ", ")}
	switch n := count[results.ConsistencyViolated]; {
	case n > 0:
		held := fmt.Sprintf("%d held", count[results.ConsistencyHeld])
		k.Figure, k.State, k.Note = fmt.Sprintf("%d violated", n), "bad", strings.Join(append([]string{held}, others...), ", ")
	case count[results.ConsistencyUndecided] > 0:
		k.State = "warn"
	}
	return k
}

// violated names the violated properties, in a sentence for the lead.
func violated(c *results.Consistency) []string {
	if c == nil {
		return nil
	}
	var names []string
	for i := range c.Properties {
		if q := &c.Properties[i]; q.Verdict == results.ConsistencyViolated {
			names = append(names, q.Property)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"The store violated " + human.And(names) + "."}
}
