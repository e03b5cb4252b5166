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

// kindHash is the same for rows of one kind.
func kindHash(r *Record) uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := (lastBytes(r.Op)*prime^lastBytes(r.Client))*prime ^ lastBytes(r.Endpoint) ^ uint64(r.Status)
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
		t.last = t.slot(r)
	}
	return t.last
}

// findKnown is find for a row whose kind is known.
func (t *kindTexts) findKnown(k *knownKind, r *Record) *kindText {
	if k.text == nil || k.text.known != k {
		k.text = t.slot(r)
		k.text.known = k
	}
	return k.text
}

// slot finds the slot of the row's kind, or the first free one among the next, or takes one.
func (t *kindTexts) slot(r *Record) *kindText {
	const few = 4
	if len(r.Op)+len(r.Client)+len(r.Endpoint)+len(r.Err) > maxKindText {
		t.long.fill(r, t.statements)
		return &t.long
	}
	first := kindHash(r)
	slot := first % kindSlots
	for i := range uint64(few) {
		k := &t.slots[(first+i)%kindSlots]
		if k.tail != nil && k.of(r) {
			return k
		}
		if k.tail == nil {
			slot = (first + i) % kindSlots
			break
		}
	}
	k := &t.slots[slot]
	k.number = uint8(slot)
	k.fill(r, t.statements)
	return k
}

func (k *kindText) fill(r *Record, statements bool) {
	k.kind, k.known = kindOf(r), nil
	b := appendText(append(k.head[:0], '\t'), r.Op)
	b = appendText(append(b, '\t'), r.Client)
	k.head = appendNumber(append(b, '\t'), uint64(r.Objects))
	k.endpoint = appendText(append(k.endpoint[:0], '\t'), r.Endpoint)
	k.err = appendText(append(k.err[:0], '\t'), r.Err)
	b = appendNumber(append(k.tail[:0], '\t'), r.Category)
	b = append(b, '\t')
	k.due = len(b)
	b = appendCount(append(b, '\t'), r.Status)
	b = appendNumber(append(b, '\t'), uint64(r.Retries))
	b = append(b, '\t')
	k.phases = len(b)
	b = appendCount(append(b, '\t'), r.Requests)
	if statements {
		b = r.Statement.append(append(b, '\t'))
	}
	k.tail = append(b, '\n')
}
