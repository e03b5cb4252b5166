package oplog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
	"unsafe"
)

// A sortRow is a record on its way through a merge. Rows are ordered by start
// and then by body, which holds everything else that the row says about its
// request: so the order does not depend on which input came first.
type sortRow struct {
	start  int64
	source uint32 // whose row it is; not part of the order
	body   []byte
	kinds  *kindTable // of which the body has a number; nil where a test has made the body
}

func (a *sortRow) compare(b *sortRow) int {
	switch {
	case a.start < b.start:
		return -1
	case a.start > b.start:
		return 1
	}
	if a.kinds == nil || bytes.Equal(a.body, b.body) {
		return bytes.Compare(a.body, b.body)
	}
	return a.kinds.compare(a, b)
}

// keep makes a a copy of b, which is valid for longer.
func (a *sortRow) keep(b *sortRow) {
	a.start, a.body, a.kinds = b.start, append(a.body[:0], b.body...), b.kinds
}

// appendBody encodes all of r but its start and its run.
func appendBody(b []byte, r *Record) []byte {
	for _, n := range [...]uint64{uint64(r.Thread), r.Statement.number(), uint64(r.Duration), uint64(r.Objects), uint64(r.Bytes),
		uint64(r.FirstByte), uint64(r.LastByte), uint64(r.Status), uint64(r.Retries), uint64(r.Requests), r.Category} {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendVarint(b, r.Due)
	b = r.Phases.appendBody(b)
	for _, s := range [...]string{r.Op, r.Client, r.Endpoint, r.Key, r.Err} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// number is one for warm-up and the rest of a statement.
func (s Statement) number() uint64 {
	n := uint64(s.Number) << 1
	if s.WarmUp {
		n++
	}
	return n
}

var errSpill = errors.New("a temporary file of the merge is damaged")

// A bodyReader decodes what appendBody made.
type bodyReader struct {
	b   []byte
	bad bool
}

func (d *bodyReader) uint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *bodyReader) text() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

// appendBody writes 0 where there are no phases.
func (p *Phases) appendBody(b []byte) []byte {
	if p == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	for _, d := range p {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

func (d *bodyReader) phases() *Phases {
	if d.uint() == 0 {
		return nil
	}
	p := new(Phases)
	for i := range p {
		p[i] = time.Duration(d.uint())
	}
	return p
}

// A rowDecoder makes records of rows again. Its strings are interned, except keys.
type rowDecoder struct {
	op, client, endpoint, err interner

	lendKeys bool // keys of records are valid as long as the row is
}

// decode also says what kind of row it is, if that has a number.
func (x *rowDecoder) decode(row *sortRow, r *Record) (*knownKind, error) {
	if k, key := row.kinds.decode(row, r); k != nil {
		r.Key = x.key(key)
		return k, nil
	}
	d := bodyReader{b: row.body[1:]}
	*r = Record{Start: row.start}
	r.Thread = uint32(d.uint())
	statement := d.uint()
	r.Statement = Statement{uint16(statement >> 1), statement&1 == 1}
	r.Duration = time.Duration(d.uint())
	r.Objects = int(d.uint())
	r.Bytes = int64(d.uint())
	r.FirstByte = time.Duration(d.uint())
	r.LastByte = time.Duration(d.uint())
	r.Status = uint16(d.uint())
	r.Retries = uint16(d.uint())
	r.Requests = uint16(d.uint())
	r.Category = d.uint()
	due, size := binary.Varint(d.b)
	if size <= 0 {
		return nil, errSpill
	}
	r.Due, d.b = due, d.b[size:]
	r.Phases = d.phases()
	r.Op = x.op.get(d.text())
	r.Client = x.client.get(d.text())
	r.Endpoint = x.endpoint.get(d.text())
	r.Key = x.key(d.text())
	r.Err = x.err.get(d.text())
	if d.bad {
		return nil, errSpill
	}
	return nil, nil
}

func (x *rowDecoder) key(b []byte) string {
	if x.lendKeys {
		return asString(b)
	}
	return string(b)
}

// asString is b without a copy, for as long as b does not change. Nearly all
// that a merge would allocate are keys.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
