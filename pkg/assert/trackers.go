package assert

import (
	"encoding/json"
	"io"
	"strings"

	"warp/pkg/results"
)

// A figure is a value tracked from run to run.
type figure struct {
	benchmark, name, unit string
	value                 float64
	low, high             *float64
	smaller               bool // a smaller value is better
}

// figures returns the asserted metrics with their intervals, and throughput,
// median, 99th percentile and errors of every measured operation.
func figures(suite string, r *results.Report, judged []results.Assertion) (all []figure) {
	seen := map[string]bool{}
	add := func(f figure) {
		if key := f.benchmark + " " + f.name + " " + f.unit; !seen[key] {
			seen[key] = true
			all = append(all, f)
		}
	}
	for i := range judged {
		a := &judged[i]
		if a.Measured == nil {
			continue
		}
		op, name, ok := strings.Cut(a.Subject, ".")
		if !ok || op != strings.ToUpper(op) || strings.HasPrefix(a.Subject, "p") {
			op, name = "", a.Subject
		}
		if a.Pieces > 0 {
			name = a.Assertion
		}
		unit, scale := tracked(a.Unit)
		f := figure{called(suite, op, a.PartTitle()), name, unit, tidy(*a.Measured * scale), nil, nil, a.Smaller}
		if a.Low != nil {
			f.low, f.high = pointer(*a.Low*scale), pointer(*a.High*scale)
		}
		add(f)
	}
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.Warmup || r.Groups[o.Group].Kind == results.KindPreparation {
			continue
		}
		f := o.Figures()
		for _, m := range results.Metrics() {
			v, ok := m.Of(&f)
			unit, scale := map[results.Unit]string{results.BytesPerSecond: "MiB/s", results.ObjectsPerSecond: "obj/s", results.Milliseconds: "ms", results.Share: "%"}[m.Unit], 1.
			switch m.Name {
			case "throughput":
				scale = 1 << 20
			case "errors":
				scale = .01
			case "objs", "p50", "p99":
			default:
				continue
			}
			if ok {
				add(figure{called(suite, o.Op, o.Part().Title()), m.Name, unit, tidy(v / scale), nil, nil, !m.Higher})
			}
		}
	}
	return all
}

// tracked converts to the one unit that trackers get for all units of this
// kind, so that a series continues if an assertion changes its unit.
func tracked(unit string) (name string, scale float64) {
	for _, u := range timeUnits() {
		if u.Name == unit {
			return "ms", u.Scale
		}
	}
	for _, u := range rateUnits() {
		if u.Name == unit {
			return "MiB/s", u.Scale / (1 << 20)
		}
	}
	return unit, 1
}

// called returns the name of the benchmark in trackers.
func called(suite, op, part string) string {
	name := "warp " + suite
	if part != "" {
		name += " " + part
	}
	if op != "" {
		name += " " + op
	}
	return name
}

// Bencher writes figures in Bencher's metric format: benchmarks, each with
// measures by name and unit.
func Bencher(w io.Writer, suite string, r *results.Report, judged []results.Assertion) error {
	type measure struct {
		Value float64  `json:"value"`
		Low   *float64 `json:"lower_value,omitempty"`
		High  *float64 `json:"upper_value,omitempty"`
	}
	all := map[string]map[string]measure{}
	for _, f := range figures(suite, r, judged) {
		if all[f.benchmark] == nil {
			all[f.benchmark] = map[string]measure{}
		}
		all[f.benchmark][shortened(f.name+" ("+f.unit+")")] = measure{f.value, f.low, f.high}
	}
	return writeJSON(w, all)
}

// shortened cuts a name to the length that Bencher allows for a measure.
func shortened(name string) string {
	const maxName = 64
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return name
}

// GitHubAction writes figures for github-action-benchmark. One file has one
// direction: smaller selects the figures for which less is better.
func GitHubAction(w io.Writer, suite string, r *results.Report, judged []results.Assertion, smaller bool) error {
	type entry struct {
		Name  string  `json:"name"`
		Unit  string  `json:"unit"`
		Value float64 `json:"value"`
		Range string  `json:"range,omitempty"`
	}
	all := []entry{}
	for _, f := range figures(suite, r, judged) {
		if f.smaller != smaller {
			continue
		}
		e := entry{Name: f.benchmark + " " + f.name, Unit: f.unit, Value: f.value}
		if f.low != nil {
			e.Range = digits(*f.low) + " to " + digits(*f.high)
		}
		all = append(all, e)
	}
	return writeJSON(w, all)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
