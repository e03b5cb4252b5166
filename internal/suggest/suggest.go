// Package suggest finds the word that a mistyped word was probably meant to be.
package suggest

import "strings"

// Closest returns the candidate that word was probably meant to be, or "".
// People often remember only the last part of a dotted name, so if no whole name is near,
// Closest compares the last parts.
func Closest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", len(word)/3+1
	if len(word) == 1 {
		return "" // every letter is near every other
	}
	for _, c := range candidates {
		if d := EditDistance(word, strings.ToLower(c)); d <= bestDistance && (best == "" || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	if best != "" {
		return best
	}
	return onlyOneWith(word, candidates)
}

// onlyOneWith returns the single candidate that word begins or ends, or "".
func onlyOneWith(word string, candidates []string) string {
	if len(word) < 2 {
		return ""
	}
	for _, match := range []func(string) bool{
		func(c string) bool { return strings.HasSuffix(c, "."+word) || strings.HasSuffix(c, "-"+word) },
		func(c string) bool { return strings.HasPrefix(c, word) },
	} {
		found := ""
		for _, c := range candidates {
			if match(c) && found != "" {
				found = ""
				break
			}
			if match(c) {
				found = c
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// EditDistance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func EditDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
