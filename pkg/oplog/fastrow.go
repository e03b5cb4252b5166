package oplog

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"warp/internal/wire"
)

// A layout is an order of columns that fastRow can read.
type layout uint8

const (
	otherLayout layout = iota
	documented         // what every implementation writes
	extended           // with our own columns after these
	scripted           // with the column of scripts as well
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

// fastRoom is how much text must follow the beginning of a field, so that its
// first bytes can be read without a check for each. It is enough for a time
// and its separator, or eight bytes more than a short number.
const fastRoom = 40

// noMatch is the place behind a field that is unlike the field of nearly all rows.
// It is behind the end of all text, where nothing matches either, so that only
// the last place of a row needs to be looked at.
const noMatch = math.MaxInt / 2

// fastRow reads the next line if it is a usual one: columns in their usual
// order, no quotes, mostly the names of the line before and times of the same
// second. It goes through the line once; parseRow first looks for its end, then
// for quotes, then for tabs.
//
// It accepts nothing that parseRow would refuse or read otherwise. If it
// returns false it has changed nothing, and parseRow decides: about lines that
// are unusual, wrong, or not wholly in the buffer.
func (r *Reader) fastRow(rec *Record) bool {
	if r.layout == otherLayout || r.pending {
		return false
	}
	b := r.lines.buf[r.lines.pos:r.lines.end]
	number, at := fastNumber(b, 0, '\t')
	thread, at := fastNumber(b, at, '\t')
	tpl := r.template(b, at)
	*rec = Record{Run: r.header.Run, Thread: uint32(thread)}
	at = r.fastHead(b, at, tpl)
	key := r.fastHost(b, at, tpl, rec)
	at = fastText(b, key)
	keyEnd := at - 1
	rec.Err, at = fastName(&r.errs, b, at)
	at = r.fastTimes(b, at)
	end := r.fastTail(b, at, tpl, rec)
	if end == noMatch || thread > math.MaxInt32 {
		return false
	}
	rec.Op, rec.Client, rec.Objects, rec.Start = tpl.op, tpl.client, tpl.objects, r.row.start
	rec.Key = r.key(b[key:keyEnd])
	r.row.number, r.row.numbered = number, true
	r.lines.skip(end)
	r.fast++
	return true
}

// A rowTemplate is the text of three parts of the last row of an operation, and
// their values. Most rows of an operation have the same.
type rowTemplate struct {
	head       []byte // op, client_id and n_objects
	op, client string
	objects    int
	host       []byte // bytes and endpoint, if the row before had the same
	bytes      int64
	endpoint   string
	tail       []byte // all after duration_ns
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

// template returns the template for the operation at the given place. The
// operations of S3 differ in their first letters; others may share a template.
func (r *Reader) template(b []byte, at int) *rowTemplate {
	if at >= len(b) {
		return &r.templates[0]
	}
	return &r.templates[b[at]%templateSlots]
}

const (
	templateSlots = 16
	maxTemplate   = 64 // bytes of a part; longer ones are not kept
)

// fastHead reads the columns from op to n_objects.
func (r *Reader) fastHead(b []byte, at int, tpl *rowTemplate) int {
	if n := len(tpl.head); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(tpl.head) {
		return at + n
	}
	tpl.head = tpl.head[:0]
	op, next := fastName(&r.ops, b, at)
	client, next := fastName(&r.clients, b, next)
	objects, next := fastNumber(b, next, '\t')
	if next == noMatch || op == "" {
		return noMatch
	}
	if client == "" {
		client = r.header.Client
	}
	tpl.op, tpl.client, tpl.objects = op, client, int(objects)
	if next-at <= maxTemplate {
		tpl.head = append(tpl.head, b[at:next]...)
	}
	return next
}

// fastHost reads the columns bytes and endpoint.
func (r *Reader) fastHost(b []byte, at int, tpl *rowTemplate, rec *Record) int {
	if n := len(tpl.host); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(tpl.host) {
		rec.Bytes, rec.Endpoint = tpl.bytes, tpl.endpoint
		return at + n
	}
	bytes, next := fastNumber(b, at, '\t')
	rec.Bytes = int64(bytes)
	rec.Endpoint, next = fastName(&r.endpoints, b, next)
	tpl.host = tpl.host[:0]
	if next == noMatch || next-at > maxTemplate {
		return next
	}
	if rec.Bytes == tpl.bytes && rec.Endpoint == tpl.endpoint {
		tpl.host = append(tpl.host, b[at:next]...)
	}
	tpl.bytes, tpl.endpoint = rec.Bytes, rec.Endpoint
	return next
}

// fastTail reads the columns after duration_ns.
func (r *Reader) fastTail(b []byte, at int, tpl *rowTemplate, rec *Record) (end int) {
	if n := len(tpl.tail); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(tpl.tail) {
		tpl.tailValues.set(rec)
		return at + n
	}
	tpl.tail = tpl.tail[:0]
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
	tpl.tailValues = v
	v.set(rec)
	if rec.Due == 0 && rec.Phases == nil && end-at <= maxTemplate {
		tpl.tail = append(tpl.tail, b[at:end]...)
	}
	return end
}

// fastTimes reads the columns from start to duration_ns into r.row. Most times
// have nine digits and are in UTC, in the second of the time before; this is
// timeParser.parseSameSecond, inlined.
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

// noTime is the value of an empty field. No time that can be read is that early.
const noTime = math.MinInt64

// fastTime reads a time that most rows do not have.
func (r *Reader) fastTime(b []byte, at int) (ns int64, next int) {
	if at > len(b)-fastRoom {
		return 0, noMatch
	}
	f := b[at : at+fastRoom]
	if f[0] == '\t' {
		return noTime, at + 1
	}
	if ns, ok := r.time.parseSameSecond(f); ok && f[timeLength] == '\t' {
		return ns, at + timeLength + 1
	}
	return r.parseAnyTime(b, at)
}

// parseAnyTime reads a time however it is written.
func (r *Reader) parseAnyTime(b []byte, at int) (ns int64, next int) {
	if ns, n := r.time.parseSameSecondShort(b[at : at+fastRoom]); n > 0 {
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

// shortNumber parses the digits at the beginning of b, eight at most, and
// returns how many there are. It looks at all of them together, since a
// processor cannot predict their number.
func shortNumber(b []byte) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // digits are 0 to 9 now
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) >> 3
	return joinDigits(x << (64 - 8*n)), n
}

// fastText finds the end of a field without quotes and NULs.
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

// fastName reads a name, mostly the one of the row before.
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

// fast reads the last column of a script's log, mostly the statement of the row before.
func (p *statementParser) fast(b []byte, at int) (s Statement, next int) {
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
