package oplog

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// A timeFormatter appends times as RFC 3339 in UTC, always with nine digits, so
// that a column of times sorts as text. The four times of a row mostly share
// their second, so the text of the last second is kept.
type timeFormatter struct {
	second int64
	text   []byte // "2006-01-02T15:04:05."
}

func (f *timeFormatter) append(b []byte, ns int64) []byte {
	second := ns / 1e9
	frac := ns - second*1e9
	if frac < 0 {
		second--
		frac += 1e9
	}
	if second != f.second || len(f.text) == 0 {
		f.second = second
		f.text = time.Unix(second, 0).UTC().AppendFormat(f.text[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, f.text...)
	u := uint32(frac)
	hi := u / 100_000_000
	u -= hi * 100_000_000
	top, low := u/10_000, u%10_000
	p, q, r, s := top/100*2, top%100*2, low/100*2, low%100*2
	return append(b, byte('0'+hi),
		digitPairs[p], digitPairs[p+1], digitPairs[q], digitPairs[q+1],
		digitPairs[r], digitPairs[r+1], digitPairs[s], digitPairs[s+1], 'Z')
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

// appendNumber appends a number that mostly has one digit.
func appendNumber(b []byte, n uint64) []byte {
	if n < 10 {
		return append(b, byte('0'+n))
	}
	return strconv.AppendUint(b, n, 10)
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
	b = strconv.AppendUint(b, f.index, 10)
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
	b = strconv.AppendInt(b, r.Bytes, 10)
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
	return strconv.AppendInt(b, int64(r.Duration), 10)
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
