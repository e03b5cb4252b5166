package human

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count formats a number with its noun.
func Count[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Plural formats a number with a noun whose plural ends in s.
func Plural[N int | int64 | uint64](n N, noun string) string { return Count(n, noun, noun+"s") }

// PluralGrouped is Plural with commas between thousands.
func PluralGrouped[N int | int64 | uint64](n N, noun string) string {
	return Grouped(n) + " " + Choose(n, noun, noun+"s")
}

// Choose returns the word for n things.
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

// Steers reports whether a terminal acts on a character instead of showing it: control
// characters, and characters that change the direction of text.
func Steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Visible replaces invalid text and characters that steer a terminal or a page with visible ones.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if Steers(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// OneLine makes untrusted text safe for one line of a terminal.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if Steers(r) {
			return ' '
		}
		return r
	}, s)
}

// Host returns an endpoint without its scheme.
func Host(endpoint string) string {
	if _, host, ok := strings.Cut(endpoint, "://"); ok {
		endpoint = host
	}
	return Visible(endpoint)
}

// UpperFirst returns s with its first letter in upper case.
func UpperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// LowerFirst returns s with its first letter in lower case.
func LowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToLower(r)) + s[size:]
}

// Percent formats a share in percent, with half of its interval unless that is 0.
func Percent(share, half float64) string {
	if half == 0 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*share, 100*half)
}

// WholePercent formats a share as a whole number of percent, which is 0 only if the share is.
func WholePercent(share float64) string {
	if share > 0 && share < .01 {
		return "<1"
	}
	return strconv.FormatFloat(100*share, 'f', 0, 64)
}
