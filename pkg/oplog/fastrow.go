package oplog

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// A layout is an order of columns that fastRow knows.
type layout uint8

const (
	otherLayout layout = iota
	documented         // what every implementation writes
	extended           // with the columns of ours after these
	scripted           // and with that of scripts as well
)

// layoutOf recognises the first line of a log.
func layoutOf(names string) layout {
	switch common, _, _ := strings.Cut(columns, "\tsched"); names {
	case columns:
		return extended
	case columns + statementColumn:
		return scripted
	case common:
		return documented
	}
	return otherLayout
}

// fastRoom is how much text there has to be where a field begins, so that its
// first bytes can be looked at without asking for each. It is a time and its
// separator, or eight bytes more than a short number.
const fastRoom = 40

// unusual is the place behind a field that is not like those of nearly all
// rows. It is behind the end of all text: what is read there is unusual, too,
// so that only the last place of a row needs to be looked at.
const unusual = math.MaxInt / 2

// fastRow reads the next line if it is as those of benchmarks are: columns in
// their usual order, no quotes, mostly names that the line before had as well
// and times of the same second. It goes through the line once, where parseRow first
// looks for its end, then for quotes, then for tabs.
//
// It accepts nothing that parseRow would refuse or read otherwise. Where it
// returns false nothing has happened, and parseRow decides: about lines that
// are unusual, wrong, or not wholly in the buffer.
func (r *Reader) fastRow(rec *Record) bool {
	if r.layout == otherLayout || r.pending {
		return false
	}
	b := r.lines.buf[r.lines.pos:r.lines.end]
	_, at := fastNumber(b, 0, '\t') // idx
	thread, at := fastNumber(b, at, '\t')
	op, at := r.ops.fast(b, at)
	client, at := r.clients.fast(b, at)
	objects, at := fastNumber(b, at, '\t')
	bytes, at := fastNumber(b, at, '\t')
	endpoint, at := r.endpoints.fast(b, at)
	key := at
	at = fastText(b, at)
	keyEnd := at - 1
	errText, at := r.errs.fast(b, at)
	at = r.fastTimes(b, at)
	var due int64
	var category, status, retries, requests uint64
	var statement Statement
	var phases *Phases
	end := unusual
	if r.layout == documented {
		category, end = fastOptional(b, at, '\n')
	} else {
		category, at = fastOptional(b, at, '\t')
		due, at = r.fastTime(b, at)
		status, at = fastOptional(b, at, '\t')
		retries, at = fastOptional(b, at, '\t')
		phases, at = fastPhases(b, at)
		if r.layout == extended {
			requests, end = fastOptional(b, at, '\n')
		} else {
			requests, at = fastOptional(b, at, '\t')
			statement, end = r.statements.fast(b, at)
		}
	}
	if end == unusual || op == "" || thread > math.MaxInt32 || max(status, retries, requests) > math.MaxUint16 {
		return false
	}
	if client == "" {
		client = r.header.Client
	}
	if due == noTime {
		due = 0
	}
	*rec = Record{
		Op: op, Run: r.header.Run, Client: client, Endpoint: endpoint, Err: errText,
		Thread: uint32(thread), Statement: statement, Objects: int(objects), Bytes: int64(bytes), Start: r.row.start, Due: due,
		Status: uint16(status), Retries: uint16(retries), Requests: uint16(requests), Phases: phases, Category: category,
	}
	if !r.SkipKeys {
		r.keys = append(r.keys, b[key:keyEnd]...)
	}
	r.lines.skip(end)
	r.fast++
	return true
}

// fastTimes reads the columns from start to duration_ns into r.row.
func (r *Reader) fastTimes(b []byte, at int) int {
	t := &r.row
	t.start, at = r.fastTime(b, at)
	t.first, at = r.fastTime(b, at)
	t.last, at = r.fastTime(b, at)
	t.end, at = r.fastTime(b, at)
	duration, at := fastNumber(b, at, '\t')
	if t.start == noTime {
		return unusual
	}
	t.duration, t.hasDuration = int64(duration), true
	t.hasFirst, t.hasLast, t.hasEnd = t.first != noTime, t.last != noTime, t.end != noTime
	return at
}

