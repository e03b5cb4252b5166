package oplog

import (
	"encoding/binary"
	"math"
	"time"
)

// A rowText is a row of which the columns from bytes to duration_ns are text as a Writer writes it. A merge carries
// them from input to output as they are, which saves that they are decoded, formatted and taken apart.
type rowText struct {
	kind        *knownKind
	start, due  int64
	thread      uint32
	first, last bool   // these times are there
	text        []byte // begins with the tab before the first of the columns
	key, keyEnd int    // where in text the key is
}

// usualText takes the next line as text, without going on to the one behind it, and says whose it is: texts with one id
// are of the same kind, and of the same run and client as long as the header says nothing about threads.
func (r *Reader) usualText(t *rowText) (id uint32, run string, ok bool) {
	if r.done != nil || !r.fastLine() || !r.isUsual() {
		return 0, "", false
	}
	f := &r.line
	run, t.thread = r.header.Run, f.thread
	if r.origins != nil {
		o := r.origins.find(f.seen.client, f.thread)
		if o == nil {
			return 0, "", false
		}
		run, t.thread = o.Run, f.thread-o.Offset
	}
	from := f.size - 1
	t.start, t.due = r.row.start, f.due
	t.first, t.last = r.row.hasFirst, r.row.hasLast
	t.text = r.lines.buf[r.lines.pos+from : r.lines.pos+f.category-1]
	t.key, t.keyEnd = f.key-from, f.keyEnd-from
	if f.odd && t.fits() { // longer ones are not kept
		t.text = r.rewritten(t)
	}
	if !t.fits() {
		return 0, "", false // before its error is kept with an id
	}
	return f.seenID(r), run, true
}

// rewritten is the text of a line that was read, with its times as a Writer writes them.
func (r *Reader) rewritten(t *rowText) []byte {
	f, row := &r.line, &r.row
	b := append(r.rewrite[:0], t.text[:t.keyEnd+len("\t")+len(f.err)]...)
	b = r.format.append(append(b, '\t'), row.start)
	if b = append(b, '\t'); row.hasFirst {
		b = r.format.append(b, row.first)
	}
	if b = append(b, '\t'); row.hasLast {
		b = r.format.append(b, row.last)
	}
	b = r.format.append(append(b, '\t'), row.end)
	r.rewrite = append(b, t.text[len(t.text)-(f.category-f.duration):]...)
	return r.rewrite
}

// takeText goes on behind the line that was taken as text.
func (r *Reader) takeText() {
	r.takeLine()
	r.rows++
}

// isUsual says whether a Writer would write the line that was read in the same way, up to its tail, but for how times are written.
func (r *Reader) isUsual() bool {
	f, t, b := &r.line, &r.row, r.lines.buf[r.lines.pos:r.lines.end]
	return f.phases == nil && t.hasEnd && t.end-t.start == t.duration &&
		(!t.hasFirst || t.first > t.start && t.first <= t.end) && (!t.hasLast || t.last > t.start && t.last <= t.end) &&
		(b[f.size] != '0' || b[f.size+1] == '\t') && (b[f.duration] != '0' || b[f.duration+1] == '\t')
}

// seenID is the number of what the line has in common with others.
func (f *fastLine) seenID(r *Reader) uint32 {
	s := f.seen
	if s.id == 0 || s.idEndpoint != f.endpoint || s.idErr != f.err {
		r.ids++
		s.id, s.idEndpoint, s.idErr = r.ids, f.endpoint, f.err
	}
	return s.id
}

// kind is that of the line that was read.
func (f *fastLine) kind() kind {
	s := f.seen
	return kind{s.op, s.client, f.endpoint, f.err, s.category, s.objects, s.status, s.retries, s.requests, s.statement}
}

// isPlain says whether the names that a text has are written as they were read. Where a line is like the one before, they
// need not be: then fastRow takes over what parseRow has read.
func (k *kind) isPlain() bool { return isPlain([]byte(k.endpoint)) && isPlain([]byte(k.err)) }

// A body with a text has these bits in its first byte, perhaps dueBody, and what follows.
const (
	textBody = 1 << (iota + 2)
	firstBody
	lastBody
)

const (
	atKey    = 5
	atKeyEnd = 7
	textSize = 9
)

