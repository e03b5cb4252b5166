package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"warp/pkg/results"
)

// Settings are the parameters of a run by name, and in brackets what else about
// it is no measurement.
func Settings(r *results.Report) map[string]string {
	m := map[string]string{"(benchmark)": r.Benchmark, "(engine)": r.Engine, "(warp version)": r.Warp}
	maps.Copy(m, r.Parameters)
	for i, text := range r.Statements {
		m[fmt.Sprintf("(statement %d)", i+1)] = text
	}
	return m
}

// Defaults are the values that parameters have where nobody sets them. It is
// false for parameters that it does not know.
type Defaults func(benchmark, name string) (value string, ok bool)

// Is reports whether it makes no difference that a parameter, which only one of
// two runs knows, has the value there. One that nobody knows any more was off.
func (d Defaults) Is(benchmark, name, value string) bool {
	if d != nil {
		if standard, ok := d(benchmark, name); ok {
			return value == standard
		}
	}
	return value == "" || value == "false" || value == "0"
}

// Incomparable says why the figures of two runs with such parameters have
// nothing to do with each other: they did something else, or with other sizes.
func Incomparable(differ []Parameter) string {
	decisive := []string{"(benchmark)", "obj.size", "obj.randsize", "part.size", "range", "range-size"}
	for _, p := range differ {
		known := p.Before != "" && p.After != "" || p.Name != "(benchmark)" && p.Name != "obj.size" // "" is a value of the others
		if slices.Contains(decisive, p.Name) && known {
			return fmt.Sprintf("the runs are not of the same kind: %s was %s before and is %s after", strings.Trim(p.Name, "()"), OrNone(p.Before), OrNone(p.After))
		}
	}
	return ""
}

// OrNone is a value, or what is shown in place of one that is not there.
func OrNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
