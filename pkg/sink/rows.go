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

// mostPiece is how much text goes into one write: so little that a slow reader
// shows that it reads, and so much that a fast one costs few system calls.
const mostPiece = 16 << 10

// RowsOptions are what Rows can be told.
type RowsOptions struct {
	Script   bool          // rows have the statement of a script
	Most     int           // bytes that may wait for the reader
	Hold     bool          // what is more waits with whoever writes it, who can wait, rather than be dropped
	Patience time.Duration // how long it may take nothing after the run
	Grace    time.Duration // how long it is waited for once the context is done
	Warn     func(string)  // told once, when rows begin to get lost
	Waiting  func()        // told when Close has to wait
}

// Rows is a bench.Sink that writes the rows of the op log as text. A goroutine
// of its own writes, so that a slow reader never holds up the run: what does
// not fit into the memory meant for that is dropped, by whole rows, where it is
// not to be held.
type Rows struct {
	RowsOptions
	w    io.Writer
	text oplog.Text

	mu      sync.Mutex
	more    sync.Cond // there is a piece, or nothing follows
	room    sync.Cond // there is some, or none is needed any more
	pieces  []piece   // not yet written, in order; the last one may grow
	held    int       // bytes of them, and of the one that is being written
	rows    int64     // that there were
	dropped int64     // for lack of room
	written int64
	moved   time.Time // when the reader took something last
	failed  error     // of the writer; nothing is kept after it
	ending  bool      // nothing follows
	left    bool      // Close has given up
	done    chan struct{}
	told    sync.WaitGroup
}

// A piece is some whole rows.
type piece struct {
	text []byte
	rows int64
}

// NewRows writes to w, with the line that names the columns first.
func NewRows(w io.Writer, o RowsOptions) *Rows {
	r := &Rows{RowsOptions: o, w: w, done: make(chan struct{})}
	r.more.L, r.room.L = &r.mu, &r.mu
	if o.Script {
		r.text = oplog.ScriptText()
	}
	first := piece{text: r.text.AppendColumns(nil)}
	r.pieces, r.held = []piece{first}, len(first.text)
	go r.loop()
	return r
}

// Write queues rows.
func (r *Rows) Write(batch []oplog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows += int64(len(batch))
	for r.Hold && r.held >= r.Most && !r.over() {
		r.room.Wait()
	}
	if r.over() {
		return nil
	}
	for i := range batch {
		r.add(&batch[i])
	}
	r.more.Signal()
	return nil
}

// over says that nothing more is written. The lock is held.
func (r *Rows) over() bool { return r.failed != nil || r.left }

// Release holds nothing from now on: what does not fit is dropped.
func (r *Rows) Release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Hold = false
	r.room.Broadcast()
}

func (r *Rows) add(record *oplog.Record) {
	if n := len(r.pieces); n == 0 || len(r.pieces[n-1].text) >= mostPiece {
		r.pieces = append(r.pieces, piece{})
	}
	last := &r.pieces[len(r.pieces)-1]
	before := len(last.text)
	last.text = r.text.AppendRow(last.text, record)
	size := len(last.text) - before
	if r.Hold || r.held+size <= r.Most {
		r.held += size
		last.rows++
		return
	}
	last.text = last.text[:before]
	if r.dropped++; r.dropped == 1 {
		r.tell(fmt.Sprintf("the reader is slow: %d MiB of rows wait for it, and those that do not fit are dropped", r.Most>>20))
	}
}

// tell warns without waiting for it: who reads no rows may read no warnings.
func (r *Rows) tell(text string) { r.told.Go(func() { r.Warn(text) }) }

// Flush has nothing to do: rows are on their way as soon as they are queued.
func (r *Rows) Flush() error { return nil }

func (r *Rows) loop() {
	defer close(r.done)
	for {
		p, ok := r.next()
		if !ok {
			return
		}
		_, err := r.w.Write(p.text)
		if !r.wrote(p, err) {
			return
		}
	}
}

// next waits for a piece; there is none once nothing follows.
func (r *Rows) next() (piece, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.pieces) == 0 && !r.ending {
		r.more.Wait()
	}
	if len(r.pieces) == 0 || r.left {
		return piece{}, false
	}
	p := r.pieces[0]
	r.pieces[0] = piece{} // or its text would live as long as the slice
	r.pieces = r.pieces[1:]
	return p, true
}

// wrote notes what became of a piece, and whether to go on.
func (r *Rows) wrote(p piece, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= len(p.text)
	r.moved = time.Now()
	if err == nil {
		r.written += p.rows
		r.room.Signal()
		return true
	}
	r.failed, r.pieces, r.held = err, nil, 0
	r.room.Broadcast()
	switch {
	case r.left: // and was said to be lost
	case r.closedByReader():
		r.tell("the reader has closed it; the run goes on without it")
	default:
		r.tell(fmt.Sprintf("no more rows: %v", err))
	}
	return false
}

// closedByReader says that the reader wants no more, like head.
func (r *Rows) closedByReader() bool { return errors.Is(r.failed, syscall.EPIPE) }

// Close waits for the reader and says what it lacks; "" = nothing, or nothing
// that it wanted. Rows may be written until rest returns; nil = none are.
func (r *Rows) Close(ctx context.Context, rest func()) (lost string) {
	r.mu.Lock()
	r.moved = time.Now()
	r.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() {
		if rest != nil {
			rest()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ending = true
		r.more.Signal()
	})
	why := r.wait(ctx)
	r.mu.Lock()
	r.left = true
	r.room.Broadcast()
	r.mu.Unlock()
	all.Wait() // those that are left are counted
	r.mu.Lock()
	lost = r.lacks(why)
	r.mu.Unlock()
	r.told.Wait()
	return lost
}

func (r *Rows) lacks(why string) string {
	n := r.rows - r.written
	switch {
	case n == 0 || r.closedByReader():
		return ""
	case r.failed != nil:
		return fmt.Sprintf("%d of %d rows could not be written: %v", n, r.rows, r.failed)
	case why != "":
		// Of the piece that is being written some may have arrived.
		return fmt.Sprintf("up to %d of %d rows did not reach the reader, %s", n, r.rows, why)
	}
	return fmt.Sprintf("%d of %d rows were dropped because the reader was slow; gaps in idx show where", n, r.rows)
}

// wait returns when everything is written, or says why it waits no longer.
func (r *Rows) wait(ctx context.Context) (why string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	began, told := time.Now(), false
	var interrupted time.Time
	for {
		select {
		case <-r.done:
			return ""
		case <-tick.C:
		}
		if interrupted.IsZero() && ctx.Err() != nil {
			interrupted = time.Now()
		}
		switch {
		case !interrupted.IsZero() && time.Since(interrupted) >= r.Grace:
			return "which was not waited for after the interruption"
		case r.idle() >= r.Patience:
			return fmt.Sprintf("which took nothing for %v", r.Patience)
		case !told && time.Since(began) >= time.Second:
			told = true
			r.Waiting()
		}
	}
}

// idle is for how long the reader has taken nothing of what there is.
func (r *Rows) idle() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == 0 {
		r.moved = time.Now()
	}
	return time.Since(r.moved)
}
