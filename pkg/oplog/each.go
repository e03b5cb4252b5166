package oplog

import (
	"context"
	"errors"
	"io"
)

// eachBatch is enough for handing over to cost little.
const eachBatch = 4096

// Each calls f with all records, in batches that are valid until f returns.
// While f has one, the next is read. It returns the first error of reading, of
// f, or the cause of the end of ctx; the reader can be asked for what it knows
// after that.
func (r *Reader) Each(ctx context.Context, f func([]Record) error) error {
	return r.EachInWindow(ctx, func(Window, []Mark) {}, f)
}

// EachInWindow is Each that calls decided with what the run had decided about
// its window and with all marks so far, before the rows that follow them.
func (r *Reader) EachInWindow(ctx context.Context, decided func(Window, []Mark), f func([]Record) error) error {
	type batch struct {
		records []Record
		window  Window
		marks   []Mark
		err     error
	}
	full, free, stop := make(chan batch), make(chan []Record, 2), make(chan struct{})
	free <- make([]Record, eachBatch)
	free <- make([]Record, eachBatch)
	go func() {
		defer close(full)
		for dst := range free {
			n, err := r.Read(dst)
			select {
			case full <- batch{dst[:n], r.Window(), r.Marks(), err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	// The reader belongs to the other goroutine until that has ended.
	defer func() {
		close(stop)
		close(free)
		for range full {
		}
	}()
	window, marks := Window{}, 0
	for b := range full {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.window != window || len(b.marks) != marks {
			window, marks = b.window, len(b.marks)
			decided(window, b.marks)
		}
		if len(b.records) > 0 {
			if err := f(b.records); err != nil {
				return err
			}
		}
		if errors.Is(b.err, io.EOF) {
			return nil
		}
		if b.err != nil {
			return b.err
		}
		free <- b.records[:cap(b.records)]
	}
	return nil
}
