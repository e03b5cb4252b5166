package oplog

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MergeOptions are what a merge may be told.
type MergeOptions struct {
	// Open opens an input. Open of this package is used where it is nil.
	Open func(name string) (*Reader, error)
	// Progress is called now and then with the rows read so far.
	Progress func(rows int64)
	// Notes are added to those of the inputs' trailers.
	Notes []string
}

// MergeStats is what a merge did.
type MergeStats struct {
	Path     string   // where the result is
	Rows     int64    // written
	Repeated int64    // rows that were in several inputs and are written once
	Runs     int      // different runs
	Clients  int      // different clients of runs
	Warnings []string // of the inputs and of the merge itself
}

// Merge writes the rows of all inputs to a new log at path, sorted by start.
// Its memory does not depend on how much that is.
//
// A thread is known by run, client and number, so rows of one thread may come
// from any number of inputs; threads of different runs or clients get numbers
// of their own, which the header of the result takes back when it is read.
//
//   - Without a run id the client id stands for the run. Where exactly one run
//     with an id has that client, the rows are taken to be pieces of it.
//   - Without either (logs of 2019), inputs are pieces of one run unless some
//     thread would have been busy with two requests at once: a thread is
//     sequential. Operations for which an input contradicts that by itself (one
//     thread number for all uploads of the preparation) prove nothing.
//   - A log of a client whose clock was compared with the coordinator's says by
//     how much it is ahead; its times are moved by that.
//   - A request that several inputs have is counted once, and said so.
//
// The result does not depend on the order of the inputs, to the byte.
func Merge(ctx context.Context, path string, inputs []string, o MergeOptions) (stats MergeStats, err error) {
	if err := distinctFiles(inputs); err != nil {
		return stats, err
	}
	m := &merger{ctx: ctx, options: o, sorter: newSorter(filepath.Dir(path)), leaves: map[leafKey]*leaf{}}
	defer func() { err = errors.Join(err, m.sorter.close()) }()
	// A name that is taken should be known before an hour of sorting.
	if _, err := os.Lstat(path); err == nil {
		return stats, fmt.Errorf("%s exists already; warp does not overwrite it: choose another name or move it away", path)
	}
	for i, name := range inputs {
		if err := m.read(i, name); err != nil {
			return stats, err
		}
	}
	if err := m.sorter.finish(); err != nil {
		return stats, err
	}
	if err := m.identify(); err != nil {
		return stats, err
	}
	m.header.statementRows = m.scripted
	f, err := Create(path, m.header)
	if err != nil {
		return stats, err
	}
	if err := m.write(f.Writer); err != nil {
		return stats, errors.Join(err, f.Discard())
	}
	m.trailer.Notes = append(m.trailer.Notes, o.Notes...)
	m.stats.Path, err = f.Commit(m.trailer)
	slices.Sort(m.stats.Warnings)
	return m.stats, err
}

// distinctFiles refuses a file that is given twice, also under two names.
func distinctFiles(inputs []string) error {
	if len(inputs) == 0 {
		return errors.New("there is nothing to merge: name at least one log")
	}
	infos := make([]os.FileInfo, len(inputs))
	for i, name := range inputs {
		infos[i], _ = os.Stat(name) // what cannot be opened is reported when it is
		for k := range i {
			if name == inputs[k] || infos[i] != nil && infos[k] != nil && os.SameFile(infos[i], infos[k]) {
				return fmt.Errorf("%s and %s are the same file: its requests would count twice", inputs[k], name)
			}
		}
	}
	return nil
}

// A merger is one merge.
type merger struct {
	ctx     context.Context
	options MergeOptions
	sorter  *sorter
	stats   MergeStats

	sources  []*mergeSource
	leaves   map[leafKey]*leaf
	comments []string
	rowsRead int64 // rows read
	scripted bool  // one of the inputs has a column of statements

	people  []*person // runs and clients of the result, in order
	header  Header
	trailer Trailer
}

