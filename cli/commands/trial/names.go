package trial

import (
	"slices"
	"strings"

	"warp/cli/terminal/redact"
	"warp/internal/columns"
)

// maxName is the length of the longest name of a side, in characters.
const maxName = 40

// Letter returns the letter of a side, which is also the name of its flag and of its folder.
func Letter(side int) string { return string("abcdefgh"[side]) }

// names returns what people call the sides: their hosts if nothing else differs, else the flags that differ. If the command
// lines of two sides are the same, or differ in secrets only, all sides are called by their letters.
func names(commands [][]string) []string {
	sides := make([][]setting, len(commands))
	for i, args := range commands {
		sides[i] = settingsOf(args)
	}
	found := make([]string, len(sides))
	for i := range sides {
		differ := differences(sides, i)
		if len(differ) == 1 {
			differ[0] = strings.TrimPrefix(differ[0], "host=")
		}
		found[i] = columns.Cut(strings.Join(differ, " "), maxName)
	}
	if sorted := slices.Sorted(slices.Values(found)); len(slices.Compact(sorted)) == len(found) {
		return found
	}
	for i := range found {
		found[i] = Letter(i)
	}
	return found
}

// differences returns the settings of a side that not all sides share, and the flags of others that it lacks.
func differences(sides [][]setting, side int) (differ []string) {
	for _, s := range sides[side] {
		if !slices.ContainsFunc(sides, func(other []setting) bool { return !slices.Contains(other, s) }) {
			continue
		}
		differ = append(differ, s.String())
	}
	var lacks []string
	for _, other := range slices.Concat(sides...) {
		lack := "no " + other.name
		if other.value != "" && other.value != "true" {
			lack = "default " + other.name
		}
		if !slices.ContainsFunc(sides[side], func(s setting) bool { return s.name == other.name }) && !slices.Contains(lacks, lack) {
			lacks = append(lacks, lack)
		}
	}
	return append(differ, lacks...)
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
