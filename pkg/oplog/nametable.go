package oplog

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// A nameTable numbers the names of a merge, which are few, so that a row on
// its way has numbers in fixed places instead. That is short enough to leave it
// uncompressed, and read by a few loads. What does not fit, or comes when the
// table is full, is left as appendBody makes it.
type nameTable struct {
	numbers map[string]uint16
	names   []string
	size    int               // of the names
	last    [tabled]nameEntry // most rows have those of the row before
	a, b    []byte            // for compare
}

type nameEntry struct {
	name   string
	number uint16
}

const (
	tabled       = 4       // columns with names: operation, client, endpoint, error
	maxNames     = 1 << 12 // what a log of made-up names can put into the table
	maxNamesSize = 1 << 20
)

// The first byte of a body is 0 before one of appendBody. Otherwise it has
// these bits, and what follows is in the places below.
const (
	fixedBody = 1 << iota
	warmUpBody
	dueBody // the time when it was due follows the numbers
)

const (
	atThread    = 1
	atBytes     = 5
	atDuration  = 9
	atFirstByte = 13
	atLastByte  = 17
	atStatus    = 21
	atRequests  = 23
	atObjects   = 25
	atStatement = 27
	atNames     = 29
	fixedSize   = atNames + 2*tabled
)

// appendRow appends the body of r.
func (t *nameTable) appendRow(b []byte, r *Record) []byte {
	var n [tabled]uint16
	if !fitsFixed(r) || !t.number(0, r.Op, &n) || !t.number(1, r.Client, &n) || !t.number(2, r.Endpoint, &n) || !t.number(3, r.Err, &n) {
		return appendBody(append(b, 0), r)
	}
	var f [fixedSize]byte
	f[0] = fixedBody
	if r.Statement.WarmUp {
		f[0] |= warmUpBody
	}
	if r.Due != 0 {
		f[0] |= dueBody
	}
	e := binary.LittleEndian
	e.PutUint32(f[atThread:], r.Thread)
	e.PutUint32(f[atBytes:], uint32(r.Bytes))
	e.PutUint32(f[atDuration:], uint32(r.Duration))
	e.PutUint32(f[atFirstByte:], uint32(r.FirstByte))
	e.PutUint32(f[atLastByte:], uint32(r.LastByte))
	e.PutUint16(f[atStatus:], r.Status)
	e.PutUint16(f[atRequests:], r.Requests)
	e.PutUint16(f[atObjects:], uint16(r.Objects))
	e.PutUint16(f[atStatement:], r.Statement.Number)
	for i, n := range n {
		e.PutUint16(f[atNames+2*i:], n)
	}
	b = append(b, f[:]...)
	if r.Due != 0 {
		b = e.AppendUint64(b, uint64(r.Due))
	}
	return append(b, r.Key...)
}

func fitsFixed(r *Record) bool {
	return uint64(r.Bytes)|uint64(r.Duration)|uint64(r.FirstByte)|uint64(r.LastByte) <= math.MaxUint32 &&
		uint64(r.Objects) <= math.MaxUint16 && r.Retries == 0 && r.Category == 0 && r.Phases == nil
}

// number finds the number of a name, or gives it one.
func (t *nameTable) number(column int, name string, n *[tabled]uint16) bool {
	l := &t.last[column]
	if l.name == name && len(t.names) > 0 {
		n[column] = l.number
		return true
	}
	k, ok := t.numbers[name]
	if !ok {
		if len(t.names) == 0 {
			t.numbers, t.names = map[string]uint16{"": 0}, []string{""}
			return t.number(column, name, n)
		}
		if len(t.names) >= maxNames || t.size+len(name) > maxNamesSize {
			return false
		}
		k = uint16(len(t.names))
		t.numbers[name] = k
		t.names = append(t.names, name)
		t.size += len(name)
	}
	*l = nameEntry{name, k}
	n[column] = k
	return true
}

// decode makes a record of a body with numbers, all but its key, and returns false for another one.
func (t *nameTable) decode(row *sortRow, r *Record) (key []byte, ok bool) {
	f := row.body
	if f[0] == 0 {
		return nil, false
	}
	e := binary.LittleEndian
	*r = Record{
		Start:     row.start,
		Thread:    e.Uint32(f[atThread:]),
		Bytes:     int64(e.Uint32(f[atBytes:])),
		Duration:  time.Duration(e.Uint32(f[atDuration:])),
		FirstByte: time.Duration(e.Uint32(f[atFirstByte:])),
		LastByte:  time.Duration(e.Uint32(f[atLastByte:])),
		Status:    e.Uint16(f[atStatus:]),
		Requests:  e.Uint16(f[atRequests:]),
		Objects:   int(e.Uint16(f[atObjects:])),
		Statement: Statement{e.Uint16(f[atStatement:]), f[0]&warmUpBody != 0},
		Op:        t.names[e.Uint16(f[atNames:])],
		Client:    t.names[e.Uint16(f[atNames+2:])],
		Endpoint:  t.names[e.Uint16(f[atNames+4:])],
		Err:       t.names[e.Uint16(f[atNames+6:])],
	}
	key = f[fixedSize:]
	if f[0]&dueBody != 0 {
		r.Due, key = int64(e.Uint64(key)), key[8:]
	}
	return key, true
}

// has says whether a body that was in a file can be decoded.
func (t *nameTable) has(f []byte) bool {
	if len(f) == 0 || f[0] == 0 {
		return len(f) > 0
	}
	if len(f) < fixedSize || f[0]&dueBody != 0 && len(f) < fixedSize+8 {
		return false
	}
	e := binary.LittleEndian
	return int(max(e.Uint16(f[atNames:]), e.Uint16(f[atNames+2:]), e.Uint16(f[atNames+4:]), e.Uint16(f[atNames+6:]))) < len(t.names)
}

// thread takes the thread out of a row without decoding the rest.
func (a *sortRow) thread() uint32 {
	if a.body[0] != 0 {
		return binary.LittleEndian.Uint32(a.body[atThread:])
	}
	d := bodyReader{b: a.body[1:]}
	return uint32(d.uint())
}

// appendFull appends what appendBody makes of the row, by which rows that
// start together are ordered: numbers of names depend on who came first.
func (t *nameTable) appendFull(b []byte, row *sortRow) []byte {
	var r Record
	key, ok := t.decode(row, &r)
	if !ok {
		return append(b, row.body[1:]...)
	}
	r.Key = asString(key)
	return appendBody(b, &r)
}

// compare orders rows that start together. Their threads come first, so these
// mostly decide.
func (t *nameTable) compare(a, b *sortRow) int {
	t.a = binary.AppendUvarint(t.a[:0], uint64(a.thread()))
	t.b = binary.AppendUvarint(t.b[:0], uint64(b.thread()))
	if c := bytes.Compare(t.a, t.b); c != 0 {
		return c
	}
	t.a, t.b = t.appendFull(t.a[:0], a), t.appendFull(t.b[:0], b)
	return bytes.Compare(t.a, t.b)
}
