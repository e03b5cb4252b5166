package oplog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// A sorter sorts any number of rows in constant memory. Rows go through piles
// that let the smallest one out when they are full (replacement selection), so a
// log that is only roughly in order, as all are, becomes one sorted run on
// disk; what arrives too late starts another. The runs are merged at the end.
// Sorting equal chunks instead would make hundreds of runs of a long log.
type sorter struct {
	folder   string
	maxRows  int // in the piles
	mostRows int // that this may become
	maxBytes int
	fanIn    int

	piles piles
	kinds kindTable

	run    uint32  // that rows are let out to
	last   sortRow // that was let out; its body is in a buffer of the runWriter
	out    *runWriter
	files  []*os.File // from the highest level to the lowest
	levels []int      // how often their rows have been collapsed
}

const (
	sorterRows  = 8 << 10  // rows in the piles at first, which stay in a processor's cache
	mostRows    = 24 << 10 // for logs that are less in order: a quarter second of the fastest client
	sorterBytes = 8 << 20  // of their bodies
	fanIn       = 16       // runs that are merged at once; mostly there are one or two
	runBlock    = 128 << 10
	maxBody     = 4 * maxLine // more than a line can make
)

func newSorter(folder string) *sorter {
	s := &sorter{folder: folder, maxRows: sorterRows, mostRows: mostRows, maxBytes: sorterBytes, fanIn: fanIn}
	s.piles.kinds = &s.kinds
	return s
}

// add takes a row. Its record is not kept.
func (s *sorter) add(r *Record, source uint32) error {
	for n := s.piles.len(); n > 0 && (n >= s.maxRows || s.piles.bytes > s.maxBytes); n-- {
		if err := s.letOut(); err != nil {
			return err
		}
	}
	row, run := s.piles.reserve(0), s.run
	row.start, row.source = r.Start, source
	row.body = s.kinds.appendRow(row.body, r)
	if s.out != nil && row.compare(&s.last) < 0 {
		run++
		if source == s.last.source { // logs of several clients overlap however many rows wait
			s.maxRows = min(2*s.maxRows, s.mostRows)
		}
	}
	s.piles.push(run)
	return nil
}

// letOut writes the smallest row to its run.
func (s *sorter) letOut() error {
	row, run := s.piles.pop()
	if s.out == nil || run != s.run {
		if err := s.startRun(run); err != nil {
			return err
		}
	}
	err := s.out.write(row)
	s.last = sortRow{row.start, row.source, s.out.last, row.kinds}
	return err
}

func (s *sorter) startRun(run uint32) error {
	if err := s.endRun(); err != nil {
		return err
	}
	for n := s.alike(); n >= s.fanIn; n = s.alike() {
		if err := s.collapse(n); err != nil {
			return err
		}
	}
	f, err := s.tempFile()
	if err != nil {
		return err
	}
	s.run, s.out = run, newRunWriter(f)
	s.files, s.levels = append(s.files, f), append(s.levels, 0)
	return nil
}

// alike is how many of the last files are of the same level.
func (s *sorter) alike() int {
	n := len(s.levels)
	for n > 0 && s.levels[n-1] == s.levels[len(s.levels)-1] {
		n--
	}
	return len(s.levels) - n
}

func (s *sorter) endRun() error {
	if s.out == nil {
		return nil
	}
	err := s.out.flush()
	s.out = nil
	return err
}

