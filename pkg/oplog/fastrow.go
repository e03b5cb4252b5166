package oplog

import (
	"bytes"
	"math"
	"strings"
	"time"

	"warp/internal/wire"
	"warp/pkg/oplog/field"
)

// A layout is an order of columns that fastRow can read.
type layout uint8

const (
	otherLayout layout = iota
	documented         // what every implementation writes
	earlier            // with our own columns after these, but no client_ns
	extended           // with all of them
	scripted           // with the column of scripts as well
)

// layoutOf recognises the first line of a log.
func layoutOf(names string) layout {
	switch common, _, _ := strings.Cut(columns, "\tsched"); names {
	case strings.TrimSuffix(columns, clientColumn):
		return earlier
	case columns:
		return extended
	case columns + statementColumn:
		return scripted
	case common:
		return documented
	}
	return otherLayout
}

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
	b := r.lines.Unread()
	number, at := field.NextNumber(b, 0, '\t')
	thread, at := field.NextNumber(b, at, '\t')
	tpl := r.template(b, at)
	*rec = Record{Run: r.header.Run, Thread: uint32(thread)}
	at = r.fastHead(b, at, tpl)
	key := r.fastHost(b, at, tpl, rec)
	at = field.NextText(b, key)
	keyEnd := at - 1
	rec.Err, at = fastName(&r.errs, b, at)
	at = r.fastTimes(b, at)
	end := r.fastTail(b, at, tpl, rec)
	if end == field.NoMatch || thread > math.MaxInt32 {
		return false
	}
	rec.Op, rec.Client, rec.Objects, rec.Start = tpl.op, tpl.client, tpl.objects, r.row.start
	rec.Key = r.key(b[key:keyEnd])
	r.row.number, r.row.numbered = number, true
	r.lines.Skip(end)
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
	tail       []byte // from cat to requests
	tailValues
}

type tailValues struct {
	category                  uint64
	status, retries, requests uint16
}

func (v *tailValues) set(rec *Record) {
	rec.Category, rec.Status, rec.Retries, rec.Requests = v.category, v.status, v.retries, v.requests
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
	objects, next := field.NextNumber(b, next, '\t')
	if next == field.NoMatch || op == "" {
		return field.NoMatch
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
	bytes, next := field.NextNumber(b, at, '\t')
	rec.Bytes = int64(bytes)
	rec.Endpoint, next = fastName(&r.endpoints, b, next)
	tpl.host = tpl.host[:0]
	if next == field.NoMatch || next-at > maxTemplate {
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
	end = r.fastCounts(b, at, tpl, rec)
	var clientTime uint64
	switch r.layout {
	case extended:
		clientTime, end = field.NextOptional(b, end, '\n')
	case scripted:
		clientTime, end = field.NextOptional(b, end, '\t')
		rec.Statement, end = r.statements.fast(b, end)
	}
	if clientTime > math.MaxInt64 {
		return field.NoMatch
	}
	rec.ClientTime = time.Duration(clientTime)
	return end
}

// fastCounts reads the columns from cat to requests.
func (r *Reader) fastCounts(b []byte, at int, tpl *rowTemplate, rec *Record) (end int) {
	if n := len(tpl.tail); n > 0 && at <= len(b)-n && string(b[at:at+n]) == string(tpl.tail) {
		tpl.tailValues.set(rec)
		return at + n
	}
	tpl.tail = tpl.tail[:0]
	var v tailValues
	var status, retries, requests uint64
	if r.layout == documented {
		v.category, end = field.NextOptional(b, at, '\n')
	} else {
		v.category, end = field.NextOptional(b, at, '\t')
		rec.Due, end = r.time.Next(b, end)
		status, end = field.NextOptional(b, end, '\t')
		retries, end = field.NextOptional(b, end, '\t')
		rec.Phases, end = fastPhases(b, end)
		if r.layout == earlier {
			requests, end = field.NextOptional(b, end, '\n')
		} else {
			requests, end = field.NextOptional(b, end, '\t')
		}
	}
	if end == field.NoMatch || max(status, retries, requests) > math.MaxUint16 {
		return field.NoMatch
	}
	if rec.Due == field.NoTime {
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

// fastTimes reads the columns from start to duration_ns into r.row.
func (r *Reader) fastTimes(b []byte, at int) int {
	t := &r.row
	var times [4]int64
	at = r.time.NextFour(b, at, &times)
	duration, at := field.NextNumber(b, at, '\t')
	t.start, t.first, t.last, t.end = times[0], times[1], times[2], times[3]
	if t.start == field.NoTime {
		return field.NoMatch
	}
	t.duration, t.hasDuration = int64(duration), true
	t.hasFirst, t.hasLast, t.hasEnd = t.first != field.NoTime, t.last != field.NoTime, t.end != field.NoTime
	return at
}

// fastName reads a name, mostly the one of the row before.
func fastName(names *wire.Interner, b []byte, at int) (name string, next int) {
	last := names.Last()
	if at > len(b)-field.Room-len(last) {
		return "", field.NoMatch
	}
	end := at + len(last)
	if b[end] == '\t' && string(b[at:end]) == last {
		return last, end + 1
	}
	next = field.NextText(b, at)
	if next == field.NoMatch {
		return "", field.NoMatch
	}
	return names.Get(b[at : next-1]), next
}

// fast reads the last column of a script's log, mostly the statement of the row before.
func (p *statementParser) fast(b []byte, at int) (s Statement, next int) {
	if at > len(b)-field.Room {
		return s, field.NoMatch
	}
	n := bytes.IndexByte(b[at:at+field.Room], '\n')
	if n < 0 {
		return s, field.NoMatch
	}
	s, ok := p.parse(b[at : at+n])
	if !ok {
		return s, field.NoMatch
	}
	return s, at + n + 1
}
