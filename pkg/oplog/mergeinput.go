package oplog

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// A mergeInput is one input and the rows that are being read from it.
type mergeInput struct {
	m      *merger
	at     int // among the inputs
	r      *Reader
	shift  clockShift
	known  map[sourceKey]uint32
	key    sourceKey // of the row before
	source uint32    // of that row; maxSources before the first
	batch  []Record  // of rows that are not text
	pos, n int       // behind the row in batch, and how many there are
	text   rowText
	isText bool
	kinds  *kindTable // where rows may be text; nil where all are records
	hints  [textHints]textHint
	hint   *textHint // of the row before, if it was text and of the same source
	rows   int       // since the last report
}

// A textHint is what is known about the rows with one id, as usualText gives them.
type textHint struct {
	id     uint32
	kind   uint16
	client string
}

const (
	textHints  = 16
	reportRows = 512
)

// A mergeSource is the rows of one input that say the same about whose they are.
type mergeSource struct {
	input       int
	run, client string
	merged      bool      // the input's header has told run and thread
	highest     uint32    // thread
	threads     threadSet // where nothing else tells whose rows they are
	parts       []part    // what becomes of the rows, by thread
}

// maxSources bounds what a log of made-up client ids can cost.
const maxSources = 1 << 14

type sourceKey struct{ run, client string }

// open begins to read an input.
func (m *merger) open(at int, name string) (*mergeInput, error) {
	open := m.options.Open
	if open == nil {
		open = Open
	}
	r, err := open(name)
	if err != nil {
		return nil, err
	}
	r.lendKeys = true
	in := &mergeInput{m: m, at: at, r: r, known: map[sourceKey]uint32{}, source: maxSources, batch: make([]Record, reportRows)}
	m.inputs = append(m.inputs, in)
	if in.shift, err = r.header.shift(name); err != nil {
		return nil, err
	}
	in.noteHeader()
	return in, nil
}

func (in *mergeInput) close() error {
	r := in.r
	in.r, in.batch = nil, nil
	if r == nil {
		return nil
	}
	return r.Close()
}

// next reads a row of in.source, which is valid until the next call. It is text where it is as a Writer writes it.
func (in *mergeInput) next() (err error) {
	if in.rows == reportRows {
		if err := in.report(); err != nil {
			return err
		}
	}
	if in.isText = false; in.kinds != nil {
		if in.isText, err = in.nextText(); in.isText || err != nil {
			return err
		}
	}
	return in.nextRecord()
}

// allowText has rows be text from now on where they can be. Those which cannot are read one at a time.
func (in *mergeInput) allowText(kinds *kindTable) {
	if in.shift.ahead == 0 {
		in.kinds, in.batch = kinds, in.batch[:1]
	}
}

// record is the row, unless it is text.
func (in *mergeInput) record() *Record { return &in.batch[in.pos-1] }

// start is that of the row.
func (in *mergeInput) start() int64 {
	if in.isText {
		return in.text.start
	}
	return in.record().Start
}

// mostBody is more than the size of the row's body, 0 if that is not known.
func (in *mergeInput) mostBody() int {
	if in.isText {
		return in.text.mostBody()
	}
	return 0
}

// appendBody appends the body of the row.
func (in *mergeInput) appendBody(b []byte, kinds *kindTable) []byte {
	if in.isText {
		return in.text.appendBody(b, in.hint.kind)
	}
	return kinds.appendRow(b, in.record())
}

func (in *mergeInput) nextRecord() error {
	for in.pos == in.n {
		n, err := in.r.Read(in.batch)
		if err != nil {
			if ended := in.report(); ended != nil {
				return ended
			}
			return err
		}
		in.pos, in.n = 0, n
	}
	in.pos++
	rec := in.record()
	if err := in.enter(sourceKey{rec.Run, rec.Client}); err != nil {
		return err
	}
	if err := in.shift.apply(rec); err != nil {
		return err
	}
	in.note(rec.Thread)
	return nil
}

// nextText takes the next row as text if that will do.
func (in *mergeInput) nextText() (ok bool, err error) {
	id, run, ok := in.r.usualText(&in.text)
	if !ok {
		return false, nil
	}
	h := &in.hints[id%textHints]
	if h.id != id {
		k := in.r.line.kind()
		if !k.isPlain() {
			return false, nil
		}
		number, ok := in.kinds.number(k)
		if !ok {
			return false, nil
		}
		*h = textHint{id: id, kind: number, client: k.client}
		in.hint = nil // it may be this one, as it was before
	}
	if h != in.hint || in.r.origins != nil {
		if err := in.enter(sourceKey{run, h.client}); err != nil {
			return false, err
		}
		in.hint = h
	}
	in.r.takeText()
	in.note(in.text.thread)
	return true, nil
}

