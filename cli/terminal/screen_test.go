package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fatih/color"
)

func always() bool { return true }

// No line is wider than the terminal has room for, colored or not.
func TestScreenCuts(t *testing.T) {
	t.Parallel()
	lines := []string{strings.Repeat("größer ", 20), Paint(true, color.Bold, "GET") + strings.Repeat(" 1", 50) + Paint(true, color.FgRed, "  7 errors"), ""}
	for _, width := range []int{1, 10, 20, 40, 60, 80, 200} {
		var b bytes.Buffer
		s := &Screen{w: &b, ours: always, size: func() (int, int) { return width + margin, 24 }}
		s.Draw(lines)
		for _, n := range s.drawn {
			if n > width {
				t.Errorf("a line of %d in %d columns: %q", n, width, b.String())
			}
		}
	}
}

// TestScreenAfterResize: the block that was drawn has been wrapped by the
// terminal, and the cursor has to go up over the wrapped lines too.
func TestScreenAfterResize(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	width, height := 100, 24
	s := &Screen{w: &b, ours: always, size: func() (int, int) { return width, height }}
	s.Draw([]string{strings.Repeat("a", 90), strings.Repeat("b", 90), "c"})
	width = 40
	b.Reset()
	s.Draw([]string{"x", "y", "z"})
	if want := "\r\x1b[6Ax" + eraseRight + "\r\ny" + eraseRight + "\r\nz" + eraseRight + eraseBelow; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	height = 3
	b.Reset()
	s.Draw([]string{"1", "2", "3", "4"})
	if len(s.drawn) != 2 {
		t.Errorf("%d lines on a terminal of 3: %q", len(s.drawn), b.String())
	}
	b.Reset()
	s.Clear()
	if want := "\r\x1b[1A" + eraseBelow + ShowCursor; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if s.Clear(); b.Len() > 0 {
		t.Errorf("nothing is drawn, but clear writes %q", b.String())
	}
}
