package comparison

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/compare"
)

// Remarks returns the sentences below the tables.
func Remarks(c *compare.Comparisons) []string {
	all := together(c, remarks)
	all = append(all, together(c, func(v *compare.Verdicts) []string {
		if len(v.Missing) == 0 {
			return nil
		}
		return []string{"Not in all runs: " + strings.Join(v.Missing, ", ") + "."}
	})...)
	return append(all, legend(c)...)
}

// legend explains the verdicts and figures of the tables.
func legend(c *compare.Comparisons) (all []string) {
	any := func(is func(*compare.Row) bool) bool {
		return slices.ContainsFunc(c.Comparisons, func(v *compare.Verdicts) bool { return slices.ContainsFunc(v.Judged(), is) })
	}
	if any(func(r *compare.Row) bool { return r.Verdict == compare.Equivalent }) {
		all = append(all, fmt.Sprintf("Equivalent: the whole interval lies within ±%g%%.", c.Comparisons[0].MinEffect))
	}
	if any(func(r *compare.Row) bool { return r.Verdict == compare.NoRatio }) {
		all = append(all, "-: a metric that can be 0 has no ratio to judge.")
	}
	if any(func(r *compare.Row) bool { return r.P != nil }) {
		correction := "Holm's correction"
		if len(c.Comparisons) > 1 {
			correction += fmt.Sprintf(" for all %d p-values of the table together", c.Together)
		}
		all = append(all, "Judged by runs, with "+correction+"; intervals of metrics without a verdict are at 95% each.")
	}
	return all
}

// Withheld returns why comparisons have no verdict.
func Withheld(c *compare.Comparisons) []string {
	return together(c, func(v *compare.Verdicts) []string { return v.Withheld })
}

// Warnings returns the warnings about comparisons, without those of their runs.
func Warnings(c *compare.Comparisons) []string {
	return together(c, func(v *compare.Verdicts) []string { return v.Warnings })
}

// together returns the sentences about the comparisons without duplicates. A sentence that is not about all of them names its
// comparisons.
func together(c *compare.Comparisons, of func(*compare.Verdicts) []string) (all []string) {
	var order []string
	about := map[string][]string{}
	for _, v := range c.Comparisons {
		for _, s := range of(v) {
			if about[s] == nil {
				order = append(order, s)
			}
			about[s] = append(about[s], PairName(c, v))
		}
	}
	for _, s := range order {
		if len(about[s]) < len(c.Comparisons) {
			s = strings.Join(about[s], ", ") + ": " + s
		}
		all = append(all, s)
	}
	return all
}

// PairName names one of several comparisons.
func PairName(c *compare.Comparisons, v *compare.Verdicts) string {
	if !c.AllPairs {
		return v.After.Name
	}
	return v.Before.Name + " -> " + v.After.Name
}

// remarks returns the sentences about one comparison.
func remarks(v *compare.Verdicts) (all []string) {
	if len(v.Judged()) == 0 {
		return nil
	}
	unit, units := "run", "runs a side"
	if v.Paired {
		unit, units = "pair", "pairs"
	}
	if v.Unfinished {
		all = append(all, "The comparison ended before all its runs were made.")
	}
	if slices.ContainsFunc(v.Judged(), func(r *compare.Row) bool { return r.Verdict == compare.TooFew }) {
		n := min(v.Before.Runs, v.After.Runs)
		return append(all, fmt.Sprintf("%s%s: no verdict possible, at least %d are needed.", human.Plural(n, unit), strings.TrimPrefix(units, unit+"s"), v.Needed))
	}
	if len(v.Looks) > 0 {
		all = append(all, looked(v.Looks))
	}
	var withheld []string
	for s, r := range v.Rows() {
		switch {
		case s.Host != "":
		case r.Judged && r.Verdict == compare.Undecided:
			all = append(all, undecided(s, r, v, units))
		case r.Verdict == compare.Withheld && r.Withheld != "":
			withheld = append(withheld, fmt.Sprintf("%s %s: no verdict, because %s.", s.Name(), r.Metric, r.Withheld))
		}
	}
	all = append(all, withheld...)
	if v.Sequence != nil {
		all = append(all, sequence(v))
	}
	return all
}

// sequence says which side was made first.
func sequence(v *compare.Verdicts) string {
	first, second := v.Before.Name, v.After.Name
	if v.Sequence.First == "after" {
		first, second = second, first
	}
	apart := time.Duration(v.Sequence.DistanceS * float64(time.Second))
	if days := apart.Hours() / 24; days > 1 {
		return fmt.Sprintf("%s was made first, %.0f days before %s.", first, days, second)
	}
	return fmt.Sprintf("%s was made first, %s before %s, middle to middle, so anything that changed in between looks like a difference. "+
		"warp ab runs both in turns.", first, human.Brief(apart), second)
}

// looked says when a comparison that may end early was judged.
func looked(looks []compare.Look) string {
	var after []string
	for _, l := range looks {
		if !l.Skipped {
			after = append(after, fmt.Sprint(l.Pairs))
		}
	}
	return fmt.Sprintf("Judged after %s pairs, at levels that keep false alarms of all looks together within 5%%.", strings.Join(after, " and "))
}

func undecided(s *compare.Subject, r *compare.Row, v *compare.Verdicts, units string) string {
	text := fmt.Sprintf("%s %s: undecided.", s.Name(), r.Metric)
	n := fmt.Sprint(v.Before.Runs)
	if v.After.Runs != v.Before.Runs {
		n += fmt.Sprintf(" and %d", v.After.Runs)
	}
	if r.Detectable != nil && *r.Detectable < 1000 { // more says nothing
		text += fmt.Sprintf(" %s %s show changes from %s%% on in 4 of 5 comparisons.", n, units, twoDigits(*r.Detectable))
	}
	if r.Target != nil && r.Needed > 0 {
		text += fmt.Sprintf(" A new comparison needs %d %s to show %s%%.", r.Needed, units, twoDigits(*r.Target))
	}
	return text
}
