package plan

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"warp/internal/check"
)

// The plan fits the terminal, and its lines break between words.
func TestPlanFitsTheTerminal(t *testing.T) {
	t.Parallel()
	d := &DryRun{Plan: []string{"the clean-up makes about 18 listings of 1000 objects each, and as many deletions, or one for each object"}}
	for _, width := range []int{0, 40, 60} {
		var b bytes.Buffer
		check.OK(t, d.write(&b, false, width))
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, "- "+d.Plan[0]) {
			t.Errorf("at %d columns, the words of the plan are not what they were: %q", width, text)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("a line has %d columns of %d: %q", n, width, line)
			}
		}
	}
}
