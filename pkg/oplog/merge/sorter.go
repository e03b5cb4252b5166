package merge

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
)

// A sorter is an external merge sort. It sorts as many rows as fit into its buffer, writes them to
// a temporary file as a run, and finally merges the runs, so its memory does not depend on the
// number of rows.
type sorter struct {
	folder   string // of the temporary file
	maxBytes int    // max size of rows in the buffer
	maxRows  int
	maxRuns  int // merged at once

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
	start int64
	at    int
}

// A run is a section of the file with sorted rows.
type run struct{ from, to int64 }

func newSorter(folder string) *sorter {
	return &sorter{folder: folder, maxBytes: sortBuffer, maxRows: sortRows, maxRuns: maxRuns}
}

// add adds a copy of a row.
func (s *sorter) add(r *row) error {
	if len(s.sorted) == s.maxRows || len(s.rows)+rowHead+len(r.body) > s.maxBytes && len(s.rows) > 0 {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	if s.rows == nil {
		s.rows = make([]byte, 0, s.maxBytes)
	}
	s.sorted = append(s.sorted, rowIndex{r.start, len(s.rows)})
	s.rows = r.append(s.rows)
	return nil
}

// writeRun sorts the rows in the buffer and writes them to the file.
func (s *sorter) writeRun() error {
	if s.file == nil {
		if err := s.newFile(); err != nil {
			return err
		}
	}
	slices.SortFunc(s.sorted, func(a, b rowIndex) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return bytes.Compare(s.at(a).body, s.at(b).body)
	})
	from := s.size
	for _, x := range s.sorted {
		if err := s.write(s.rows[x.at : x.at+rowHead+len(s.at(x).body)]); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, run{from, s.size})
	s.rows, s.sorted = s.rows[:0], s.sorted[:0]
	return nil
}

func (s *sorter) at(x rowIndex) row {
	r, size := parseHead(s.rows[x.at:])
	r.body = s.rows[x.at+rowHead : x.at+rowHead+size]
	return r
}

func (s *sorter) write(b []byte) error {
	if _, err := s.out.Write(b); err != nil {
		return fmt.Errorf("sorting, in a temporary file: %w", err)
	}
	s.size += int64(len(b))
	return nil
}

func (s *sorter) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("sorting, in a temporary file: %w", err)
	}
	return nil
}

// newFile creates a file next to the output, which needs room anyway. It removes the file's name at
// once if the system allows that, so that even a killed merge leaves nothing behind.
func (s *sorter) newFile() error {
	f, err := os.CreateTemp(s.folder, ".warp-merge-*")
	if err != nil {
		return fmt.Errorf("sorting needs a temporary file: %w", err)
	}
	_ = os.Remove(f.Name())
	s.file, s.size = f, 0
	s.out = bufio.NewWriterSize(f, readBuffer)
	return nil
}

// finish is called after the last row has been added.
func (s *sorter) finish(ctx context.Context) error {
	if len(s.sorted) > 0 {
		if err := s.writeRun(); err != nil {
			return err
		}
	}
	s.rows, s.sorted = nil, nil
	for len(s.runs) > s.maxRuns {
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
func (s *sorter) mergeGroups(ctx context.Context) (err error) {
	if err := s.flush(); err != nil {
		return err
	}
	old, runs := s.file, s.runs
	defer func() { err = errors.Join(err, removeFile(old)) }()
	s.file, s.runs = nil, nil
	if err := s.newFile(); err != nil {
		return err
	}
	var b []byte
	for group := range slices.Chunk(runs, s.maxRuns) {
		from := s.size
		if err := mergeRuns(ctx, old, group, func(r *row) error {
			b = r.append(b[:0])
			return s.write(b)
		}); err != nil {
			return err
		}
		s.runs = append(s.runs, run{from, s.size})
	}
	return nil
}

// each calls f with all rows in order. It can be called again. The row is
// valid until f returns.
func (s *sorter) each(ctx context.Context, f func(*row) error) error {
	return mergeRuns(ctx, s.file, s.runs, f)
}

// close removes the temporary file.
func (s *sorter) close() error {
	if s.file == nil {
		return nil
	}
	err := removeFile(s.file)
	s.file, s.runs = nil, nil
	return err
}

func removeFile(f *os.File) error {
	err := f.Close()
	if rerr := os.Remove(f.Name()); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// A runReader reads the rows of a run.
type runReader struct {
	in   *bufio.Reader
	left int64 // bytes of the run
	row  row
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
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	row, size := parseHead(r.head[:])
	if r.left -= rowHead + int64(size); r.left < 0 || size > maxBody {
		return errSpill
	}
	row.body = slices.Grow(r.row.body[:0], size)[:size]
	r.row = row
	if _, err := io.ReadFull(r.in, row.body); err != nil {
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	return nil
}

// runHeap has the run with the first row at its top.
type runHeap []*runReader

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].row.compare(&h[j].row) < 0 }
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
func mergeRuns(ctx context.Context, file *os.File, runs []run, f func(*row) error) error {
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
		case io.EOF: // the end of the run; a file that is too short is errSpill
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

var errSpill = errors.New("a temporary file of the merge is damaged")

// rowHead is the number of bytes before the body of a row in the file.
const rowHead = 8 + 2 + 4

// append encodes the row as in the file.
func (r *row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.start))
	b = binary.LittleEndian.AppendUint16(b, uint16(r.source))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.body)))
	return append(b, r.body...)
}

// parseHead decodes what append has written before the body.
func parseHead(b []byte) (r row, size int) {
	e := binary.LittleEndian
	return row{start: int64(e.Uint64(b)), source: uint32(e.Uint16(b[8:]))}, int(e.Uint32(b[10:]))
}
