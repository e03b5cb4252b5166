package oplog

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"warp/internal/wire"
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

// noMatch is the place behind a field that is unlike those of nearly all rows.
// It is behind the end of all text, where nothing matches either, so that only
// the last place of a row needs to be looked at.
const noMatch = math.MaxInt / 2

// fastRow reads the next line if it is like those of benchmarks: columns in
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
	at := skipNumber(b) // idx
	thread, at := fastNumber(b, at, '\t')
	seen := r.seenAt(b, at)
	*rec = Record{Run: r.header.Run, Thread: uint32(thread)}
	at = r.fastHead(b, at, seen)
	key := r.fastPlace(b, at, seen, rec)
	at = fastText(b, key)
	keyEnd := at - 1
	rec.Err, at = fastName(&r.errs, b, at)
	at = r.fastTimes(b, at)
	end := r.fastTail(b, at, seen, rec)
	if end == noMatch || thread > math.MaxInt32 {
		return false
	}
	rec.Op, rec.Client, rec.Objects, rec.Start = seen.op, seen.client, seen.objects, r.row.start
	if !r.SkipKeys {
		r.keys = append(r.keys, b[key:keyEnd]...)
	}
	r.lines.skip(end)
	r.fast++
	return true
}

// A seenText is what three parts of a line were lately, and what they say. Most lines of an operation have the same.
type seenText struct {
	head       []byte // operation, client and objects
	op, client string
	objects    int
	place      []byte // size and endpoint, if the line before had the same
	bytes      int64
	endpoint   string
	tail       []byte // all behind the duration
	tailValues
}

type tailValues struct {
	statement                 Statement
	category                  uint64
	status, retries, requests uint16
}

