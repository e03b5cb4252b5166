package stats

import (
	"maps"
	"slices"
	"strings"
)

// maxNames is the max number of names that a Tally counts separately.
const maxNames = 64

// A Tally counts by name. If there are more than maxNames, it counts the alphabetically last ones
// together, under "". The choice depends only on names: a name with its own count always had it,
// and neither order nor merging changes the result.
type Tally map[string]uint64

func (t *Tally) add(name string, n uint64) {
	if old, ok := (*t)[name]; ok {
		(*t)[name] = old + n
		return
	}
	if *t == nil {
		*t = Tally{}
	}
	(*t)[strings.Clone(name)] = n
	_, rest := (*t)[""]
	if names := len(*t); names > maxNames+1 || names > maxNames && !rest {
		last := slices.Max(slices.Collect(maps.Keys(*t)))
		n := (*t)[last]
		delete(*t, last)
		t.add("", n)
	}
}
