package human

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count is a number with its noun.
func Count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Plural is a number with a noun whose plural ends in s.
func Plural[N int | int64 | uint64](n N, noun string) string { return Count(n, noun, noun+"s") }

// Choose is the word that goes with a number of things.
func Choose[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// And joins words to "a", "a and b", or "a, b and c".
func And(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// Steers reports whether a character acts on a terminal instead of being shown
// by it: control characters, and those that change the direction of what
// follows.
func Steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Visible replaces invalid text and characters that steer a terminal or a page by a sign that can be seen.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if Steers(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// OneLine keeps text of others from breaking lines or steering the terminal.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if Steers(r) {
			return ' '
		}
		return r
	}, s)
}

// Host is an endpoint without its scheme.
func Host(endpoint string) string {
	if _, host, ok := strings.Cut(endpoint, "://"); ok {
		endpoint = host
	}
	return Visible(endpoint)
}

// UpperFirst begins a sentence with s.
func UpperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}
