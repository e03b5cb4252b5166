package identity

import (
	"slices"
	"strconv"
	"strings"

	"warp/pkg/generator"
)

// Show returns the value of a setting for people.
func Show(name, value string) string {
	i := slices.IndexFunc(Table(), func(s Setting) bool { return s.Flag == name && s.Bytes })
	if i < 0 || value == "" {
		return value
	}
	parts := strings.Split(value, "-") // a range of sizes
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return value // a distribution
		}
		parts[i] = generator.FormatSize(n)
	}
	return strings.Join(parts, "-")
}

// Circumstances returns the parameters that may explain a difference although they do not define a workload: the length of a
// run, and its conditions. Parameters without an effect are left out.
func Circumstances(parameters map[string]string) map[string]string {
	named := map[string]string{}
	for _, s := range Table() {
		value := parameters[s.Flag]
		if s.Role != Length && s.Role != Condition && s.Role != Place {
			continue
		}
		if value != "" && value != "0" && value != "0s" && value != "false" && value != s.Usual {
			named[s.Flag] = value
		}
	}
	return named
}

// MayVary reports whether a circumstance may differ among runs that are repetitions of each other.
func MayVary(name string) bool {
	return slices.ContainsFunc(Table(), func(s Setting) bool { return s.Flag == name && s.Role == Place })
}

// OtherKind reports whether runs that differ in this setting have figures that cannot be compared: they did something else, or
// with objects of other sizes.
func OtherKind(name string) bool {
	return name == "operation" || slices.ContainsFunc(Table(), func(s Setting) bool { return s.Flag == name && s.Kind })
}