// tempFile creates a file next to the output, where there has to be room. The
// name is taken away at once where the system allows it, so that even a merge
// that is killed leaves nothing behind.
func (s *sorter) tempFile() (*os.File, error) {
	f, err := os.CreateTemp(s.folder, ".warp-merge-*")
	if err != nil {
		return nil, fmt.Errorf("sorting needs a temporary file: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// collapse makes one run of the last n. Its level is one more than theirs, and only runs of one level are
// collapsed while rows come: were all made one run again and again, logs of a hundred clients would be copied many times.
func (s *sorter) collapse(n int) error {
	f, err := s.tempFile()
	if err != nil {
		return err
	}
	left := len(s.files) - n
	w := newRunWriter(f)
	err = mergeRuns(context.Background(), s.files[left:], &s.kinds, func(row *sortRow, _ bool) error { return w.write(row) })
	if err = errors.Join(err, w.flush()); err != nil {
		return errors.Join(err, dropFile(f))
	}
	for _, old := range s.files[left:] {
		err = errors.Join(err, dropFile(old))
	}
	s.files, s.levels = append(s.files[:left], f), append(s.levels[:left], s.levels[left]+1)
	return err
}

// finish ends the adding.
func (s *sorter) finish() error {
	for s.piles.len() > 0 {
		if err := s.letOut(); err != nil {
			return err
		}
	}
	s.piles = piles{}
	if err := s.endRun(); err != nil {
		return err
	}
	if n := len(s.files); n > s.fanIn {
		return s.collapse(n - s.fanIn + 1) // the smallest of them
	}
	return nil
}

// each calls f with all rows in order. It can be called again. The row is
// valid until f returns.
func (s *sorter) each(ctx context.Context, f takeRow) error {
	return mergeRuns(ctx, s.files, &s.kinds, f)
}

// close removes the temporary files.
func (s *sorter) close() error {
	var err error
	for _, f := range s.files {
		err = errors.Join(err, dropFile(f))
	}
	s.files, s.levels = nil, nil
	return err
}

func dropFile(f *os.File) error {
	err := f.Close()
	if rerr := os.Remove(f.Name()); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// A runWriter writes sorted rows. They are not compressed: what rows share is a number
// already, and what is left would cost more time than the disk needs for it.
type runWriter struct {
	f    *os.File
	buf  []byte // what is not written yet
	last []byte // body of the last row
}

const rowHead = 14 // bytes before the body

func newRunWriter(f *os.File) *runWriter { return &runWriter{f: f, buf: make([]byte, 0, runBlock)} }

func (w *runWriter) write(row *sortRow) error {
	if len(w.buf)+rowHead+len(row.body) > runBlock {
		if err := w.flush(); err != nil {
			return err
		}
	}
	b := binary.LittleEndian.AppendUint64(w.buf, uint64(row.start))
	b = binary.LittleEndian.AppendUint16(b, uint16(row.source))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(row.body)))
	w.buf = append(b, row.body...)
	w.last = w.buf[len(w.buf)-len(row.body):]
	return nil
}

func (w *runWriter) flush() error {
	if _, err := w.f.Write(w.buf); err != nil {
		return fmt.Errorf("sorting, in a temporary file: %w", err)
	}
	w.buf = w.buf[:0]
	return nil
}

// A runReader reads them back.
type runReader struct {
	f        *os.File
	buf      []byte
	pos, end int
	row      sortRow // its body is in buf
}

func newRunReader(f *os.File, kinds *kindTable) (*runReader, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &runReader{f: f, buf: make([]byte, runBlock), row: sortRow{kinds: kinds}}, nil
}

func (r *runReader) at() *sortRow { return &r.row }

// alone would have to read ahead, into the row that is there.
func (r *runReader) alone() bool { return false }

// next reads a row; io.EOF says that there is none.
func (r *runReader) next() error {
	if err := r.need(rowHead); err != nil {
		return err
	}
	head := r.buf[r.pos:]
	start, source, n := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint16(head[8:]), int(binary.LittleEndian.Uint32(head[10:]))
	if n > maxBody {
		return errSpill
	}
	if err := r.need(rowHead + n); err != nil {
		return err
	}
	r.row.start, r.row.source = int64(start), uint32(source)
	r.row.body = r.buf[r.pos+rowHead : r.pos+rowHead+n]
	r.pos += rowHead + n
	if !r.row.kinds.has(r.row.body) {
		return errSpill
	}
	return nil
}

// need makes n bytes available from pos on. io.EOF says that there is nothing more.
func (r *runReader) need(n int) error {
	if r.end-r.pos >= n {
		return nil
	}
	r.end = copy(r.buf, r.buf[r.pos:r.end])
	r.pos = 0
	if len(r.buf) < n {
		r.buf = append(r.buf, make([]byte, n)...)
	}
	for r.end < n {
		k, err := r.f.Read(r.buf[r.end:])
		r.end += k
		switch {
		case errors.Is(err, io.EOF) && r.end == 0:
			return io.EOF
		case errors.Is(err, io.EOF) && r.end < n:
			return fmt.Errorf("%w: %w", errSpill, io.ErrUnexpectedEOF) // not the end of the run
		case err != nil && r.end < n:
			return fmt.Errorf("%w: %w", errSpill, err)
		}
	}
	return nil
}

// mergeRuns calls f with the rows of sorted files in order.
func mergeRuns(ctx context.Context, files []*os.File, kinds *kindTable, f takeRow) error {
	var runs []sortedRows
	for _, file := range files {
		r, err := newRunReader(file, kinds)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	return mergeSorted(ctx, runs, f)
}

// takeRow is called with a row that is valid until it returns. Where the row is alone, no other one starts together with it.
type takeRow func(row *sortRow, alone bool) error

// sortedRows come in order.
type sortedRows interface {
	next() error // goes to the next one; io.EOF says that there is none
	at() *sortRow
	alone() bool // the one behind it surely starts later
}

// mergeSorted calls f with all rows in order, and says of which it is sure that no other one starts together with them.
// Each is valid until f returns.
func mergeSorted(ctx context.Context, all []sortedRows, f takeRow) error {
	var runs []sortedRows
	var starts []int64 // of their rows, next to each other
	for _, r := range all {
		err := r.next()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return err
		}
		runs, starts = append(runs, r), append(starts, r.at().start)
	}
	for n := 0; len(runs) > 0; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		// There are few runs, so looking at all is fastest.
		least, alone := 0, true
		for i := 1; i < len(starts); i++ {
			switch {
			case starts[i] < starts[least]:
				least, alone = i, true
			case starts[i] == starts[least]:
				alone = false
				if runs[i].at().compare(runs[least].at()) < 0 {
					least = i
				}
			}
		}
		if err := f(runs[least].at(), alone && runs[least].alone()); err != nil {
			return err
		}
		switch err := runs[least].next(); {
		case err == nil:
			starts[least] = runs[least].at().start
		case errors.Is(err, io.EOF):
			runs, starts = slices.Delete(runs, least, least+1), slices.Delete(starts, least, least+1)
		default:
			return err
		}
	}
	return nil
}
