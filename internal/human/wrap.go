package human

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text between words into lines of at most width characters, as far as its words allow. The first line continues
// after the given number of characters; the others begin with indent. A percent sign stays with its number.
func Wrap(text string, before, width int, indent string) string {
	var words []string
	for _, word := range strings.Fields(text) {
		if last := len(words) - 1; last >= 0 && strings.HasPrefix(word, "%") {
			words[last] += " " + word
			continue
		}
		words = append(words, word)
	}
	return WrapWords(words, before, width, indent, "")
}

// WrapWords is [Wrap] for words that may contain spaces. All lines but the last end with mark.
func WrapWords(words []string, before, width int, indent, mark string) string {
	var b strings.Builder
	column := before
	for i, word := range words {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n+len(mark) > width:
			b.WriteString(mark + "\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
