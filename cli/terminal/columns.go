package terminal

import "strconv"

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
