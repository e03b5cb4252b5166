package bench

import (
	"context"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// FanOut uploads one payload that the store writes under many names.
type FanOut struct {
	Sizes  generator.Sizes
	Copies int
}

// Prepare makes sure that the store writes the copies.
func (f *FanOut) Prepare(ctx context.Context, e *Env) error {
	const size = 1000
	var keys []string
	send := func(w *Worker) error {
		keys = w.nextCopies(2)
		return f.send(ctx, w, keys, size)
	}
	return feature("fan-out uploads (an extension of MinIO)").try(ctx, e, send, func(h *store.Host) error {
		return e.checkAndRemove(ctx, h, keys, size)
	})
}

// Do makes one request.
func (f *FanOut) Do(ctx context.Context, w *Worker) error {
	size := f.Sizes.Next(w.Rand)
	return w.spend(f.Copies, size, func(n int) error { return f.send(ctx, w, w.nextCopies(n), size) })
}

// send measures one fan-out. Its row counts the objects that the store writes, so that
// it can be compared with single uploads of the same objects.
func (f *FanOut) send(ctx context.Context, w *Worker, keys []string, size int64) error {
	return w.Measure(ctx, "POST", keys[0], func(ctx context.Context, r *Request) error {
		r.Objects, r.Bytes = len(keys), size*int64(len(keys))
		w.body.Reset(generator.PayloadID(keys[0]), size)
		_, err := r.FanOut(ctx, store.FanOut{Bucket: w.Env.Bucket, Keys: keys, Body: w.body, Size: size}, r.Trace)
		return err
	})
}

// nextCopies returns names of the next n objects of this worker, all of which have
// the content of the first.
func (w *Worker) nextCopies(n int) []string {
	keys := w.nextKeys(n)
	for i := range keys {
		keys[i] += generator.CopySuffix
	}
	return keys
}

// nextKeys returns the names of the next n objects of this worker.
func (w *Worker) nextKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = w.nextKey()
	}
	return keys
}
