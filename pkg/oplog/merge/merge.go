// Package merge merges op logs. It finds the run and the client of each row, sorts rows by start
// with memory that does not depend on their number, and writes requests that are in several logs
// once.
package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"warp/internal/extsort"
	"warp/internal/human"
	"warp/pkg/oplog"
)

// Options of a merge.
type Options struct {
	// Open opens an input. It is [oplog.Open] if nil.
	Open func(name string) (*oplog.Reader, error)
	// Progress is called from time to time with the number of rows read so far.
	Progress func(rows int64)
	// Marks are added to the inputs' marks.
	Marks []oplog.Mark
	// Notes are added to the notes in the inputs' trailers.
	Notes []string
}

// Stats are the results of a merge.
type Stats struct {
	Path     string   // of the result
	Rows     int64    // written
	Repeated int64    // rows that were in several inputs but are written once
	Runs     int      // different runs
	Clients  int      // different clients of runs
	Warnings []string // of the inputs and of the merge itself
}

// Logs writes the rows of all inputs to a new log at path, sorted by start.
//
// A thread is known by run, client and number, so rows of one thread may come
// from any number of inputs; threads of different runs or clients get numbers
// of their own, which the header of the result takes back when it is read.
//
//   - Without a run id the client id identifies the run. Where exactly one run
//     with an id has that client, the rows are pieces of it.
//   - Without either (logs of 2019), inputs are pieces of one run unless some
//     thread would have been busy with two requests at once: a thread is
//     sequential. Operations for which an input contradicts that by itself (one
//     thread number for all uploads of the preparation) prove nothing.
//   - The log of a client whose clock was compared with the coordinator's says
//     by how much it is ahead; its times are moved by that.
//   - A request that several inputs have is counted once, with a warning.
//
// The result does not depend on the order of the inputs, to the byte.
func Logs(ctx context.Context, path string, inputs []string, o Options) (Stats, error) {
	if err := distinctFiles(inputs); err != nil {
		return Stats{}, err
	}
	// Report an existing file before an hour of sorting.
	if err := oplog.CheckNew(path); err != nil {
		return Stats{}, err
	}
	return mergeWith(ctx, extsort.New(filepath.Dir(path)), path, inputs, o)
}

// mergeWith merges with a sorter, which it closes.
func mergeWith(ctx context.Context, s *extsort.Sorter, path string, inputs []string, o Options) (stats Stats, err error) {
	if o.Open == nil {
		o.Open = oplog.Open
	}
	m := &merger{ctx: ctx, options: o, sorter: s, logs: map[clientID]*sourceLog{}}
	defer func() { err = errors.Join(err, s.Close()) }()
	for at, name := range inputs {
		if err := m.read(at, name); err != nil {
			return stats, err
		}
	}
	if err := s.Finish(ctx); err != nil {
		return stats, err
	}
	if err := m.identify(); err != nil {
		return stats, err
	}
	err = m.write(path)
	return m.stats, err
}

