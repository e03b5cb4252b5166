package trial

import (
	"slices"
	"strings"

	"warp/cli/terminal/redact"
)

// maxName is the length of the longest name of a side, in characters.
const maxName = 40

// names returns what people call the two sides: their hosts if nothing else differs, else the flags that differ. Sides
// whose command lines are the same, or differ in secrets only, are a and b.
func names(a, b []string) [2]string {
	sides := [2][]setting{settingsOf(a), settingsOf(b)}
	var found [2]string
	for i, own := range sides {
		var differ []string
		for _, s := range own {
			if slices.Contains(sides[1-i], s) {
				continue
			}
			differ = append(differ, s.String())
		}
		for _, other := range sides[1-i] {
			if !slices.ContainsFunc(own, func(s setting) bool { return s.name == other.name }) {
				differ = append(differ, "no "+other.name)
			}
		}
		if len(differ) == 1 {
			differ[0] = strings.TrimPrefix(differ[0], "host=")
		}
		found[i] = shorten(strings.Join(differ, " "))
	}
	if found[0] == found[1] {
		return [2]string{"a", "b"}
	}
	return found
}

// A setting is a flag and its value; the benchmark is one without a name.
type setting struct{ name, value string }

func (s setting) String() string {
	switch {
	case s.name == "":
		return s.value
	case s.value == "":
		return s.name
	}
	return s.name + "=" + s.value
}

// settingsOf returns the settings of a command line. The last value of a flag counts.
func settingsOf(args []string) (all []setting) {
	args = redact.Args(args)
	for i := 0; i < len(args); i++ {
		name, value, hasValue, ok := redact.SplitFlag(args[i])
		switch {
		case !ok:
			value = args[i]
		case !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			i++
			value = args[i]
		}
		if redact.IsSecret(name) || name == "access-key" {
			continue
		}
		all = slices.DeleteFunc(all, func(s setting) bool { return s.name == name })
		all = append(all, setting{name, value})
	}
	return all
}

func shorten(name string) string {
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return name
}
