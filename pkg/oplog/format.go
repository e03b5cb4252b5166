package oplog

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// eightBytes returns the eight digits of a number below 10^8, the first one in
// the lowest byte. It splits halves into quarters and these into digits, all at once.
func eightBytes(n uint32) uint64 {
	x := uint64(n/10_000) | uint64(n%10_000)<<32
	q := x * 10_486 >> 20 & 0x0000007f0000007f // a hundredth of each
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f000f000f000f // a tenth of each
	return q | (x-10*q)<<8 | 0x3030303030303030
}

// A timeFormatter appends times as RFC 3339 in UTC, always with nine digits, so
// that a column of times sorts as text. The four times of a row mostly share
// their second, so it keeps the text of the last second.
type timeFormatter struct {
	second int64
	text   [timeLength]byte // of that second; 0 where there is none yet
}

func (f *timeFormatter) append(b []byte, ns int64) []byte {
	second := ns / 1e9
	frac := ns - second*1e9
	if frac < 0 {
		second--
		frac += 1e9
	}
	if second != f.second || f.text[0] == 0 {
		f.second = second
		time.Unix(second, 0).UTC().AppendFormat(f.text[:0], "2006-01-02T15:04:05.000000000Z")
	}
	b = append(b, f.text[:]...)
	digits := b[len(b)-len("999999999Z"):]
	hi := uint32(frac) / 1e8
	digits[0] = byte('0' + hi)
	binary.LittleEndian.PutUint64(digits[1:], eightBytes(uint32(frac)-hi*1e8))
	return b
}

// appendText appends a text field. A field that would break the row is quoted
// as RFC 4180 says, which any CSV reader with tab as its delimiter undoes.
// NUL has no place in a text file and becomes U+FFFD.
func appendText(b []byte, s string) []byte {
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
// because of other control characters; appendText then looks again.
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

// appendNumber is strconv.AppendUint, faster for numbers of up to eight digits.
func appendNumber(b []byte, n uint64) []byte {
	if n < 10 {
		return append(b, byte('0'+n))
	}
	if n >= 1e8 {
		return strconv.AppendUint(b, n, 10)
	}
	x := eightBytes(uint32(n))
	zeros := bits.TrailingZeros64(x^0x3030303030303030) >> 3
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, x>>(8*zeros&63))
	return b[:at+8-zeros]
}

// A rowFormatter turns records into lines.
type rowFormatter struct {
	index    uint64
	scripted bool // there is a column for the statements of a script
	time     timeFormatter
}

func (f *rowFormatter) appendColumns(b []byte) []byte {
	b = append(b, columns...)
	if f.scripted {
		b = append(b, statementColumn...)
	}
	return append(b, '\n')
}

// append appends the line of the next row.
func (f *rowFormatter) append(b []byte, r *Record) []byte {
	b = appendNumber(b, f.index)
	f.index++
	b = appendNumber(append(b, '\t'), uint64(r.Thread))
	b = appendText(append(b, '\t'), r.Op)
	b = appendText(append(b, '\t'), r.Client)
	b = appendNumber(append(b, '\t'), uint64(r.Objects))
	b = appendNumber(append(b, '\t'), uint64(r.Bytes))
	b = appendText(append(b, '\t'), r.Endpoint)
	b = appendText(append(b, '\t'), r.Key)
	b = appendText(append(b, '\t'), r.Err)
	b = f.time.append(append(b, '\t'), r.Start)
	b = f.appendOffset(append(b, '\t'), r, r.FirstByte)
	b = f.appendOffset(append(b, '\t'), r, r.LastByte)
	b = f.time.append(append(b, '\t'), r.End())
	b = appendNumber(append(b, '\t'), uint64(r.Duration))
	b = appendNumber(append(b, '\t'), r.Category)
	if b = append(b, '\t'); r.Due != 0 {
		b = f.time.append(b, r.Due)
	}
	b = appendCount(append(b, '\t'), r.Status)
	b = appendNumber(append(b, '\t'), uint64(r.Retries))
	b = appendPhases(append(b, '\t'), r.Phases)
	b = appendCount(append(b, '\t'), r.Requests)
	if f.scripted {
		b = r.Statement.append(append(b, '\t'))
	}
	return append(b, '\n')
}

// appendOffset appends the time at an offset from the start, unless that was not observed.
func (f *rowFormatter) appendOffset(b []byte, r *Record, offset time.Duration) []byte {
	if offset == 0 {
		return b
	}
	return f.time.append(b, r.Start+int64(max(offset, 0)))
}

// appendCount appends nothing for 0, which means unknown.
func appendCount(b []byte, n uint16) []byte {
	if n == 0 {
		return b
	}
	return appendNumber(b, uint64(n))
}
