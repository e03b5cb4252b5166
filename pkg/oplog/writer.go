package oplog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"warp/internal/human"
	"warp/pkg/oplog/lines"

	"github.com/klauspost/compress/zstd"
)

// A Writer writes one op log. It is not safe for concurrent use. The first
// error ends it: nothing is written after it, and every later call returns it.
type Writer struct {
	dst    io.Writer
	enc    *zstd.Encoder
	open   bool // a frame has begun
	format rowFormatter
	buf    []byte // text that the encoder does not have yet
	closed bool
	err    error
}

const (
	// window is how far back the encoder searches for repetitions, and so how much a reader keeps.
	window = 512 << 10
	// bufferedText is how much text the encoder gets at once.
	bufferedText = 16 << 10
)

// NewWriter starts a log on w with its column line and its header. They are in
// the file before NewWriter returns, so that even a run killed at once leaves
// a log that can be read.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	// One goroutine: compressing in others during the run would cost the load a core.
	enc, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("writing the op log: %w", err)
	}
	lw := &Writer{dst: w, enc: enc, buf: make([]byte, 0, 2*bufferedText)}
	lw.format.scripted = h.Scripted || len(h.Statements) > 0
	lw.format.checked = h.Checks != nil
	lw.buf = lw.format.appendColumns(lw.buf)
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
		if err := w.writeRow(&records[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) writeRow(r *Record) error {
	if err := w.ready(r.Thread); err != nil {
		return err
	}
	if r.Op == "" || r.Objects < 0 || r.Bytes < 0 || r.Duration < 0 {
		// Not remembered: better to lose this row than the rows after it, and
		// a reader would stop at it.
		return fmt.Errorf("writing the op log: a record of %q with %d objects, %d bytes, %v is not a request",
			r.Op, r.Objects, r.Bytes, r.Duration)
	}
	w.buf = w.format.append(w.buf, r)
	return w.spillFull()
}

// ready checks that a row of that thread can be written.
func (w *Writer) ready(thread uint32) error {
	if err := w.usable(); err != nil {
		return err
	}
	if thread > MaxThread {
		w.err = fmt.Errorf("writing the op log: thread %d does not fit its 16 bits", thread)
	}
	return w.err
}

func (w *Writer) usable() error {
	if w.err == nil && w.closed {
		return errors.New("writing the op log: it is closed")
	}
	return w.err
}

// spillFull passes the text to the encoder once there is enough for a call.
func (w *Writer) spillFull() error {
	if len(w.buf) < bufferedText {
		return nil
	}
	return w.spill()
}

// spill passes the text to the encoder, in a new frame if none is open.
func (w *Writer) spill() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	if !w.open {
		w.enc.Reset(w.dst)
		w.open = true
	}
	_, err := w.enc.Write(w.buf)
	w.buf = w.buf[:0]
	return w.fail(err)
}

// Flush ends the zstd frame: what was written so far can be read from now on,
// whatever happens to this process.
func (w *Writer) Flush() error {
	if err := w.spill(); err != nil || !w.open {
		return err
	}
	w.open = false
	return w.fail(w.enc.Close())
}

// fail remembers an error of writing.
func (w *Writer) fail(err error) error {
	if err != nil {
		w.err = fmt.Errorf("writing the op log: %w", err)
	}
	return w.err
}

// Comment writes a line that readers do not parse as a row.
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
	if b.Len() > lines.Max-2 {
		return fmt.Errorf("writing the op log: a comment of %s is more than a reader accepts", human.Bytes(float64(b.Len())))
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
	if !t.IsZero() {
		t.Rows = w.Rows()
		if err := w.comment(t); err != nil {
			return err
		}
	}
	err := w.Flush()
	w.closed = true
	return err
}

// IsZero says that nothing is known about how the run ended.
func (t *Trailer) IsZero() bool {
	return t.End == "" && t.Reason == "" && len(t.Notes) == 0 && t.Offered == 0 && t.Unsent == 0 && t.Load == nil && len(t.Merged) == 0 &&
		t.Window == nil && t.UnsentWaits == nil && t.UnsentStages == nil && t.StageLengths == nil && t.CutOff == nil && len(t.Pauses) == 0 && t.Picks == nil
}
