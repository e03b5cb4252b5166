package stats

import (
	"maps"
	"slices"
	"strings"
)

// maxNames is how many names a Tally counts separately.
const maxNames = 64

// A Tally counts by name. Of more than maxNames the last ones in the alphabet are
// counted together, under "". Because the choice goes by name, those that are
// counted separately always were, and neither order nor merging changes anything.
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
