package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

const (
	// HideCursor begins a drawing.
	HideCursor = "\x1b[?25l"
	// ShowCursor ends it.
	ShowCursor = "\x1b[?25h"

	eraseRight = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// A Screen is a block of lines at the end of a terminal that is drawn again
// and again in place.
type Screen struct {
	w     io.Writer
	size  func() (width, height int)
	ours  func() bool // the terminal may be drawn on
	drawn []int       // widths of the lines that are there now
	gone  bool        // nothing is drawn any more
}

// NewScreen draws on the terminal that w writes to and fd is.
func NewScreen(w io.Writer, fd int) *Screen {
	// A process that began in the background, as under timeout(1), has no shell at its terminal.
	ours := func() bool { return true }
	if foreground(fd) {
		ours = func() bool { return foreground(fd) }
	}
	return &Screen{w: w, ours: ours, size: func() (int, int) {
		width, height, err := term.GetSize(fd)
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}}
}

// Width returns the number of cells in a line of the terminal, 0 if unknown.
func Width(fd int) int {
	width, _, err := term.GetSize(fd)
	if err != nil {
		return 0
	}
	return max(0, width)
}

// Size returns the number of cells of a line, and the number of lines that Draw shows.
func (s *Screen) Size() (width, lines int) {
	width, height := s.size()
	return max(1, width-margin), max(1, height-1)
}

// Forget treats the drawing as gone: the process was stopped, and another program
// has written to the terminal.
func (s *Screen) Forget() { s.drawn = nil }

// Close clears the screen, and nothing is drawn any more.
func (s *Screen) Close() {
	s.Clear()
	s.gone = true
}

// margin is the number of cells that stay free at the right, so that the ^C
// which a terminal echoes does not begin a new line.
const margin = 3

// Draw replaces the block. To avoid flicker, it writes once, and erases a line
// only behind its new text.
func (s *Screen) Draw(lines []string) {
	if s.gone {
		return
	}
	if !s.ours() { // a shell has it, and its cursor
		s.drawn = nil
		return
	}
	width, _ := s.size()
	_, height := s.Size()
	lines = lines[:min(len(lines), height)]
	var b strings.Builder
	if s.drawn == nil {
		b.WriteString(HideCursor)
	}
	b.WriteString(s.home(width))
	s.drawn = make([]int, len(lines))
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		line = cut(line, max(1, width-margin))
		s.drawn[i] = pb.CellCount(line)
		b.WriteString(line + eraseRight)
	}
	b.WriteString(eraseBelow)
	io.WriteString(s.w, b.String())
}

// Clear removes the block and shows the cursor.
func (s *Screen) Clear() {
	if s.drawn == nil {
		return
	}
	if !s.ours() {
		s.drawn = nil
		return
	}
	width, _ := s.size()
	io.WriteString(s.w, s.home(width)+eraseBelow+ShowCursor)
	s.drawn = nil
}

// home moves the cursor to the beginning of the block. A terminal that has
// become narrower has wrapped the lines that were drawn for its old width.
func (s *Screen) home(width int) string {
	up := -1
	for _, n := range s.drawn {
		up += max(1, (n+width-1)/width)
	}
	if up <= 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}

// cut shortens a line to width cells. A colored line that is too long loses its
// colors, since the end of a color may be what is cut off.
func cut(line string, width int) string {
	if pb.CellCount(line) <= width {
		return line
	}
	return pb.StripString(withoutColor(line), width)
}
