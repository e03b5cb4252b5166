// Package extsort sorts more rows than fit into memory, with a temporary file: an external merge sort.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"warp/internal/tempfile"
)

// A Row is what is sorted: by At, and then by Body.
type Row struct {
	At     int64
	Source uint32 // not part of the order; below 1<<16
	Body   []byte
}

// Compare says which of two rows is first.
func (r *Row) Compare(o *Row) int {
	if c := cmp.Compare(r.At, o.At); c != 0 {
		return c
	}
	return bytes.Compare(r.Body, o.Body)
}

// Keep makes r a copy of o.
func (r *Row) Keep(o *Row) {
	r.At, r.Source, r.Body = o.At, o.Source, append(r.Body[:0], o.Body...)
}

// A Sorter is an external merge sort. It sorts as many rows as fit into its buffer, writes them to
// a temporary file as a run, and finally merges the runs, so its memory does not depend on the
// number of rows.
type Sorter struct {
	// Limits, which New sets.
	MaxBytes int // of the rows in the buffer
	MaxRows  int // in the buffer
	MaxRuns  int // merged at once

	folder string     // of the temporary file
	rows   []byte     // the buffer, encoded as in the file
	sorted []rowIndex // index of these rows
	file   *os.File
	out    *bufio.Writer
	size   int64 // of the file
	runs   []run
}

const (
	sortBuffer = 4 << 20
	sortRows   = 64 << 10
	maxRuns    = 512
	readBuffer = 16 << 10 // for each run in a merge
	maxBody    = 4 << 20  // larger than any row of a log
)

// A rowIndex is the position of a row in the buffer.
type rowIndex struct {
	at   int64 // of the row
	from int   // in the buffer
}

// A run is a section of the file with sorted rows.
type run struct{ from, to int64 }

// New returns a sorter whose temporary file is in the folder.
func New(folder string) *Sorter {
	return &Sorter{folder: folder, MaxBytes: sortBuffer, MaxRows: sortRows, MaxRuns: maxRuns}
}

// Add adds a copy of a row.
func (s *Sorter) Add(r *Row) error {
	if len(s.sorted) == s.MaxRows || len(s.rows)+rowHead+len(r.Body) > s.MaxBytes && len(s.rows) > 0 {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	if s.rows == nil {
		s.rows = make([]byte, 0, s.MaxBytes)
	}
	s.sorted = append(s.sorted, rowIndex{r.At, len(s.rows)})
	s.rows = r.append(s.rows)
	return nil
}

// writeRun sorts the rows in the buffer and writes them to the file.
func (s *Sorter) writeRun() error {
	if s.file == nil {
		if err := s.newFile(); err != nil {
			return err
		}
	}
	slices.SortFunc(s.sorted, func(a, b rowIndex) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return bytes.Compare(s.at(a).Body, s.at(b).Body)
	})
	from := s.size
	for _, x := range s.sorted {
		if err := s.write(s.rows[x.from : x.from+rowHead+len(s.at(x).Body)]); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, run{from, s.size})
	s.rows, s.sorted = s.rows[:0], s.sorted[:0]
	return nil
}

func (s *Sorter) at(x rowIndex) Row {
	r, size := parseHead(s.rows[x.from:])
	r.Body = s.rows[x.from+rowHead : x.from+rowHead+size]
	return r
}

func (s *Sorter) write(b []byte) error {
	if _, err := s.out.Write(b); err != nil {
		return fmt.Errorf("sorting, in a temporary file: %w", err)
	}
	s.size += int64(len(b))
	return nil
}

func (s *Sorter) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("sorting, in a temporary file: %w", err)
	}
	return nil
}

// newFile creates a file next to the output, which needs room anyway.
func (s *Sorter) newFile() error {
	f, err := tempfile.Create(s.folder, ".warp-sort-*")
	if err != nil {
		return fmt.Errorf("sorting needs a temporary file: %w", err)
	}
	s.file, s.size = f, 0
	s.out = bufio.NewWriterSize(f, readBuffer)
	return nil
}

