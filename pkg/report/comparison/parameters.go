package comparison

import (
	"cmp"
	"fmt"
	"slices"

	"warp/pkg/compare"
)

// workloadsOf says whether two sides made the same load, by the identities of their workloads; "" = unknown, or several.
func workloadsOf(before, after string) string {
	switch {
	case before == "" && after == "":
		return "Workload: unknown, or not the same in all runs."
	case before == "":
		return fmt.Sprintf("Workload: unknown or not the same in all runs before, %s after.", after)
	case after == "":
		return fmt.Sprintf("Workload: %s before, unknown or not the same in all runs after.", before)
	case before == after:
		return fmt.Sprintf("Workload: %s, the same on both sides.", before)
	}
	return fmt.Sprintf("Workload: %s before, %s after. The settings that differ:", before, after)
}

// divide returns the parameters that define workloads, and the others.
func divide(all []compare.Parameter) (workload, other []compare.Parameter) {
	for _, p := range all {
		if p.Workload {
			workload = append(workload, p)
		} else {
			other = append(other, p)
		}
	}
	return workload, other
}

// differences lists the parameters that differ between two sides: what makes their workloads different, and the rest.
func (p *textPrinter) differences(before, after string, all []compare.Parameter) {
	workload, other := divide(all)
	p.Paragraph("", workloadsOf(before, after))
	list := func(parameters []compare.Parameter) {
		for _, x := range parameters {
			p.Line(" * %s: %s -> %s", x.Name, compare.OrNone(x.Before), compare.OrNone(x.After))
		}
	}
	list(workload)
	if len(other) > 0 {
		p.Line("Parameters that differ:")
		list(other)
	}
}

// DifferingParameters returns a row for each parameter that differs: its name, and its value in each set, "" if the comparisons do
// not name it.
func DifferingParameters(c *compare.Comparisons) (rows [][]string) {
	sets := c.Sets()
	row := func(name string) []string {
		for _, r := range rows {
			if r[0] == name {
				return r
			}
		}
		rows = append(rows, append([]string{name}, make([]string, len(sets))...))
		return rows[len(rows)-1]
	}
	if slices.ContainsFunc(sets, func(s *compare.Side) bool { return s.Workload != sets[0].Workload }) {
		workloads := row("(workload)")
		for i, s := range sets {
			workloads[1+i] = cmp.Or(s.Workload, "unknown")
		}
	}
	for i, v := range c.Comparisons {
		before, after := c.Places(i)
		for _, x := range v.Parameters {
			r := row(x.Name)
			r[1+before], r[1+after] = compare.OrNone(x.Before), compare.OrNone(x.After)
		}
	}
	return rows
}