// A mergeSource is the rows of one input that say the same about whose they are.
type mergeSource struct {
	input       int
	run, client string
	merged      bool   // the input's header has told run and thread
	highest     uint32 // thread
	threads     map[uint32]struct{}
	parts       []part // what becomes of the rows, by thread
}

// A part is a range of a source's threads and whose they turn out to be.
type part struct {
	from, count uint32 // thread numbers in the source
	who         *person
	node        int // among the anonymous ones; -1 for others
}

// A person is one client of one run.
type person struct {
	run, client string
	threads     uint32 // highest thread plus one
	offset      uint32
	leaf        *leaf
	at          int
}

// maxSources bounds what a log of made-up client ids can cost.
const maxSources = 1 << 14

type sourceKey struct{ run, client string }

// read sorts in the rows of one input.
func (m *merger) read(input int, name string) error {
	open := m.options.Open
	if open == nil {
		open = Open
	}
	r, err := open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	r.lendKeys = true
	shift, err := r.header.shift(name)
	if err != nil {
		return err
	}
	known := map[sourceKey]uint32{}
	var last sourceKey
	source := uint32(maxSources)
	batch := make([]Record, 512)
	for {
		n, err := r.Read(batch)
		for i := range batch[:n] {
			rec := &batch[i]
			if key := (sourceKey{rec.Run, rec.Client}); source == maxSources || key != last {
				if source, err = m.source(known, input, key, len(r.header.Merged) > 0); err != nil {
					return err
				}
				last = key
			}
			if err := shift.apply(rec); err != nil {
				return err
			}
			m.sources[source].note(rec.Thread)
			if err := m.sorter.add(rec, source); err != nil {
				return err
			}
		}
		m.rowsRead += int64(n)
		if m.options.Progress != nil {
			m.options.Progress(m.rowsRead)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, m.ctx.Err()); err != nil {
			return err
		}
	}
	m.noteLog(r)
	return nil
}

func (m *merger) source(known map[sourceKey]uint32, input int, key sourceKey, merged bool) (uint32, error) {
	if i, ok := known[key]; ok {
		return i, nil
	}
	if len(m.sources) >= maxSources {
		return 0, fmt.Errorf("the logs name more than %d clients, which no run has", maxSources)
	}
	i := uint32(len(m.sources))
	known[key] = i
	m.sources = append(m.sources, &mergeSource{input: input, run: key.run, client: key.client, merged: merged})
	return i, nil
}

// note remembers which threads there are; where nothing else tells whose rows
// they are, each of them.
func (s *mergeSource) note(thread uint32) {
	s.highest = max(s.highest, thread)
	if s.run != "" || s.merged {
		return
	}
	if s.threads == nil {
		s.threads = map[uint32]struct{}{}
	}
	if len(s.threads) <= maxThread+1 {
		s.threads[thread] = struct{}{}
	}
}

// noteLog keeps what the log says about its run.
func (m *merger) noteLog(r *Reader) {
	m.scripted = m.scripted || r.has[colStatement]
	m.stats.Warnings = append(m.stats.Warnings, r.Warnings()...)
	for _, c := range r.Comments() {
		if len(m.comments) < maxComments && !slices.Contains(m.comments, c) {
			m.comments = append(m.comments, c)
		}
	}
	h, t := r.Header(), r.Trailer()
	if h.ClockOffset != 0 {
		h.Start = h.Start.Add(-time.Duration(h.ClockOffset))
		h.ClockOffset, h.ClockApplied = 0, h.ClockOffset
	}
	if len(h.Merged) == 0 {
		m.leaf(h.Run, h.Client).add(h, t)
		return
	}
	for _, o := range h.Merged {
		l := m.leaf(o.Run, o.Header.Client)
		if o.Trailer != nil {
			l.add(o.Header, *o.Trailer)
		} else {
			l.add(o.Header, Trailer{})
		}
		l.clients = append(l.clients, o.Client)
		l.origins = append(l.origins, o)
	}
}

