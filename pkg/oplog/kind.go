package oplog

import "encoding/binary"

// A kind is what rows have in common that differ in nothing but number, thread, size, key, times and
// phases. A run has a few kinds, so their text is made once.
type kind struct {
	op, client, endpoint, err string
	category                  uint64
	objects                   int
	status, retries, requests uint16
	statement                 Statement
}

// of says whether the row is of this kind.
func (k *kind) of(r *Record) bool {
	return k.op == r.Op && k.status == r.Status && k.endpoint == r.Endpoint && k.client == r.Client && k.err == r.Err && k.objects == r.Objects &&
		k.requests == r.Requests && k.retries == r.Retries && k.category == r.Category && k.statement == r.Statement
}

func kindOf(r *Record) kind {
	return kind{r.Op, r.Client, r.Endpoint, r.Err, r.Category, r.Objects, r.Status, r.Retries, r.Requests, r.Statement}
}

// record is a row of that kind.
func (k *kind) record() Record {
	return Record{
		Op: k.op, Client: k.client, Endpoint: k.endpoint, Err: k.err, Category: k.category, Objects: k.objects,
		Status: k.status, Retries: k.retries, Requests: k.requests, Statement: k.statement,
	}
}

// size is how long its names are.
func (k *kind) size() int { return len(k.op) + len(k.client) + len(k.endpoint) + len(k.err) }

// hash is the same for equal kinds.
func (k *kind) hash() uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := (lastBytes(k.op)*prime^lastBytes(k.client))*prime ^ lastBytes(k.endpoint) ^ uint64(k.status)
	return (h ^ h>>32) * prime >> 32
}

// lastBytes are those in which names of one sort differ, as a rule.
func lastBytes(s string) uint64 {
	var b [8]byte
	copy(b[:], s[max(len(s)-8, 0):])
	return binary.LittleEndian.Uint64(b[:])
}

// A kindText is what every row of a kind has, each column with the tab before it.
type kindText struct {
	kind
	number   uint8      // of its slot
	known    *knownKind // that is this one, where there is one
	head     []byte     // operation, client and objects
	endpoint []byte
	err      []byte
	tail     []byte // from the category on
	due      int    // where in tail the time when it was due would be
	phases   int    // and the phases
}

const (
	kindSlots   = 1 << 6
	maxKindText = 4 << 10 // what is kept for each
)

// kindTexts hold the texts of the kinds that rows had lately.
type kindTexts struct {
	statements bool // the log has that column
	last       *kindText
	slots      [kindSlots]kindText
	long       kindText // of a row with names that are not worth keeping
}

// find returns the text for a row.
func (t *kindTexts) find(r *Record) *kindText {
	if t.last == nil || !t.last.of(r) {
		k := kindOf(r)
		t.last = t.slot(&k)
	}
	return t.last
}

// findKnown is find for a row whose kind is known.
func (t *kindTexts) findKnown(k *knownKind) *kindText {
	if k.text == nil || k.text.known != k {
		k.text = t.slot(&k.kind)
		k.text.known = k
	}
	return k.text
}

// slot finds the slot of a kind, or the first free one among the next, or takes one.
func (t *kindTexts) slot(of *kind) *kindText {
	const few = 4
	if of.size() > maxKindText {
		t.long.fill(of, t.statements)
		return &t.long
	}
	first := of.hash()
	slot := first % kindSlots
	for i := range uint64(few) {
		k := &t.slots[(first+i)%kindSlots]
		if k.tail != nil && k.kind == *of {
			return k
		}
		if k.tail == nil {
			slot = (first + i) % kindSlots
			break
		}
	}
	k := &t.slots[slot]
	k.number = uint8(slot)
	k.fill(of, t.statements)
	return k
}

func (k *kindText) fill(of *kind, statements bool) {
	k.kind, k.known = *of, nil
	b := appendText(append(k.head[:0], '\t'), k.op)
	b = appendText(append(b, '\t'), k.client)
	k.head = appendNumber(append(b, '\t'), uint64(k.objects))
	k.endpoint = appendText(append(k.endpoint[:0], '\t'), k.kind.endpoint)
	k.err = appendText(append(k.err[:0], '\t'), k.kind.err)
	b = appendNumber(append(k.tail[:0], '\t'), k.category)
	b = append(b, '\t')
	k.due = len(b)
	b = appendCount(append(b, '\t'), k.status)
	b = appendNumber(append(b, '\t'), uint64(k.retries))
	b = append(b, '\t')
	k.phases = len(b)
	b = appendCount(append(b, '\t'), k.requests)
	if statements {
		b = k.statement.append(append(b, '\t'))
	}
	k.tail = append(b, '\n')
}
