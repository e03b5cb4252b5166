package oplog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"time"
)

// A kindTable numbers the kinds of rows of a merge, which are few, so that a row on its way has a number instead and
// everything else in fixed places. That is short enough to leave it uncompressed, and read by a few loads. What does
// not fit, or comes when the table is full, is left as appendBody makes it.
type kindTable struct {
	numbers map[kind]uint16
	kinds   []*knownKind
	size    int               // of their names
	last    uint16            // most rows are of the kind of the row before
	recent  [kindSlots]uint16 // by hash
	a, b    []byte            // for compare
}

// A knownKind remembers where its text was last.
type knownKind struct {
	kind
	text *kindText
	body []byte // of a row of which nothing else is known
}

const (
	maxKinds     = 1 << 12 // what a log of made-up names can put into the table
	maxKindsSize = 1 << 20
)

// The first byte of a body is 0 before one of appendBody. Otherwise it has
// these bits, and what follows is in the places below.
const (
	fixedBody = 1 << iota
	dueBody   // the time when it was due follows the numbers
)

const (
	atKind      = 1
	atThread    = 3
	atBytes     = 5
	atDuration  = 9
	atFirstByte = 13
	atLastByte  = 17
	fixedSize   = 21
)

// appendRow appends the body of r.
func (t *kindTable) appendRow(b []byte, r *Record) []byte {
	if !fitsFixed(r) || !t.find(r) {
		return appendBody(append(b, 0), r)
	}
	var f [fixedSize]byte
	f[0] = fixedBody
	if r.Due != 0 {
		f[0] |= dueBody
	}
	e := binary.LittleEndian
	e.PutUint16(f[atKind:], t.last)
	e.PutUint16(f[atThread:], uint16(r.Thread))
	e.PutUint32(f[atBytes:], uint32(r.Bytes))
	e.PutUint32(f[atDuration:], uint32(r.Duration))
	e.PutUint32(f[atFirstByte:], uint32(r.FirstByte))
	e.PutUint32(f[atLastByte:], uint32(r.LastByte))
	b = append(b, f[:]...)
	if r.Due != 0 {
		b = e.AppendUint64(b, uint64(r.Due))
	}
	return append(b, r.Key...)
}

func fitsFixed(r *Record) bool {
	return uint64(r.Bytes)|uint64(r.Duration)|uint64(r.FirstByte)|uint64(r.LastByte) <= math.MaxUint32 && r.Thread <= math.MaxUint16 && r.Phases == nil
}

// find makes the kind of r the last one, and says whether there was room for it.
func (t *kindTable) find(r *Record) bool {
	if len(t.kinds) > 0 && t.kinds[t.last].of(r) {
		return true
	}
	k := kindOf(r)
	recent := &t.recent[k.hash()%kindSlots]
	if int(*recent) >= len(t.kinds) || t.kinds[*recent].kind != k {
		n, ok := t.number(k)
		if !ok {
			return false
		}
		*recent = n
	}
	t.last = *recent
	return true
}

// number is that of a kind, which gets one if there is room.
func (t *kindTable) number(k kind) (n uint16, ok bool) {
	if n, ok = t.numbers[k]; !ok {
		return t.add(k)
	}
	return n, true
}

func (t *kindTable) add(k kind) (n uint16, ok bool) {
	if len(t.kinds) >= maxKinds || t.size+k.size() > maxKindsSize {
		return 0, false
	}
	t.size += k.size()
	if t.numbers == nil {
		t.numbers = map[kind]uint16{}
	}
	n = uint16(len(t.kinds))
	t.numbers[k] = n
	r := k.record()
	t.kinds = append(t.kinds, &knownKind{kind: k, body: appendBody(nil, &r)})
	return n, true
}

