package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"warp/pkg/oplog"
)

// maxPiece is how much text goes into one write: so little that a slow reader
// shows that it reads, and so much that a fast one costs few system calls.
const maxPiece = 16 << 10

// RowsOptions say how Rows treats its reader.
type RowsOptions struct {
	Script  bool          // rows have the statement of a script
	Max     int           // bytes that may wait for the reader
	Wait    bool          // Write waits for room, rather than drop what does not fit
	Timeout time.Duration // how long it may take nothing after the run
	Grace   time.Duration // how long it is waited for once the context is done
	Warn    func(string)  // called once, when rows begin to get lost
	Waiting func()        // called when Close has to wait
}

// Rows is a recording.Sink that writes the rows of the op log as text. A slow
// reader never holds up the run: what does not fit into the memory meant for
// that is dropped, by whole rows, unless Wait is set.
type Rows struct {
	options  RowsOptions
	text     oplog.Text
	buffer   *buffer[[]byte]
	dropped  int64 // for lack of room
	warnings sync.WaitGroup
}

// NewRows writes to w, with the line that names the columns first.
func NewRows(w io.Writer, o RowsOptions) *Rows {
	r := &Rows{options: o}
	if o.Script {
		r.text = oplog.ScriptText()
	}
	r.buffer = newBuffer(o.Max, func(text []byte) error {
		_, err := w.Write(text)
		return err
	})
	r.buffer.wait, r.buffer.broken = o.Wait, r.broken
	columns := r.text.AppendColumns(nil)
	r.buffer.put(columns, len(columns), 0)
	r.buffer.start()
	return r
}

// Write queues rows.
func (r *Rows) Write(batch []oplog.Record) error {
	r.buffer.offer(int64(len(batch)))
	for len(batch) > 0 {
		room := r.buffer.room()
		if room == 0 && r.buffer.over() {
			return nil
		}
		text, kept, read := r.piece(batch, room)
		if len(text) > 0 {
			r.buffer.put(text, len(text), kept)
		}
		batch = batch[read:]
	}
	return nil
}

// piece is the text of as many rows as go into one write. Those that do not fit
// are left out.
func (r *Rows) piece(batch []oplog.Record, room int) (text []byte, kept int64, read int) {
	for read < len(batch) && len(text) < maxPiece {
		before := len(text)
		text = r.text.AppendRow(text, &batch[read])
		read++
		if len(text) <= room {
			kept++
			continue
		}
		text = text[:before]
		if r.dropped++; r.dropped == 1 {
			r.warn(fmt.Sprintf("the reader is slow: %d MiB of rows wait for it, and those that do not fit are dropped", r.options.Max>>20))
		}
	}
	return text, kept, read
}

// Release lets nothing wait from now on: what does not fit is dropped.
func (r *Rows) Release() { r.buffer.drop() }

// warn does not wait for the warning to be read: whoever reads no rows may read
// no warnings.
func (r *Rows) warn(text string) { r.warnings.Go(func() { r.options.Warn(text) }) }

// Flush has nothing to do: rows are on their way as soon as they are queued.
func (r *Rows) Flush() error { return nil }

// broken ends the rows when their reader has failed.
func (r *Rows) broken(err error) {
	if errors.Is(err, syscall.EPIPE) { // it wants no more, like head
		r.warn("the reader has closed it; the run goes on without it")
	} else {
		r.warn(fmt.Sprintf("no more rows: %v", err))
	}
}

// Close waits for the reader and says what it lacks; "" = nothing, or nothing
// that it wanted. Rows may be written until rest returns; nil = none are.
func (r *Rows) Close(ctx context.Context, rest func()) (lost string) {
	var all sync.WaitGroup
	all.Go(func() {
		if rest != nil {
			rest()
		}
		r.buffer.end()
	})
	late := r.buffer.await(r.expiry(ctx))
	r.buffer.abandon()
	all.Wait() // rows that come late are counted
	lost = r.lost(late)
	r.warnings.Wait()
	return lost
}

func (r *Rows) lost(late string) string {
	n, all, err := r.buffer.lost()
	switch {
	case n == 0 || errors.Is(err, syscall.EPIPE):
		return ""
	case err != nil:
		return fmt.Sprintf("%d of %d rows could not be written: %v", n, all, err)
	case late != "":
		// Of the piece that is being written some may have arrived.
		return fmt.Sprintf("up to %d of %d rows did not reach the reader, %s", n, all, late)
	}
	return fmt.Sprintf("%d of %d rows were dropped because the reader was slow; gaps in idx show where", n, all)
}

// expiry returns a function that says why the reader is not waited for any
// longer.
func (r *Rows) expiry(ctx context.Context) func() string {
	began, noted := time.Now(), false
	var interrupted time.Time
	return func() string {
		if interrupted.IsZero() && ctx.Err() != nil {
			interrupted = time.Now()
		}
		switch {
		case !interrupted.IsZero() && time.Since(interrupted) >= r.options.Grace:
			return "which was not waited for after the interruption"
		case r.buffer.idle() >= r.options.Timeout:
			return fmt.Sprintf("which took nothing for %v", r.options.Timeout)
		case !noted && time.Since(began) >= time.Second:
			noted = true
			r.options.Waiting()
		}
		return ""
	}
}
