package oplog

import (
	"bytes"
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
	recent := &t.recent[kindHash(r)%kindSlots]
	if int(*recent) >= len(t.kinds) || !t.kinds[*recent].of(r) {
		k := kindOf(r)
		n, ok := t.numbers[k]
		if !ok {
			if n, ok = t.add(k); !ok {
				return false
			}
		}
		*recent = n
	}
	t.last = *recent
	return true
}

func (t *kindTable) add(k kind) (n uint16, ok bool) {
	size := len(k.op) + len(k.client) + len(k.endpoint) + len(k.err)
	if len(t.kinds) >= maxKinds || t.size+size > maxKindsSize {
		return 0, false
	}
	t.size += size
	if t.numbers == nil {
		t.numbers = map[kind]uint16{}
	}
	n = uint16(len(t.kinds))
	t.numbers[k] = n
	t.kinds = append(t.kinds, &knownKind{kind: k})
	return n, true
}

// decode makes a record of a body with a number, all but its key, and returns no kind for another one.
func (t *kindTable) decode(row *sortRow, r *Record) (k *knownKind, key []byte) {
	f := row.body
	if f[0] == 0 {
		return nil, nil
	}
	e := binary.LittleEndian
	k = t.kinds[e.Uint16(f[atKind:])]
	*r = Record{
		Start:     row.start,
		Thread:    uint32(e.Uint16(f[atThread:])),
		Bytes:     int64(e.Uint32(f[atBytes:])),
		Duration:  time.Duration(e.Uint32(f[atDuration:])),
		FirstByte: time.Duration(e.Uint32(f[atFirstByte:])),
		LastByte:  time.Duration(e.Uint32(f[atLastByte:])),
		Op:        k.op,
		Client:    k.client,
		Endpoint:  k.endpoint,
		Err:       k.err,
		Objects:   k.objects,
		Category:  k.category,
		Status:    k.status,
		Retries:   k.retries,
		Requests:  k.requests,
		Statement: k.statement,
	}
	key = f[fixedSize:]
	if f[0]&dueBody != 0 {
		r.Due, key = int64(e.Uint64(key)), key[8:]
	}
	return k, key
}

// has says whether a body that was in a file can be decoded.
func (t *kindTable) has(f []byte) bool {
	if len(f) == 0 || f[0] == 0 {
		return len(f) > 0
	}
	if len(f) < fixedSize || f[0]&dueBody != 0 && len(f) < fixedSize+8 {
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

// compare orders rows that start together. Their threads come first, so these
// mostly decide.
func (t *kindTable) compare(a, b *sortRow) int {
	t.a = binary.AppendUvarint(t.a[:0], uint64(a.thread()))
	t.b = binary.AppendUvarint(t.b[:0], uint64(b.thread()))
	if c := bytes.Compare(t.a, t.b); c != 0 {
		return c
	}
	t.a, t.b = t.appendFull(t.a[:0], a), t.appendFull(t.b[:0], b)
	return bytes.Compare(t.a, t.b)
}
