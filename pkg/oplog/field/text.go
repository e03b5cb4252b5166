package field

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// NextText reads a field without quotes and control characters, up to its tab.
func NextText(b []byte, at int) (next int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at <= len(b)-Room; at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote := x ^ ones*'"'
		// Control characters up to carriage return, or a quote. The first
		// marked byte is marked correctly.
		found := ((x-ones*14) & ^x | (quote-ones) & ^quote) & highs
		if found == 0 {
			continue
		}
		at += bits.TrailingZeros64(found) >> 3
		if b[at] == '\t' {
			return at + 1
		}
		return NoMatch
	}
	return NoMatch
}

// Tabs stores the places of the tabs of line in at, as far as they fit, and
// returns their number and whether there is a NUL. It searches eight bytes at
// once for bytes below ten.
func Tabs(line []byte, at []int) (n int, nul bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(line); i += 8 {
		x := binary.LittleEndian.Uint64(line[i:])
		// A byte after one below ten may be marked by mistake, so each is checked.
		for low := (x - ones*10) & ^x & highs; low != 0; low &= low - 1 {
			k := i + bits.TrailingZeros64(low)>>3
			if c := line[k]; c == '\t' {
				if n < len(at) {
					at[n] = k
				}
				n++
			} else if c == 0 {
				nul = true
			}
		}
	}
	for ; i < len(line); i++ {
		if c := line[i]; c == '\t' {
			if n < len(at) {
				at[n] = i
			}
			n++
		} else if c == 0 {
			nul = true
		}
	}
	return n, nul
}

// End returns the end of the field at a place in a line whose quotes are closed.
func End(line []byte, at int) int {
	if at < len(line) && line[at] == '"' {
		if end := ClosingQuote(line, at+1); end >= 0 {
			return end + 1
		}
	}
	if i := bytes.IndexByte(line[at:], '\t'); i >= 0 {
		return at + i
	}
	return len(line)
}

// ClosingQuote returns the place of the next quote before a tab or the line's end, -1 if there is none.
func ClosingQuote(line []byte, at int) int {
	for at < len(line) {
		i := bytes.IndexByte(line[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		switch {
		case at+1 == len(line) || line[at+1] == '\t':
			return at
		case line[at+1] == '"':
			at += 2
		default:
			at++ // a stray quote within a quoted field
		}
	}
	return -1
}

// Unquote removes the quotes of fields in place.
func Unquote(fields [][]byte) [][]byte {
	for i, f := range fields {
		if len(f) < 2 || f[0] != '"' {
			continue
		}
		in, out := f[1:len(f)-1], f[1:1]
		for k := 0; k < len(in); k++ {
			if in[k] == '"' && k+1 < len(in) && in[k+1] == '"' {
				k++
			}
			out = append(out, in[k])
		}
		fields[i] = out
	}
	return fields
}

// AppendText appends a text field. A field that would break the row is quoted
// as RFC 4180 says, which any CSV reader with tab as its delimiter undoes.
// NUL has no place in a text file and becomes U+FFFD.
func AppendText(b []byte, s string) []byte {
	n := len(b)
	if b = append(b, s...); isPlain(b[n:]) {
		return b
	}
	b = b[:n]
	if !strings.ContainsAny(s, "\t\n\r\"") {
		return append(b, strings.ReplaceAll(s, "\x00", "\uFFFD")...)
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			b = append(b, '"', '"')
		case 0:
			b = append(b, "\uFFFD"...)
		default:
			b = append(b, s[i])
		}
	}
	return append(b, '"')
}

// isPlain reports whether a field certainly needs no quotes. It may return false
// because of other control characters; AppendText then checks again.
func isPlain(b []byte) bool {
	n := len(b)
	if n < 8 {
		for _, c := range b {
			if c < 14 || c == '"' {
				return false
			}
		}
		return true
	}
	// The last eight overlap those before.
	found := needsQuotes(binary.LittleEndian.Uint64(b[n-8:]))
	for i := 0; i < n-8; i += 8 {
		found |= needsQuotes(binary.LittleEndian.Uint64(b[i:]))
	}
	return found == 0
}

// needsQuotes is 0 if none of eight bytes is a quote or below 14.
func needsQuotes(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := x ^ ones*'"'
	return ((x-ones*14)&^x | (quote-ones)&^quote) & highs
}