// fits says whether a body can have the text.
func (x *rowText) fits() bool { return len(x.text) <= math.MaxUint16 && x.thread <= math.MaxUint16 }

// mostBody is how long the body can be: eight bytes are only there where the row was due.
func (x *rowText) mostBody() int { return textSize + 8 + len(x.text) }

// appendBody appends the body of a row of the kind with that number.
func (x *rowText) appendBody(b []byte, kind uint16) []byte {
	var f [textSize]byte
	f[0] = textBody
	if x.due != 0 {
		f[0] |= dueBody
	}
	if x.first {
		f[0] |= firstBody
	}
	if x.last {
		f[0] |= lastBody
	}
	e := binary.LittleEndian
	e.PutUint16(f[atKind:], kind)
	e.PutUint16(f[atThread:], uint16(x.thread))
	e.PutUint16(f[atKey:], uint16(x.key))
	e.PutUint16(f[atKeyEnd:], uint16(x.keyEnd))
	b = append(b, f[:]...)
	if x.due != 0 {
		b = e.AppendUint64(b, uint64(x.due))
	}
	return append(b, x.text...)
}

// text takes a body with a text apart. It is valid as long as the row.
func (t *kindTable) text(row *sortRow, x *rowText) bool {
	f := row.body
	if f[0]&textBody == 0 {
		return false
	}
	e := binary.LittleEndian
	x.kind = t.kinds[e.Uint16(f[atKind:])]
	x.start, x.due = row.start, 0
	x.thread = uint32(e.Uint16(f[atThread:]))
	x.first, x.last = f[0]&firstBody != 0, f[0]&lastBody != 0
	x.key, x.keyEnd = int(e.Uint16(f[atKey:])), int(e.Uint16(f[atKeyEnd:]))
	x.text = f[textSize:]
	if f[0]&dueBody != 0 {
		x.due, x.text = int64(e.Uint64(x.text)), x.text[8:]
	}
	return true
}

const (
	pieceBytes = iota
	pieceEndpoint
	pieceKey
	pieceErr
	pieceStart
	pieceFirst
	pieceLast
	pieceEnd
	pieceDuration
	pieceTail
	pieces
)

// starts says where the pieces of the text begin in a line, in which it begins at the given place.
func (x *rowText) starts(s *[pieces]uint16, at int) {
	s[pieceBytes] = uint16(at)
	s[pieceEndpoint] = uint16(at + x.key - 2 - len(x.kind.endpoint))
	s[pieceKey] = uint16(at + x.key - 1)
	s[pieceErr] = uint16(at + x.keyEnd)
	at += x.keyEnd + 1 + len(x.kind.err)
	s[pieceStart] = uint16(at)
	at += 1 + timeLength
	s[pieceFirst] = uint16(at)
	if at++; x.first {
		at += timeLength
	}
	s[pieceLast] = uint16(at)
	if at++; x.last {
		at += timeLength
	}
	s[pieceEnd] = uint16(at)
	s[pieceDuration] = uint16(at + 1 + timeLength)
}

// record is the row as a record, and its key. Few rows are needed like that: those which start together with others.
// What is parsed here was parsed by a Reader before.
func (x *rowText) record() (r Record, key []byte) {
	var s [pieces]uint16
	x.starts(&s, 0)
	s[pieceTail] = uint16(len(x.text))
	var p timeParser
	offset := func(piece int) time.Duration {
		ns, _ := p.parse(x.text[s[piece]+1 : s[piece+1]])
		return time.Duration(ns - x.start)
	}
	number := func(piece int) int64 {
		n, _ := parseInt(x.text[s[piece]+1 : s[piece+1]])
		return n
	}
	r = x.kind.record()
	r.Thread, r.Start, r.Due = x.thread, x.start, x.due
	r.Bytes, r.Duration = number(pieceBytes), time.Duration(number(pieceDuration))
	if x.first {
		r.FirstByte = offset(pieceFirst)
	}
	if x.last {
		r.LastByte = offset(pieceLast)
	}
	return r, x.text[x.key:x.keyEnd]
}

// appendText is append for a row of which there is text.
func (f *rowFormatter) appendText(b []byte, x *rowText, k *kindText, thread uint32) []byte {
	b = f.appendHead(b, k, thread)
	b = append(b, x.text...)
	return f.appendTail(b, k, x.due, nil)
}
