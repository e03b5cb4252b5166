package printer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// JSON writes a value as one JSON document.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return indent(w, b.Bytes())
}

// indent writes a document as json.Indent does, with two spaces, but keeps an array of numbers on
// one line: a heat map has thousands of them. It needs no memory for the result, which is several
// times as large.
func indent(w io.Writer, doc []byte) error {
	b := bufio.NewWriter(w)
	depth := 0
	line := func() {
		_ = b.WriteByte('\n')
		for range depth {
			_, _ = b.WriteString("  ")
		}
	}
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch c {
		case '\n': // end of the document
		case '"':
			end := i + StringEnd(doc[i:])
			_, _ = b.Write(doc[i:end])
			i = end - 1
		case '{', '[':
			if n := flat(doc[i:]); n > 0 {
				_, _ = b.Write(doc[i : i+n])
				i += n - 1
				continue
			}
			_ = b.WriteByte(c)
			depth++
			line()
		case '}', ']':
			depth--
			line()
			_ = b.WriteByte(c)
		case ',':
			_ = b.WriteByte(c)
			line()
		case ':':
			_, _ = b.WriteString(": ")
		default:
			_ = b.WriteByte(c)
		}
	}
	_ = b.WriteByte('\n')
	return b.Flush()
}

// StringEnd returns the length of the string at the start of doc, including its quotes.
func StringEnd(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// flat returns the length of the object or array at the start of doc if it is empty or an array of
// numbers, and 0 otherwise.
func flat(doc []byte) int {
	if doc[0] == '{' {
		if doc[1] == '}' {
			return 2
		}
		return 0
	}
	for i, c := range doc[1:] {
		switch {
		case c == ']':
			return i + 2
		case c != ',' && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
