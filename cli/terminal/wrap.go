package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// minColumns is the minimum width of lines. A narrower terminal breaks them itself.
const minColumns = 40

// Columns returns the width of text in the file: the width of its terminal, or
// the variable COLUMNS, which a user may set. It is 0 if the file is not a
// terminal.
func Columns(file any, env func(name string) (value string, ok bool)) int {
	fd, ok := Descriptor(file)
	if !ok {
		return 0
	}
	width := Width(fd)
	if text, _ := env("COLUMNS"); text != "" {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			width = n
		}
	}
	return max(width, minColumns)
}

// Wrap appends words to head, in lines of at most width columns. Further lines
// begin below the first word, or at half the width if that is less. All lines
// but the last end with mark.
func Wrap(head string, words []string, mark string, width int) string {
	var b strings.Builder
	b.WriteString(head)
	column := utf8.RuneCountInString(head)
	indent := min(column, width/2)
	for i, word := range words {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n+len(mark) > width:
			b.WriteString(mark + "\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
