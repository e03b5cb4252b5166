package terminal

import (
	"strings"

	"github.com/fatih/color"
)

// Paint colors s, independent of the process-wide switch of the package.
func Paint(on bool, attribute color.Attribute, s string) string {
	if !on {
		return s
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(s)
}

// withoutColor removes color sequences.
func withoutColor(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
