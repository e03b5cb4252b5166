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

// maxPiece is the max size of one write. It is small enough to see that a slow reader still reads,
// and large enough that a fast one costs few system calls.
const maxPiece = 16 << 10

// RowsOptions are the options of Rows.
type RowsOptions struct {
	Script  bool          // rows have the statement of a script
	Max     int           // max bytes that wait for the reader
	Wait    bool          // Write waits for room instead of dropping rows
	Timeout time.Duration // max time without progress after the run
	Grace   time.Duration // max wait once the context is done
	Warn    func(string)  // called once, when the first rows are dropped
	Waiting func()        // called when Close has to wait
}

// Rows is a recording.Sink that writes the rows of the op log as text. A slow reader never delays
// the run: whole rows that do not fit into the memory for them are dropped, unless Wait is set.
type Rows struct {
	options  RowsOptions
	text     oplog.Text
	buffer   *buffer[[]byte]
	dropped  int64 // for lack of room
	warnings sync.WaitGroup
}

// NewRows writes to w, beginning with the line that names the columns.
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

// piece returns the text of as many rows as fit into one write. It omits those that do not fit.
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

// Release stops all waiting from now on: rows that do not fit are dropped.
func (r *Rows) Release() { r.buffer.drop() }

// warn does not wait for the warning to be read, because a user who reads no rows may read no
// warnings either.
func (r *Rows) warn(text string) { r.warnings.Go(func() { r.options.Warn(text) }) }

// Flush does nothing, because rows are sent as soon as they are queued.
func (r *Rows) Flush() error { return nil }

// broken ends the rows after their reader has failed.
func (r *Rows) broken(err error) {
	if errors.Is(err, syscall.EPIPE) { // it wants no more, like head
		r.warn("the reader has closed it; the run goes on without it")
	} else {
		r.warn(fmt.Sprintf("no more rows: %v", err))
	}
}

// Close waits for the reader and returns what it did not get; "" = nothing, or nothing that it
// wanted. Rows may be written until rest returns; nil = no more rows.
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
	all.Wait() // count late rows
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
		// Some of the current piece may have arrived.
		return fmt.Sprintf("up to %d of %d rows did not reach the reader, %s", n, all, late)
	}
	return fmt.Sprintf("%d of %d rows were dropped because the reader was slow; gaps in idx show where", n, all)
}

// expiry returns a function that returns why to stop waiting for the reader.
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
