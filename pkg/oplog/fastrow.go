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
	seen := r.seenAt(b, at)
	at = r.fastHead(b, at, seen)
	bytes, at := fastNumber(b, at, '\t')
	endpoint, at := r.endpoints.fast(b, at)
	key := at
	at = fastText(b, at)
	keyEnd := at - 1
	errText, at := r.errs.fast(b, at)
	at = r.fastTimes(b, at)
	r.due, r.phases = 0, nil
	end := r.fastTail(b, at, seen)
	if end == unusual || thread > math.MaxInt32 {
		return false
	}
	*rec = Record{
		Op: seen.op, Run: r.header.Run, Client: seen.client, Endpoint: endpoint, Err: errText,
		Thread: uint32(thread), Statement: seen.statement, Objects: seen.objects, Bytes: int64(bytes), Start: r.row.start, Due: r.due,
		Status: seen.status, Retries: seen.retries, Requests: seen.requests, Phases: r.phases, Category: seen.category,
	}
	if !r.SkipKeys {
		r.keys = append(r.keys, b[key:keyEnd]...)
	}
	r.lines.skip(end)
	r.fast++
	return true
}

// A seenText is what two parts of a line were lately, and what they say. Most lines of an operation have the same.
type seenText struct {
	head                      []byte // operation, client and objects
	op, client                string
	objects                   int
	tail                      []byte // all behind the duration
	statement                 Statement
	category                  uint64
	status, retries, requests uint16
}

// seenAt returns what is kept of lines with the operation at the given place. Those of an S3 benchmark differ in their
// first letters; where others do not, they take turns.
func (r *Reader) seenAt(b []byte, at int) *seenText {
	if at >= len(b) {
		return &r.seen[0]
	}
	return &r.seen[b[at]%seenSlots]
}

const (
	seenSlots = 16
	maxSeen   = 64 // longer ones are not kept
)

// fastHead reads the columns from op to n_objects.
func (r *Reader) fastHead(b []byte, at int, seen *seenText) int {
	if n := len(seen.head); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(seen.head) {
		return at + n
	}
	seen.head = seen.head[:0]
	op, next := r.ops.fast(b, at)
	client, next := r.clients.fast(b, next)
	objects, next := fastNumber(b, next, '\t')
	if next == unusual || op == "" {
		return unusual
	}
	if client == "" {
		client = r.header.Client
	}
	seen.op, seen.client, seen.objects = op, client, int(objects)
	if next-at <= maxSeen {
		seen.head = append(seen.head, b[at:next]...)
	}
	return next
}

// fastTail reads the columns behind the duration.
func (r *Reader) fastTail(b []byte, at int, seen *seenText) (end int) {
	if n := len(seen.tail); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(seen.tail) {
		return at + n
	}
	seen.tail = seen.tail[:0]
	var status, retries, requests uint64
	seen.statement = Statement{}
	if r.layout == documented {
		seen.category, end = fastOptional(b, at, '\n')
	} else {
		seen.category, end = fastOptional(b, at, '\t')
		r.due, end = r.fastTime(b, end)
		status, end = fastOptional(b, end, '\t')
		retries, end = fastOptional(b, end, '\t')
		r.phases, end = fastPhases(b, end)
		if r.layout == extended {
			requests, end = fastOptional(b, end, '\n')
		} else {
			requests, end = fastOptional(b, end, '\t')
			seen.statement, end = r.statements.fast(b, end)
		}
	}
	if end == unusual || max(status, retries, requests) > math.MaxUint16 {
		return unusual
	}
	if r.due == noTime {
		r.due = 0
	}
	seen.status, seen.retries, seen.requests = uint16(status), uint16(retries), uint16(requests)
	if r.due == 0 && r.phases == nil && end-at <= maxSeen {
		seen.tail = append(seen.tail, b[at:end]...)
	}
	return end
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