// noTime stands for an empty field. No time that can be read is that early.
const noTime = math.MinInt64

// fastTime reads a time. Most have nine digits and are in UTC.
func (r *Reader) fastTime(b []byte, at int) (ns int64, next int) {
	if at > len(b)-fastRoom {
		return 0, unusual
	}
	f := b[at : at+fastRoom]
	if f[0] == '\t' {
		return noTime, at + 1
	}
	if ns, ok := r.time.near(f); ok && f[timeLength] == '\t' {
		return ns, at + timeLength + 1
	}
	next = fastText(b, at)
	if next == unusual {
		return 0, unusual
	}
	ns, ok := r.time.parseAny(b[at : next-1])
	if !ok {
		return 0, unusual
	}
	return ns, next
}

// fastNumber reads a number of up to eight digits.
func fastNumber(b []byte, at int, sep byte) (v uint64, next int) {
	if at > len(b)-fastRoom {
		return 0, unusual
	}
	b = b[at : at+fastRoom]
	if b[1] == sep && b[0]-'0' <= 9 {
		return uint64(b[0] - '0'), at + 2
	}
	v, n := shortNumber(b)
	if n > 0 && b[n] == sep {
		return v, at + n + 1
	}
	return longNumber(b, at, sep)
}

// fastOptional is fastNumber for a column that may be empty.
func fastOptional(b []byte, at int, sep byte) (v uint64, next int) {
	if at < len(b) && b[at] == sep {
		return 0, at + 1
	}
	return fastNumber(b, at, sep)
}

// longNumber reads one of up to 18 digits, which cannot overflow.
func longNumber(b []byte, at int, sep byte) (v uint64, next int) {
	for i, c := range b[:19] {
		if c == sep && i > 0 {
			return v, at + i + 1
		}
		if c-'0' > 9 {
			break
		}
		v = v*10 + uint64(c-'0')
	}
	return 0, unusual
}

// shortNumber parses the digits at the beginning of b, eight at most, and says
// how many there are. They are looked at together, because how many there are
// is what a processor cannot guess.
func shortNumber(b []byte) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // digits are 0 to 9 now
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) >> 3
	return joinDigits(x << (64 - 8*n)), n
}

// fastText finds the end of a field that has nothing in it that needs care: no
// quote and no NUL.
func fastText(b []byte, at int) (next int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at <= len(b)-fastRoom; at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote := x ^ ones*'"'
		// Control characters up to carriage return, or a quote. The first of
		// those that are marked is marked rightly.
		found := ((x-ones*14) & ^x | (quote-ones) & ^quote) & highs
		if found == 0 {
			continue
		}
		at += bits.TrailingZeros64(found) >> 3
		if b[at] == '\t' {
			return at + 1
		}
		return unusual
	}
	return unusual
}

// fast reads a name, which mostly is the one of the line before.
func (n *interner) fast(b []byte, at int) (name string, next int) {
	if at > len(b)-fastRoom-len(n.last) {
		return "", unusual
	}
	end := at + len(n.last)
	if b[end] == '\t' && string(b[at:end]) == n.last {
		return n.last, end + 1
	}
	next = fastText(b, at)
	if next == unusual {
		return "", unusual
	}
	return n.get(b[at : next-1]), next
}

// fast reads the last column of a script's log, which mostly is that of the line before.
func (p *statements) fast(b []byte, at int) (s Statement, next int) {
	if at > len(b)-fastRoom {
		return s, unusual
	}
	n := bytes.IndexByte(b[at:at+fastRoom], '\n')
	if n < 0 {
		return s, unusual
	}
	s, ok := p.parse(b[at : at+n])
	if !ok {
		return s, unusual
	}
	return s, at + n + 1
}
