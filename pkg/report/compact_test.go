package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"warp/internal/testlog"
	"warp/pkg/aggregate"
)

func TestCompactGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get", "mixed", "open", "failing", "delete"} {
		l := testlog.Loads()[name]
		r := analyze(t, l.Rows(1), aggregate.Options{SegmentDur: time.Second})
		for _, width := range []int{60, 80, 120} {
			golden(t, fmt.Sprintf("%s-compact-%d.txt", name, width), func(w io.Writer) error {
				return Compact(w, r, CompactOptions{Width: width})
			})
		}
	}
	l := testlog.Loads()["mixed"]
	l.Schedule, l.Sizes, l.Hosts = true, true, 2
	r := described(t, l, 1, aggregate.Options{SegmentDur: time.Second})
	golden(t, "described-compact.txt", func(w io.Writer) error { return Compact(w, r, CompactOptions{Color: true}) })
}

// No line is wider than the terminal, whatever was measured and however narrow that is.
func TestCompactFits(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		r := analyze(t, l.Rows(3), aggregate.Options{})
		r.Warnings = append(r.Warnings, "a sentence that is much longer than any of the terminals that it is shown on, because it has so many words in it that nobody would read them all")
		for width := 40; width <= 200; width += 7 {
			var b bytes.Buffer
			if err := Compact(&b, r, CompactOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d of %d columns: %s", name, n, width, line)
				}
			}
			for _, op := range r.Operations {
				if !strings.Contains(b.String(), op.Op) {
					t.Errorf("%s at %d columns has no %s:\n%s", name, width, op.Op, b.String())
				}
			}
		}
	}
}

// A stall of one segment of hundreds is seen in every width.
func TestSparklineShowsStall(t *testing.T) {
	t.Parallel()
	segments := make([]aggregate.Segment, 400)
	for i := range segments {
		segments[i].BytesPerS = 1000 + float64(i%7)
	}
	segments[123].BytesPerS = 0
	value := func(s *aggregate.Segment) float64 { return s.BytesPerS }
	for _, width := range []int{8, 13, 60, 400, 500} {
		line := sparkline(segments, value, width)
		if n := utf8.RuneCountInString(line); n > width || strings.Count(line, "▁") != 1 {
			t.Errorf("%d columns: %s", width, line)
		}
	}
	if line := sparkline(segments[:0], value, 8); line != "" {
		t.Errorf("of nothing: %q", line)
	}
}
