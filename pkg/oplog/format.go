package oplog

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// eightBytes are the digits of a number below 10^8, with leading zeros, the first one lowest: halves
// are cut into quarters, these into digits, all at once.
func eightBytes(n uint32) uint64 {
	x := uint64(n/10_000) | uint64(n%10_000)<<32
	q := x * 10_486 >> 20 & 0x0000007f0000007f // a hundredth of each
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f000f000f000f // a tenth of each
	return q | (x-10*q)<<8 | 0x3030303030303030
}

// A timeFormatter appends times as RFC 3339 in UTC, always with nine digits, so
// that a column of times sorts as text. The four times of a row mostly share
// their second, so the text of the last second is kept.
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

// isPlain says that a field needs no quotes, eight bytes at a time. It may take a control character for
// one that needs them: then appendText looks again.
func isPlain(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		quote := x ^ ones*'"'
		if ((x-ones*14)&^x|(quote-ones)&^quote)&highs != 0 {
			return false
		}
	}
	for _, c := range b {
		if c < 14 || c == '"' {
			return false
		}
	}
	return true
}

// A nameFormatter appends a text field that is mostly the one of the row
// before, which it then need not look through.
type nameFormatter struct {
	plain []byte // the last one that needed no quotes
}

func (f *nameFormatter) append(b []byte, s string) []byte {
	if s == string(f.plain) {
		return append(b, s...)
	}
	n := len(b)
	b = appendText(b, s)
	if len(b)-n == len(s) { // quotes and U+FFFD make it longer
		f.plain = append(f.plain[:0], s...)
	}
	return b
}

// appendNumber appends a number that mostly has one digit, and hardly ever more than eight.
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
	index                uint64
	op, client, endpoint nameFormatter
	time                 timeFormatter
	starts               [writtenColumns]int // of the columns in the last line; idx is the first
	statements           bool                // the log has that column
}

// append appends the line of r, with thread in place of r.Thread: a merge
// renumbers threads and everything else writes them as they are.
func (f *rowFormatter) append(b []byte, r *Record, thread uint32) []byte {
	b = appendNumber(b, f.index)
	f.index++
	b = f.column(b, colThread)
	b = appendNumber(b, uint64(thread))
	b = f.column(b, colOp)
	b = f.op.append(b, r.Op)
	b = f.column(b, colClient)
	b = f.client.append(b, r.Client)
	b = f.column(b, colObjects)
	b = appendNumber(b, uint64(r.Objects))
	b = f.column(b, colBytes)
	b = appendNumber(b, uint64(r.Bytes))
	b = f.column(b, colEndpoint)
	b = f.endpoint.append(b, r.Endpoint)
	b = f.column(b, colKey)
	b = appendText(b, r.Key)
	b = f.column(b, colErr)
	b = appendText(b, r.Err)
	b = f.appendTimes(b, r)
	b = f.column(b, colCategory)
	b = appendNumber(b, r.Category)
	b = f.column(b, colDue)
	if r.Due != 0 {
		b = f.time.append(b, r.Due)
	}
	b = f.column(b, colStatus)
	b = appendCount(b, r.Status)
	b = f.column(b, colRetries)
	b = appendNumber(b, uint64(r.Retries))
	b = f.column(b, colPhases)
	b = appendPhases(b, r.Phases)
	b = f.column(b, colRequests)
	b = appendCount(b, r.Requests)
	if f.statements {
		b = r.Statement.append(append(b, '\t'))
	}
	return append(b, '\n')
}

func (f *rowFormatter) appendTimes(b []byte, r *Record) []byte {
	b = f.column(b, colStart)
	b = f.time.append(b, r.Start)
	b = f.column(b, colFirstByte)
	if r.FirstByte != 0 {
		b = f.time.append(b, r.Start+int64(r.FirstByte))
	}
	b = f.column(b, colLastByte)
	if r.LastByte != 0 {
		b = f.time.append(b, r.Start+int64(r.LastByte))
	}
	b = f.column(b, colEnd)
	b = f.time.append(b, r.End())
	b = f.column(b, colDuration)
	return appendNumber(b, uint64(r.Duration))
}

// column begins one behind the one that stands there.
func (f *rowFormatter) column(b []byte, c column) []byte {
	b = append(b, '\t')
	f.starts[c] = len(b)
	return b
}

// appendCount leaves the field empty where 0 means that nobody knows.
func appendCount(b []byte, n uint16) []byte {
	if n == 0 {
		return b
	}
	return appendNumber(b, uint64(n))
}
