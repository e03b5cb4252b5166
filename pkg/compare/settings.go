package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warp/pkg/identity"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// Facts are the settings that define the workload of a run, and the circumstances that may explain a difference, by name and as
// people read them. Names in brackets are not flags.
type Facts struct {
	Workload      oplog.Workload
	Settings      map[string]string // of the workload; nil = unknown
	Circumstances map[string]string
}

// FactsOf returns the facts about a run.
func FactsOf(r *results.Report) Facts {
	f := Facts{Workload: r.Identity(), Circumstances: identity.Circumstances(r.Parameters)}
	f.Circumstances["(engine)"], f.Circumstances["(warp version)"] = r.Engine, r.Warp
	if f.Workload.ID == "" {
		return f
	}
	f.Settings = map[string]string{}
	for name, value := range f.Workload.Settings {
		f.Settings[name] = identity.Show(name, value)
	}
	return f
}

// differing lists what differs between two runs: first what defines their workloads, if both are known, and then circumstances.
func differing(before, after Facts) []Parameter {
	list := []Parameter{}
	if before.Settings != nil && after.Settings != nil {
		list = addDiffering(list, before.Settings, after.Settings, true)
	}
	return addDiffering(list, before.Circumstances, after.Circumstances, false)
}

func addDiffering(list []Parameter, before, after map[string]string, defines bool) []Parameter {
	for _, name := range names(before, after) {
		if before[name] != after[name] {
			list = append(list, Parameter{Name: name, Before: before[name], After: after[name], Workload: defines})
		}
	}
	return list
}

// names returns the keys of two maps, sorted.
func names[T any](a, b map[string]T) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Incomparable says why the figures of two runs that differ in this way have nothing to do with each other: they did something
// else, or with other sizes.
func Incomparable(differ []Parameter) string {
	for _, p := range differ {
		unknown := p.Name == "obj.size" && (p.Before == "" || p.After == "") // of objects that were there
		if p.Workload && identity.OtherKind(p.Name) && !unknown {
			return fmt.Sprintf("the runs are not of the same kind: %s was %s before and is %s after", p.Name, OrNone(p.Before), OrNone(p.After))
		}
	}
	return ""
}

// otherWorkload names the settings in which two workloads differ; "" if they are the same, or if one is unknown.
func otherWorkload(differ []Parameter) string {
	var all []string
	for _, p := range differ {
		if p.Workload {
			all = append(all, fmt.Sprintf("%s was %s and is %s", p.Name, OrNone(p.Before), OrNone(p.After)))
		}
	}
	return strings.Join(all, ", ")
}

// OrNone returns a value, or a text that is shown if there is none.
func OrNone(s string) string { return cmp.Or(s, "(not set)") }