// decode makes a record of a body with a number, all but its key, and returns no kind for another one.
func (t *kindTable) decode(row *sortRow, r *Record) (k *knownKind, key []byte) {
	f := row.body
	if f[0] == 0 {
		return nil, nil
	}
	if f[0]&textBody != 0 {
		var x rowText
		t.text(row, &x)
		*r, key = x.record()
		return x.kind, key
	}
	e := binary.LittleEndian
	k = t.kinds[e.Uint16(f[atKind:])]
	*r = k.record()
	r.Start = row.start
	r.Thread = uint32(e.Uint16(f[atThread:]))
	r.Bytes = int64(e.Uint32(f[atBytes:]))
	r.Duration = time.Duration(e.Uint32(f[atDuration:]))
	r.FirstByte = time.Duration(e.Uint32(f[atFirstByte:]))
	r.LastByte = time.Duration(e.Uint32(f[atLastByte:]))
	key = f[fixedSize:]
	if f[0]&dueBody != 0 {
		r.Due, key = int64(e.Uint64(key)), key[8:]
	}
	return k, key
}

// has says whether a body that was in a file can be decoded. None has a text.
func (t *kindTable) has(f []byte) bool {
	if len(f) == 0 || f[0] == 0 {
		return len(f) > 0
	}
	if f[0]&textBody != 0 || len(f) < fixedSize || f[0]&dueBody != 0 && len(f) < fixedSize+8 {
		return false
	}
	return int(binary.LittleEndian.Uint16(f[atKind:])) < len(t.kinds)
}

// thread takes the thread out of a row without decoding the rest.
func (a *sortRow) thread() uint32 {
	if a.body[0] != 0 {
		return uint32(binary.LittleEndian.Uint16(a.body[atThread:]))
	}
	d := bodyReader{b: a.body[1:]}
	return uint32(d.uint())
}

// appendFull appends what appendBody makes of the row, by which rows that
// start together are ordered: numbers of kinds depend on what came first.
func (t *kindTable) appendFull(b []byte, row *sortRow) []byte {
	var r Record
	k, key := t.decode(row, &r)
	if k == nil {
		return append(b, row.body[1:]...)
	}
	r.Key = asString(key)
	return appendBody(b, &r)
}

// compare orders rows that start together as appendBody would, of whose order this is the beginning, which mostly decides.
func (t *kindTable) compare(a, b *sortRow) int {
	if c := compareNumbers(uint64(a.thread()), uint64(b.thread())); c != 0 {
		return c
	}
	statementA, durationA := t.order(a)
	statementB, durationB := t.order(b)
	if c := cmp.Or(compareNumbers(statementA, statementB), compareNumbers(durationA, durationB)); c != 0 {
		return c
	}
	if c, ok := t.compareKinds(a, b); ok {
		return c
	}
	t.a, t.b = t.appendFull(t.a[:0], a), t.appendFull(t.b[:0], b)
	return bytes.Compare(t.a, t.b)
}

// compareNumbers orders numbers as their encodings are.
func compareNumbers(a, b uint64) int {
	if a == b {
		return 0
	}
	var x, y [binary.MaxVarintLen64]byte
	return bytes.Compare(x[:binary.PutUvarint(x[:], a)], y[:binary.PutUvarint(y[:], b)])
}

// order is what a body says behind the thread.
func (t *kindTable) order(row *sortRow) (statement, duration uint64) {
	f, e := row.body, binary.LittleEndian
	switch {
	case f[0] == 0:
		d := bodyReader{b: f[1:]}
		d.uint() // thread
		return d.uint(), d.uint()
	case f[0]&textBody != 0:
		digit := uint64(1)
		for i := len(f) - 1; f[i] != '\t'; i-- {
			duration += uint64(f[i]-'0') * digit
			digit *= 10
		}
	default:
		duration = uint64(e.Uint32(f[atDuration:]))
	}
	return t.kinds[e.Uint16(f[atKind:])].statement.number(), duration
}

// compareKinds compares rows that differ in nothing but their kinds, as those of clients that did the same at once.
func (t *kindTable) compareKinds(a, b *sortRow) (c int, ok bool) {
	x, y := a.body, b.body
	if x[0]&textBody == 0 || x[0] != y[0] || !bytes.Equal(x[atKind+2:], y[atKind+2:]) {
		return 0, false
	}
	e := binary.LittleEndian
	return bytes.Compare(t.kinds[e.Uint16(x[atKind:])].body, t.kinds[e.Uint16(y[atKind:])].body), true
}
