// Package field parses and formats the fields of a row of an op log: numbers, times and text. None of it allocates,
// and neighbouring rows resemble each other, so parsers and formatters of times remember the time before.
//
// Functions called Next read the field at a place in a text and return the place after its separator, or [NoMatch].
package field

import "math"

// Room is how much text must follow the beginning of a field, so that Next reads its
// first bytes without a check for each. It is enough for a time and its separator, or
// eight bytes more than a short number.
const Room = 40

// NoMatch is the place after a field that Next does not read: one that is malformed, or unlike the field of nearly
// all rows. It is behind the end of all text, where nothing matches either, so that only the last place of a row
// needs a check.
const NoMatch = math.MaxInt / 2