func (in *mergeInput) note(thread uint32) {
	in.rows++
	in.m.sources[in.source].note(thread)
}

// report says how far the merge is.
func (in *mergeInput) report() error {
	in.m.rowsRead += int64(in.rows)
	in.rows = 0
	if in.m.options.Progress != nil {
		in.m.options.Progress(in.m.rowsRead)
	}
	return in.m.ctx.Err()
}

// enter makes the source of that key the one of the row.
func (in *mergeInput) enter(key sourceKey) error {
	if in.source != maxSources && key == in.key {
		return nil
	}
	i, ok := in.known[key]
	if !ok {
		var err error
		if i, err = in.m.addSource(&mergeSource{input: in.at, run: key.run, client: key.client, merged: len(in.r.header.Merged) > 0}); err != nil {
			return err
		}
		in.known[key] = i
	}
	in.source, in.key, in.hint = i, key, nil
	return nil
}

func (m *merger) addSource(s *mergeSource) (uint32, error) {
	if m.numbered && !m.known(s) {
		return 0, errIndirect
	}
	if len(m.sources) >= maxSources {
		return 0, fmt.Errorf("the logs name more than %d clients, which no run has", maxSources)
	}
	m.sources = append(m.sources, s)
	return uint32(len(m.sources) - 1), nil
}

// known says whose rows those of a source are that comes up when everybody has numbers, if a header has named them:
// the runs of a merged log may be hours apart.
func (m *merger) known(s *mergeSource) bool {
	if s.run == "" || anonymous(s.run, s.client) {
		return false
	}
	i := slices.IndexFunc(m.people, func(p *person) bool { return p.run == s.run && p.client == s.client })
	if i >= 0 {
		s.parts = []part{{count: math.MaxUint32, who: m.people[i], node: -1}}
	}
	return i >= 0
}

// note remembers which threads there are.
func (s *mergeSource) note(thread uint32) {
	s.highest = max(s.highest, thread)
	if s.run == "" && !s.merged {
		s.threads.add(thread)
	}
}

// A threadSet is the numbers of threads that one log can have.
type threadSet struct {
	words []uint64
	wide  bool // there are others, too
}

func (t *threadSet) add(thread uint32) {
	if thread > maxThread {
		t.wide = true
		return
	}
	for int(thread/64) >= len(t.words) {
		t.words = append(t.words, 0)
	}
	t.words[thread/64] |= 1 << (thread % 64)
}

func (t *threadSet) each(f func(thread uint32) bool) bool {
	for i, w := range t.words {
		for ; w != 0; w &= w - 1 {
			if !f(uint32(64*i + bits.TrailingZeros64(w))) {
				return false
			}
		}
	}
	return !t.wide
}

// noteHeader keeps what the log says about its run before the first row.
func (in *mergeInput) noteHeader() {
	m, h := in.m, in.r.Header()
	m.scripted = m.scripted || in.r.has[colStatement]
	if len(h.Merged) == 0 {
		m.leaf(h.Run, h.Client).addHeader(h.applied())
		return
	}
	for _, o := range h.Merged {
		l := m.leaf(o.Run, o.Header.Client)
		l.addHeader(o.Header)
		l.clients = append(l.clients, o.Client)
		l.origins = append(l.origins, o)
	}
}

// end keeps what the log says behind the last row.
func (in *mergeInput) end() {
	m, h, t := in.m, in.r.Header(), in.r.Trailer()
	m.stats.Warnings = append(m.stats.Warnings, in.r.Warnings()...)
	for _, c := range in.r.Comments() {
		if len(m.comments) < maxComments && !slices.Contains(m.comments, c) {
			m.comments = append(m.comments, c)
		}
	}
	switch {
	case len(h.Merged) == 0:
		m.leaf(h.Run, h.Client).addTrailer(t)
	case len(h.Merged) == len(t.Merged): // or it was cut off
		for i, o := range h.Merged {
			if t := t.Merged[i]; t != nil {
				m.leaf(o.Run, o.Header.Client).addTrailer(*t)
			}
		}
	}
}

// applied is the header of a log whose times are on the clock of the run's coordinator.
func (h Header) applied() Header {
	if h.ClockOffset != 0 {
		h.Start = h.Start.Add(-time.Duration(h.ClockOffset))
		h.ClockOffset, h.ClockApplied = 0, h.ClockOffset
	}
	return h
}
