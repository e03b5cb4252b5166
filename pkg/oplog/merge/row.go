package merge

import (
	"encoding/binary"
	"time"

	"warp/internal/extsort"
	"warp/internal/wire"
	"warp/pkg/oplog"
)

// A row is a record during a merge. Rows are ordered by start and then by body, which contains everything else about the
// request, so the order does not depend on the order of the inputs. Its source is the index of its inputClient.
type row = extsort.Row

// threadOf decodes only the thread.
func threadOf(r *row) uint32 {
	d := wire.NewReader(r.Body)
	return uint32(d.Uint())
}

// appendBody encodes all of r except its start and its run.
func appendBody(b []byte, r *oplog.Record) []byte {
	for _, n := range [...]uint64{uint64(r.Thread), statementNumber(r.Statement), uint64(r.Duration), uint64(r.Objects), uint64(r.Bytes),
		uint64(r.FirstByte), uint64(r.LastByte), uint64(r.Status), uint64(r.Retries), uint64(r.Requests), r.Category, uint64(r.ClientTime)} {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendVarint(b, r.Due)
	b = appendPhases(b, r.Phases)
	for _, s := range [...]string{r.Op, r.Client, r.Endpoint, r.Key, r.Err} {
		b = wire.AppendText(b, s)
	}
	return appendCheck(b, r.Check)
}

// statementNumber returns different numbers for the warm-up and the rest of a statement.
func statementNumber(s oplog.Statement) uint64 {
	n := uint64(s.Number) << 1
	if s.WarmUp {
		n++
	}
	return n
}

// appendPhases writes 0 if there are no phases.
func appendPhases(b []byte, p *oplog.Phases) []byte {
	if p == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	for _, d := range p {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

// appendCheck writes 0 if there is no check.
func appendCheck(b []byte, c *oplog.Check) []byte {
	if c == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	for _, s := range [...]string{c.Property, c.Outcome, c.Condition, c.Sent, c.Received} {
		b = wire.AppendText(b, s)
	}
	return b
}

// maxBody is larger than any row of a log.
const maxBody = 4 << 20

// A rowDecoder decodes rows into records. It interns their strings, except keys.
type rowDecoder struct {
	op, client, endpoint, err wire.Interner
	property, outcome         wire.Interner
}

// decode undoes appendBody.
func (x *rowDecoder) decode(row *row, r *oplog.Record) error {
	d := wire.NewReader(row.Body)
	*r = oplog.Record{Start: row.At}
	r.Thread = uint32(d.Uint())
	statement := d.Uint()
	r.Statement = oplog.Statement{Number: uint16(statement >> 1), WarmUp: statement&1 == 1}
	r.Duration = time.Duration(d.Uint())
	r.Objects = int(d.Uint())
	r.Bytes = int64(d.Uint())
	r.FirstByte = time.Duration(d.Uint())
	r.LastByte = time.Duration(d.Uint())
	r.Status = uint16(d.Uint())
	r.Retries = uint16(d.Uint())
	r.Requests = uint16(d.Uint())
	r.Category = d.Uint()
	r.ClientTime = time.Duration(d.Uint())
	r.Due = d.Int()
	if d.Uint() > 0 {
		r.Phases = new(oplog.Phases)
		for i := range r.Phases {
			r.Phases[i] = time.Duration(d.Uint())
		}
	}
	text := func() []byte { return d.Bytes(d.Length(maxBody)) }
	r.Op = x.op.Get(text())
	r.Client = x.client.Get(text())
	r.Endpoint = x.endpoint.Get(text())
	r.Key = string(text())
	r.Err = x.err.Get(text())
	if d.Uint() > 0 {
		r.Check = &oplog.Check{Property: x.property.Get(text()), Outcome: x.outcome.Get(text()),
			Condition: string(text()), Sent: string(text()), Received: string(text())}
	}
	if d.Bad {
		return extsort.ErrDamaged
	}
	return nil
}