// Finish is called after the last row has been added.
func (s *Sorter) Finish(ctx context.Context) error {
	if len(s.sorted) > 0 {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	s.rows, s.sorted = nil, nil
	for len(s.runs) > s.MaxRuns {
		if err := s.mergeGroups(ctx); err != nil {
			return err
		}
	}
	if s.out == nil {
		return nil
	}
	return s.flush()
}

// mergeGroups merges each group of runs into one run in a new file.
func (s *Sorter) mergeGroups(ctx context.Context) (err error) {
	if err := s.flush(); err != nil {
		return err
	}
	old, runs := s.file, s.runs
	defer func() { err = errors.Join(err, tempfile.Remove(old)) }()
	s.file, s.runs = nil, nil
	if err := s.newFile(); err != nil {
		return err
	}
	var b []byte
	for group := range slices.Chunk(runs, s.MaxRuns) {
		from := s.size
		if err := mergeRuns(ctx, old, group, func(r *Row) error {
			b = r.append(b[:0])
			return s.write(b)
		}); err != nil {
			return err
		}
		s.runs = append(s.runs, run{from, s.size})
	}
	return nil
}

// Each calls f with all rows in order. It can be called again. The row is
// valid until f returns.
func (s *Sorter) Each(ctx context.Context, f func(*Row) error) error {
	return mergeRuns(ctx, s.file, s.runs, f)
}

// Close removes the temporary file.
func (s *Sorter) Close() error {
	if s.file == nil {
		return nil
	}
	err := tempfile.Remove(s.file)
	s.file, s.runs = nil, nil
	return err
}

// A runReader reads the rows of a run.
type runReader struct {
	in   *bufio.Reader
	left int64 // bytes of the run
	row  Row
	head [rowHead]byte
}

func newRunReader(file *os.File, x run) *runReader {
	section := io.NewSectionReader(file, x.from, x.to-x.from)
	return &runReader{in: bufio.NewReaderSize(section, readBuffer), left: x.to - x.from}
}

// next reads a row. It returns io.EOF at the end.
func (r *runReader) next() error {
	if r.left == 0 {
		return io.EOF
	}
	if _, err := io.ReadFull(r.in, r.head[:]); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	row, size := parseHead(r.head[:])
	if r.left -= rowHead + int64(size); r.left < 0 || size > maxBody {
		return ErrDamaged
	}
	row.Body = slices.Grow(r.row.Body[:0], size)[:size]
	r.row = row
	if _, err := io.ReadFull(r.in, row.Body); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// runHeap has the run with the first row at its top.
type runHeap []*runReader

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].row.Compare(&h[j].row) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*runReader)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// checkRows is the number of rows between two checks of the context.
const checkRows = 1 << 10

// mergeRuns calls f with the rows of all runs in order.
func mergeRuns(ctx context.Context, file *os.File, runs []run, f func(*Row) error) error {
	var h runHeap
	for _, x := range runs {
		r := newRunReader(file, x)
		if err := r.next(); err != nil { // no run is empty
			return err
		}
		h = append(h, r)
	}
	heap.Init(&h)
	for n := 0; len(h) > 0; n++ {
		if n%checkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first := h[0]
		if err := f(&first.row); err != nil {
			return err
		}
		switch err := first.next(); err {
		case nil:
			heap.Fix(&h, 0)
		case io.EOF: // the end of the run; a file that is too short is ErrDamaged
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

// ErrDamaged is the error of a temporary file that does not contain what was written.
var ErrDamaged = errors.New("the temporary file of the sort is damaged")

// rowHead is the number of bytes before the body of a row in the file.
const rowHead = 8 + 2 + 4

// append encodes the row as in the file.
func (r *Row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.At))
	b = binary.LittleEndian.AppendUint16(b, uint16(r.Source))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Body)))
	return append(b, r.Body...)
}

// parseHead decodes the head that append has written before the body.
func parseHead(b []byte) (r Row, size int) {
	e := binary.LittleEndian
	return Row{At: int64(e.Uint64(b)), Source: uint32(e.Uint16(b[8:]))}, int(e.Uint32(b[10:]))
}