// distinctFiles rejects a file that is given twice, even under two names.
func distinctFiles(inputs []string) error {
	if len(inputs) == 0 {
		return errors.New("there is nothing to merge: name at least one log")
	}
	infos := make([]os.FileInfo, len(inputs))
	for i, name := range inputs {
		infos[i], _ = os.Stat(name) // opening the file reports the error later
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
	options Options
	sorter  *extsort.Sorter
	stats   Stats

	sources  []*inputClient
	logs     map[clientID]*sourceLog
	comments []string
	marks    []oplog.Mark
	rowsRead int64
	scripted bool // an input has a column of statements
	checks   *oplog.Checks

	clients []*client // of the result, in order
	header  oplog.Header
	trailer oplog.Trailer
}

// A clientID identifies a client of a run, as far as a log does.
type clientID struct{ run, name string }

// A client is one client of one run in the result.
type client struct {
	clientID
	threads uint32 // highest thread number plus one
	offset  uint32 // added to thread numbers
	log     *sourceLog
	at      int   // index among the clients
	rows    int64 // written
}

// A threadRange is a range of an inputClient's threads, all of one client.
type threadRange struct {
	from, count uint32   // numbers in the input
	id          clientID // as the input identifies it
	client      *client  // nil until it is known
	node        int      // see nameAnonymous; -1 if the client has a name
}

// numbering says how an input numbers the threads of a client: a merged log with its header and one
// without it use different numbers for the same thread.
type numbering struct {
	client *client
	from   uint32
}

func (r *threadRange) numbering() numbering { return numbering{r.client, r.from} }

// write writes the sorted rows to a log at path.
func (m *merger) write(path string) error {
	m.header.Scripted, m.header.Checks = m.scripted, m.checks
	if len(m.header.Merged) == 0 && m.trailer.Window == nil {
		m.header.Windowed = false // a piece of a log, which does not contain its window
	}
	f, err := oplog.Create(path, m.header)
	if err != nil {
		return err
	}
	err = m.writeWindow(f.Writer)
	if err == nil {
		err = m.writeMarks(f.Writer)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	x := &rowWriter{m: m, w: f.Writer, counts: map[rowOwner]int64{}}
	err = m.sorter.Each(m.ctx, x.add)
	if err == nil {
		err = x.flush()
	}
	if err == nil {
		err = m.writeComments(f.Writer)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	if lost := m.lossNotes(); len(lost) > 0 {
		m.trailer.Notes = joinNotes(append(m.trailer.Notes, lost...))
	}
	m.trailer.Notes = append(m.trailer.Notes, m.options.Notes...)
	m.stats.Path, err = f.Commit(m.trailer)
	slices.Sort(m.stats.Warnings)
	return err
}

func (m *merger) writeComments(w *oplog.Writer) error {
	slices.Sort(m.comments)
	for _, c := range m.comments {
		if err := w.Comment(c); err != nil {
			return err
		}
	}
	if n := m.stats.Repeated; n > 0 {
		m.stats.Warnings = append(m.stats.Warnings, fmt.Sprintf("%s in several of the logs and counted once", human.Count(n, "request is", "requests are")))
	}
	return nil
}

// read sorts the rows of one input.
func (m *merger) read(at int, name string) (err error) {
	r, err := m.options.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	in := &input{m: m, at: at, r: r, header: r.Header(), known: map[clientID]uint32{}}
	if in.shift, err = clockShiftOf(in.header, name); err != nil {
		return err
	}
	in.addHeader()
	batch := make([]oplog.Record, batchRows)
	for {
		n, err := r.Read(batch)
		if errors.Is(err, io.EOF) {
			in.addTrailer()
			return nil
		}
		if err != nil {
			return err
		}
		if err := in.add(batch[:n]); err != nil {
			return err
		}
		if m.rowsRead += int64(n); m.options.Progress != nil {
			m.options.Progress(m.rowsRead)
		}
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
	}
}

// writeWindow writes the window in a log of one client. It is completely known before the first
// row.
func (m *merger) writeWindow(w *oplog.Writer) error {
	if !m.header.Windowed || len(m.header.Merged) > 0 {
		return nil
	}
	return w.SetWindow(*m.trailer.Window)
}

// writeMarks writes the marks of all logs, each once, before the first row.
func (m *merger) writeMarks(w *oplog.Writer) error {
	marks := append(m.marks, m.options.Marks...)
	slices.SortFunc(marks, oplog.Mark.Compare)
	marks = slices.Compact(marks)
	if n := len(marks); n > oplog.MaxMarks {
		m.stats.Warnings = append(m.stats.Warnings, fmt.Sprintf("the logs have %d marks, and only the first %d are kept", n, oplog.MaxMarks))
		marks = marks[:oplog.MaxMarks]
	}
	for _, mark := range marks {
		if err := w.AddMark(mark); err != nil {
			return err
		}
	}
	return nil
}
