package oplog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"warp/pkg/oplog/frame"
)

// A Writer writes one op log. It is not safe for concurrent use. The first
// error ends it: nothing is written after it, and every later call returns it.
type Writer struct {
	enc    *frame.Encoder
	format rowFormatter
	buf    []byte
	closed bool
	err    error
}

// rowLayout tells the encoder what a line is made of.
func rowLayout() frame.Layout {
	return frame.Layout{Pieces: pieces, Key: pieceKey}
}

// NewWriter starts a log on w with its column line and its header. They are in
// the file before NewWriter returns, so that even a run killed at once leaves
// a log that can be read.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	lw := &Writer{enc: frame.NewEncoder(w, rowLayout()), buf: make([]byte, 0, 4096)}
	lw.buf = append(lw.buf, columns...)
	if lw.format.kinds.statements = h.hasStatements(); lw.format.kinds.statements {
		lw.buf = append(lw.buf, statementColumn...)
	}
	lw.buf = append(lw.buf, '\n')
	if err := lw.comment(h); err != nil {
		return nil, err
	}
	return lw, lw.Flush()
}

// Rows is how many rows were written.
func (w *Writer) Rows() int64 { return int64(w.format.index) }

// Write appends one row per record.
func (w *Writer) Write(records []Record) error {
	for i := range records {
		if err := w.writeRow(&records[i], nil, records[i].Thread); err != nil {
			return err
		}
	}
	return nil
}

// writeRow appends a row. Its kind is looked for where the caller does not know it.
func (w *Writer) writeRow(r *Record, known *knownKind, thread uint32) error {
	if err := w.ready(thread); err != nil {
		return err
	}
	if r.Op == "" || r.Objects < 0 || r.Bytes < 0 || r.Duration < 0 {
		// Not remembered: better to lose this row than the rows after it, and
		// a reader would stop at it.
		return fmt.Errorf("writing the op log: a record of %q with %d objects, %d bytes, %v is not a request",
			r.Op, r.Objects, r.Bytes, r.Duration)
	}
	var k *kindText
	if known != nil {
		k = w.format.kinds.findKnown(known)
	} else {
		k = w.format.kinds.find(r)
	}
	b, err := w.enc.Space()
	if err == nil {
		b = w.format.append(b, r, k, thread)
		err = w.enc.Row(b, &w.format.starts, k.number, thread)
	}
	return w.failed(err)
}

// writeText appends a row of which there is text.
func (w *Writer) writeText(x *rowText, thread uint32) error {
	if err := w.ready(thread); err != nil {
		return err
	}
	k := w.format.kinds.findKnown(x.kind)
	b, err := w.enc.Space()
	if err == nil {
		b = w.format.appendText(b, x, k, thread)
		err = w.enc.Row(b, &w.format.starts, k.number, thread)
	}
	return w.failed(err)
}

// ready prepares for a row of that thread.
func (w *Writer) ready(thread uint32) error {
	if err := w.usable(); err != nil {
		return err
	}
	if thread > maxThread {
		w.err = fmt.Errorf("writing the op log: thread %d does not fit its 16 bits", thread)
		return w.err
	}
	return w.spill()
}

// failed remembers an error of writing.
func (w *Writer) failed(err error) error {
	if err != nil {
		w.err = fmt.Errorf("writing the op log: %w", err)
	}
	return w.err
}

func (w *Writer) usable() error {
	if w.err == nil && w.closed {
		return errors.New("writing the op log: it is closed")
	}
	return w.err
}

// spill hands the gathered text to the encoder, in a new frame where none is open.
func (w *Writer) spill() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	if err := w.enc.Text(w.buf); err != nil {
		w.err = fmt.Errorf("writing the op log: %w", err)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Flush ends the zstd frame: what was written so far can be read from now on,
// whatever happens to this process.
func (w *Writer) Flush() error {
	if err := w.spill(); err != nil {
		return err
	}
	if err := w.enc.Flush(); err != nil {
		w.err = fmt.Errorf("writing the op log: %w", err)
	}
	return w.err
}

// Comment writes a line that no reader takes for a row.
func (w *Writer) Comment(text string) error {
	if err := w.usable(); err != nil {
		return err
	}
	text = strings.NewReplacer("\n", " ", "\r", " ", "\x00", "\uFFFD").Replace(text)
	w.buf = append(append(append(w.buf, "# "...), text...), '\n')
	return nil
}

// comment writes v as JSON.
func (w *Writer) comment(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a command line is easier to read with its < and &
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing the op log: %w", err)
	}
	if b.Len() > maxLine-2 {
		return fmt.Errorf("writing the op log: a comment of %d bytes is more than a reader accepts", b.Len())
	}
	w.buf = append(append(w.buf, "# "...), b.Bytes()...) // Encode has ended the line
	return nil
}

// Close writes t and ends the log. A zero Trailer is not written, as if the
// run had been cut off: that is for copies of logs that were.
func (w *Writer) Close(t Trailer) error {
	if err := w.usable(); err != nil {
		w.closed = true
		return err
	}
	if !t.isZero() {
		if err := w.comment(t); err != nil {
			return err
		}
	}
	err := w.Flush()
	w.closed = true
	return err
}

// AsRead is t as a reader finds it in a log; false where it cannot be in one.
func (t Trailer) AsRead() (read Trailer, ok bool) {
	b, err := json.Marshal(t)
	return read, err == nil && !t.isZero() && json.Unmarshal(b, &read) == nil
}

// isZero says that nothing is known about how the run ended.
func (t *Trailer) isZero() bool {
	return t.End == "" && t.Reason == "" && len(t.Notes) == 0 && t.Offered == 0 && t.Unsent == 0 && t.Load == nil && len(t.Merged) == 0 &&
		t.Window == nil && t.UnsentWaits == nil && t.CutOff == nil && len(t.Pauses) == 0
}