func (v *tailValues) set(rec *Record) {
	rec.Statement, rec.Category, rec.Status, rec.Retries, rec.Requests = v.statement, v.category, v.status, v.retries, v.requests
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
	op, next := fastName(&r.ops, b, at)
	client, next := fastName(&r.clients, b, next)
	objects, next := fastNumber(b, next, '\t')
	if next == noMatch || op == "" {
		return noMatch
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

// fastPlace reads size and endpoint.
func (r *Reader) fastPlace(b []byte, at int, seen *seenText, rec *Record) int {
	if n := len(seen.place); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(seen.place) {
		rec.Bytes, rec.Endpoint = seen.bytes, seen.endpoint
		return at + n
	}
	bytes, next := fastNumber(b, at, '\t')
	rec.Bytes = int64(bytes)
	rec.Endpoint, next = fastName(&r.endpoints, b, next)
	seen.place = seen.place[:0]
	if next == noMatch || next-at > maxSeen {
		return next
	}
	if rec.Bytes == seen.bytes && rec.Endpoint == seen.endpoint {
		seen.place = append(seen.place, b[at:next]...)
	}
	seen.bytes, seen.endpoint = rec.Bytes, rec.Endpoint
	return next
}

// fastTail reads the columns behind the duration.
func (r *Reader) fastTail(b []byte, at int, seen *seenText, rec *Record) (end int) {
	if n := len(seen.tail); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(seen.tail) {
		seen.tailValues.set(rec)
		return at + n
	}
	seen.tail = seen.tail[:0]
	var v tailValues
	var status, retries, requests uint64
	if r.layout == documented {
		v.category, end = fastOptional(b, at, '\n')
	} else {
		v.category, end = fastOptional(b, at, '\t')
		rec.Due, end = r.fastTime(b, end)
		status, end = fastOptional(b, end, '\t')
		retries, end = fastOptional(b, end, '\t')
		rec.Phases, end = fastPhases(b, end)
		if r.layout == extended {
			requests, end = fastOptional(b, end, '\n')
		} else {
			requests, end = fastOptional(b, end, '\t')
			v.statement, end = r.statements.fast(b, end)
		}
	}
	if end == noMatch || max(status, retries, requests) > math.MaxUint16 {
		return noMatch
	}
	if rec.Due == noTime {
		rec.Due = 0
	}
	v.status, v.retries, v.requests = uint16(status), uint16(retries), uint16(requests)
	seen.tailValues = v
	v.set(rec)
	if rec.Due == 0 && rec.Phases == nil && end-at <= maxSeen {
		seen.tail = append(seen.tail, b[at:end]...)
	}
	return end
}

// fastTimes reads the columns from start to duration_ns into r.row. Most times have nine digits and are in UTC, in the
// second of the one before, which is looked at here as timeParser.near does.
func (r *Reader) fastTimes(b []byte, at int) int {
	t, p := &r.row, &r.time
	var times [4]int64
	for i := range times {
		if at > len(b)-fastRoom {
			return noMatch
		}
		f := b[at : at+fastRoom]
		if f[0] == '\t' {
			times[i] = noTime
			at++
			continue
		}
		e := binary.LittleEndian
		frac, ok := eightDigits(f[20:])
		if last := f[28] - '0'; ok && last <= 9 && e.Uint16(f[29:]) == 'Z'|'\t'<<8 &&
			e.Uint64(f) == p.words[0] && e.Uint64(f[8:]) == p.words[1] && e.Uint32(f[16:]) == uint32(p.words[2]) && p.words[0] != 0 {
			times[i] = p.nanos + int64(frac)*10 + int64(last)
			at += timeLength + 1
			continue
		}
		times[i], at = r.parseAnyTime(b, at)
	}
	duration, at := fastNumber(b, at, '\t')
	t.start, t.first, t.last, t.end = times[0], times[1], times[2], times[3]
	if t.start == noTime {
		return noMatch
	}
	t.duration, t.hasDuration = int64(duration), true
	t.hasFirst, t.hasLast, t.hasEnd = t.first != noTime, t.last != noTime, t.end != noTime
	return at
}

// noTime stands for an empty field. No time that can be read is that early.
const noTime = math.MinInt64

// fastTime reads a time that mostly is not there.
func (r *Reader) fastTime(b []byte, at int) (ns int64, next int) {
	if at > len(b)-fastRoom {
		return 0, noMatch
	}
	f := b[at : at+fastRoom]
	if f[0] == '\t' {
		return noTime, at + 1
	}
	if ns, ok := r.time.near(f); ok && f[timeLength] == '\t' {
		return ns, at + timeLength + 1
	}
	return r.parseAnyTime(b, at)
}

// parseAnyTime reads a time however it is written.
func (r *Reader) parseAnyTime(b []byte, at int) (ns int64, next int) {
	if ns, n := r.time.nearShort(b[at : at+fastRoom]); n > 0 {
		return ns, at + n
	}
	next = fastText(b, at)
	if next == noMatch {
		return 0, noMatch
	}
	ns, ok := r.time.parseAny(b[at : next-1])
	if !ok {
		return 0, noMatch
	}
	return ns, next
}

// fastNumber reads a number of up to eight digits.
func fastNumber(b []byte, at int, sep byte) (v uint64, next int) {
	if at > len(b)-fastRoom {
		return 0, noMatch
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

// skipNumber goes behind a number of up to seven digits at the begin and its tab, or of more.
func skipNumber(b []byte) (next int) {
	if len(b) < fastRoom {
		return noMatch
	}
	if _, n := shortNumber(b); n > 0 && b[n] == '\t' {
		return n + 1
	}
	_, next = longNumber(b, 0, '\t')
	return next
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
	return 0, noMatch
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
		return noMatch
	}
	return noMatch
}

// fastName reads a name, which mostly is the one of the line before.
func fastName(names *wire.Interner, b []byte, at int) (name string, next int) {
	last := names.Last()
	if at > len(b)-fastRoom-len(last) {
		return "", noMatch
	}
	end := at + len(last)
	if b[end] == '\t' && string(b[at:end]) == last {
		return last, end + 1
	}
	next = fastText(b, at)
	if next == noMatch {
		return "", noMatch
	}
	return names.Get(b[at : next-1]), next
}

// fast reads the last column of a script's log, which mostly is that of the line before.
func (p *statements) fast(b []byte, at int) (s Statement, next int) {
	if at > len(b)-fastRoom {
		return s, noMatch
	}
	n := bytes.IndexByte(b[at:at+fastRoom], '\n')
	if n < 0 {
		return s, noMatch
	}
	s, ok := p.parse(b[at : at+n])
	if !ok {
		return s, noMatch
	}
	return s, at + n + 1
}