// write copies the sorted rows to the result.
func (m *merger) write(w *Writer) error {
	x := &mergeWriter{m: m, w: w, counts: map[rowOwner]int64{}}
	if err := m.sorter.each(m.ctx, x.take); err != nil {
		return err
	}
	if err := x.flush(); err != nil {
		return err
	}
	slices.Sort(m.comments)
	for _, c := range m.comments {
		if err := w.Comment(c); err != nil {
			return err
		}
	}
	if n := m.stats.Repeated; n > 0 {
		m.stats.Warnings = append(m.stats.Warnings, fmt.Sprintf("%d requests are in several of the logs and are counted once", n))
	}
	return nil
}

// A mergeWriter writes rows, of which it holds back the equal ones until it
// knows how often and where they are.
type mergeWriter struct {
	m      *merger
	w      *Writer
	decode rowDecoder
	row    sortRow // the last one, of which the others are copies
	only   rowOwner
	n      int64 // copies of owner only
	counts map[rowOwner]int64
}

// A rowOwner says whose row it is and from which input it came.
type rowOwner struct {
	part  *part
	input int
}

func (x *mergeWriter) take(row *sortRow) error {
	if x.n > 0 && row.compare(&x.row) != 0 {
		if err := x.flush(); err != nil {
			return err
		}
	}
	if x.n == 0 {
		x.row.start, x.row.body, x.row.kinds = row.start, append(x.row.body[:0], row.body...), row.kinds
	}
	source := x.m.sources[row.source]
	owner := rowOwner{source.part(row.thread()), source.input}
	switch {
	case x.n == 0:
		x.only, x.n = owner, 1
	case len(x.counts) == 0 && owner == x.only:
		x.n++
	default:
		if len(x.counts) == 0 {
			x.counts[x.only] = x.n
		}
		x.counts[owner]++
	}
	return nil
}

// flush writes the row that was held back, as often as it really is there.
func (x *mergeWriter) flush() error {
	if x.n == 0 {
		return nil
	}
	var rec Record
	x.decode.lendKeys = true // the record does not outlive the row
	kind, err := x.decode.decode(&x.row, &rec)
	if err != nil {
		return err
	}
	if len(x.counts) == 0 {
		n := x.n
		x.n = 0
		return x.writeCopies(&rec, kind, x.only.part, n)
	}
	times, parts := x.multiplicities(&rec)
	x.n = 0
	clear(x.counts)
	for _, p := range parts {
		if err := x.writeCopies(&rec, kind, p, times[p.who]); err != nil {
			return err
		}
	}
	return nil
}

// multiplicities works out how often each owner has the row. A thread cannot
// start the same request twice, so what two inputs have is one request; only
// requests too short for the clock may really be several.
func (x *mergeWriter) multiplicities(rec *Record) (map[*person]int64, []*part) {
	times, sums := map[*person]int64{}, map[*person]int64{}
	var parts []*part
	for o, n := range x.counts {
		who := o.part.who
		if _, ok := times[who]; !ok {
			parts = append(parts, o.part)
		}
		sums[who] += n
		times[who] = max(times[who], n)
	}
	for who, sum := range sums {
		if rec.Duration == 0 {
			times[who] = sum
		}
		x.m.stats.Repeated += sum - times[who]
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.who.at - b.who.at })
	return times, parts
}

func (x *mergeWriter) writeCopies(rec *Record, kind *knownKind, p *part, n int64) error {
	thread := rec.Thread - p.from + p.who.offset
	for ; n > 0; n-- {
		if err := x.w.writeRow(rec, kind, thread); err != nil {
			return err
		}
		x.m.stats.Rows++
	}
	return nil
}

// part returns what becomes of a thread.
func (s *mergeSource) part(thread uint32) *part {
	for i := range s.parts {
		if p := &s.parts[i]; thread >= p.from && thread-p.from < p.count {
			return p
		}
	}
	return &s.parts[0] // there is always one, and it covers all where it is alone
}

// hashText is short and the same everywhere.
func hashText(parts ...string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(parts, "\x00")) // cannot fail
	return fmt.Sprintf("%016x", h.Sum64())
}
