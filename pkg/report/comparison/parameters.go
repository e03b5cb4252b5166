package comparison

import (
	"fmt"
	"strings"

	"warp/pkg/compare"
)

// workloadsOf says whether two sides made the same load, by the identities of their workloads; "" = unknown.
func workloadsOf(before, after string) string {
	switch {
	case before == "" && after == "":
		return "Workload: unknown on both sides."
	case before == "":
		return fmt.Sprintf("Workload: unknown before, %s after.", after)
	case after == "":
		return fmt.Sprintf("Workload: %s before, unknown after.", before)
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

// SeveralParameters says what the parameters that differ are in each set.
func SeveralParameters(c *compare.Comparisons) (lines []string) {
	type values map[string]string // by set
	all := map[string]values{}
	var order []string
	for _, v := range c.Comparisons {
		for _, x := range v.Parameters {
			if all[x.Name] == nil {
				all[x.Name], order = values{}, append(order, x.Name)
			}
			all[x.Name][v.Before.Name], all[x.Name][v.After.Name] = x.Before, x.After
		}
	}
	for _, name := range order {
		var parts []string
		for _, s := range c.Sets() {
			if value, ok := all[name][s.Name]; ok {
				parts = append(parts, fmt.Sprintf("%s (%s)", compare.OrNone(value), s.Name))
			}
		}
		lines = append(lines, name+": "+strings.Join(parts, ", "))
	}
	return lines
}
