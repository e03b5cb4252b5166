package oplog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// MergeOptions are what a merge may be told.
type MergeOptions struct {
	// Open opens an input. Open of this package is used where it is nil.
	Open func(name string) (*Reader, error)
	// Progress is called now and then with the rows read so far. It begins again where rows have to be sorted first.
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
	// A name that is taken should be known before an hour of sorting.
	if _, err := os.Lstat(path); err == nil {
		return stats, fmt.Errorf("%s exists already; warp does not overwrite it: choose another name or move it away", path)
	}
	if canReadAtOnce(inputs) {
		stats, err = merge(ctx, path, inputs, o, (*merger).directText)
		if errors.Is(err, errTooLong) {
			debug.FreeOSMemory() // or what waited would stay beside what is needed now
			stats, err = merge(ctx, path, inputs, o, (*merger).direct)
		}
		if !errors.Is(err, errIndirect) {
			return stats, err
		}
		debug.FreeOSMemory()
	}
	return merge(ctx, path, inputs, o, (*merger).sorted)
}

// merge is one attempt to merge. It gathers rows in one of two ways, with the same result.
func merge(ctx context.Context, path string, inputs []string, o MergeOptions, gather func(*merger, []string) (gathered, error)) (stats MergeStats, err error) {
	m := &merger{ctx: ctx, options: o, folder: filepath.Dir(path), leaves: map[leafKey]*leaf{}}
	defer func() { err = errors.Join(err, m.close()) }()
	rows, err := gather(m, inputs)
	if err != nil {
		return stats, err
	}
	m.header.statementRows = m.scripted
	f, err := Create(path, m.header)
	if err != nil {
		return stats, err
	}
	if err = m.write(f.Writer, rows.each); err == nil {
		err = rows.finish()
	}
	if err == nil {
		err = m.writeComments(f.Writer)
	}
	if err != nil {
		return stats, errors.Join(err, f.Discard())
	}
	m.trailer.Notes = append(m.trailer.Notes, o.Notes...)
	m.stats.Path, err = f.Commit(m.trailer)
	slices.Sort(m.stats.Warnings)
	return m.stats, err
}

// gathered are the rows of all inputs in order, and what is to be done behind the last one.
type gathered struct {
	each   func(takeRow) error
	finish func() error
}

// sorted reads all rows before the first one is handed out.
func (m *merger) sorted(names []string) (gathered, error) {
	m.sorter = newSorter(m.folder)
	for at, name := range names {
		if err := m.sort(at, name); err != nil {
			return gathered{}, err
		}
	}
	if err := m.sorter.finish(); err != nil {
		return gathered{}, err
	}
	return gathered{
		each:   func(f takeRow) error { return m.sorter.each(m.ctx, f) },
		finish: func() error { return nil },
	}, m.identify()
}

// sort sorts in the rows of one input.
func (m *merger) sort(at int, name string) error {
	in, err := m.open(at, name)
	if err != nil {
		return err
	}
	for {
		err := in.next()
		if errors.Is(err, io.EOF) {
			in.end()
			return in.close()
		}
		if err != nil {
			return err
		}
		if err := m.sorter.add(in.record(), in.source); err != nil {
			return err
		}
	}
}

func (m *merger) close() error {
	var err error
	if m.sorter != nil {
		err = m.sorter.close()
	}
	for _, in := range m.inputs {
		_ = in.close()
	}
	return err
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
	folder  string  // of the result
	sorter  *sorter // nil where rows come directly
	stats   MergeStats
	inputs  []*mergeInput

	sources  []*mergeSource
	leaves   map[leafKey]*leaf
	comments []string
	rowsRead int64 // rows read
	scripted bool  // one of the inputs has a column of statements
	numbered bool  // rows are on their way out, with the numbers that threads have now

	people  []*person // runs and clients of the result, in order
	header  Header
	trailer Trailer
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

// Numbers are somebody's threads as a source numbers them: those of a merged log without its header are not those of
// one with it, so the same number is another thread.
type numbers struct {
	who  *person
	from uint32
}

func (p *part) numbers() numbers { return numbers{p.who, p.from} }

// write copies the sorted rows to the result.
func (m *merger) write(w *Writer, each func(takeRow) error) error {
	x := &mergeWriter{m: m, w: w, counts: map[rowOwner]int64{}}
	x.decode.lendKeys = true // records do not outlive their rows
	if err := each(x.take); err != nil {
		return err
	}
	return x.flush()
}

func (m *merger) writeComments(w *Writer) error {
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
	text   rowText
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

func (x *mergeWriter) take(row *sortRow, alone bool) error {
	if x.n > 0 && (row.start != x.row.start || row.compare(&x.row) != 0) {
		if err := x.flush(); err != nil {
			return err
		}
	}
	source := x.m.sources[row.source]
	owner := rowOwner{source.part(row.thread()), source.input}
	switch {
	case x.n == 0 && alone:
		return x.write(row, owner.part, 1)
	case x.n == 0:
		x.row.keep(row)
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
	n := x.n
	if x.n = 0; n == 0 {
		return nil
	}
	if len(x.counts) == 0 {
		return x.write(&x.row, x.only.part, n)
	}
	var rec Record
	if _, err := x.decode.decode(&x.row, &rec); err != nil {
		return err
	}
	times, parts := x.multiplicities(rec.Duration)
	clear(x.counts)
	for _, p := range parts {
		if err := x.write(&x.row, p, times[p.numbers()]); err != nil {
			return err
		}
	}
	return nil
}

// multiplicities works out how often each owner has the row. A thread cannot
// start the same request twice, so what two inputs have is one request; only
// requests too short for the clock may really be several.
func (x *mergeWriter) multiplicities(d time.Duration) (map[numbers]int64, []*part) {
	times, sums := map[numbers]int64{}, map[numbers]int64{}
	var parts []*part
	for o, n := range x.counts {
		k := o.part.numbers()
		if _, ok := times[k]; !ok {
			parts = append(parts, o.part)
		}
		sums[k] += n
		times[k] = max(times[k], n)
	}
	for k, sum := range sums {
		if d == 0 {
			times[k] = sum
		}
		x.m.stats.Repeated += sum - times[k]
	}
	slices.SortFunc(parts, func(a, b *part) int { return cmp.Or(a.who.at-b.who.at, cmp.Compare(a.from, b.from)) })
	return times, parts
}

// write writes a row n times.
func (x *mergeWriter) write(row *sortRow, p *part, n int64) error {
	thread := row.thread() - p.from
	if thread >= p.who.threads && x.m.numbered && len(x.m.header.Merged) > 0 {
		return errIndirect // a thread that was not known when they got their numbers, which may not even fit behind the others
	}
	x.m.stats.Rows += n
	thread += p.who.offset
	if row.kinds.text(row, &x.text) {
		for ; n > 0; n-- {
			if err := x.w.writeText(&x.text, thread); err != nil {
				return err
			}
		}
		return nil
	}
	var rec Record
	kind, err := x.decode.decode(row, &rec)
	if err != nil {
		return err
	}
	for ; n > 0; n-- {
		if err := x.w.writeRow(&rec, kind, thread); err != nil {
			return err
		}
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
