package ops

import (
	"context"

	"warp/pkg/bench"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// FanOut uploads one payload that the store writes under many names.
type FanOut struct {
	Sizes  generator.Sizes
	Copies int
}

// Prepare makes sure that the store writes the copies.
func (f *FanOut) Prepare(ctx context.Context, e *bench.Env) error {
	const size = 1000
	var keys []string
	send := func(w *bench.Worker) error {
		keys = nextCopies(w, 2)
		return f.send(ctx, w, keys, size)
	}
	return bench.Feature("fan-out uploads (an extension of MinIO)").Try(ctx, e, send, func(h *store.Host) error {
		return e.CheckAndRemove(ctx, h, keys, size)
	})
}

// Do makes one request.
func (f *FanOut) Do(ctx context.Context, w *bench.Worker) error {
	size := f.Sizes.Next(w.Rand)
	return w.Spend(f.Copies, size, func(n int) error { return f.send(ctx, w, nextCopies(w, n), size) })
}

// send measures one fan-out. Its row counts the objects that the store writes, so that
// it can be compared with single uploads of the same objects.
func (f *FanOut) send(ctx context.Context, w *bench.Worker, keys []string, size int64) error {
	return w.Measure(ctx, "POST", keys[0], func(ctx context.Context, r *bench.Request) error {
		r.Objects, r.Bytes = len(keys), size*int64(len(keys))
		w.Body.Reset(generator.PayloadID(keys[0]), size)
		_, err := r.FanOut(ctx, store.FanOut{Bucket: w.Env.Bucket, Keys: keys, Body: w.Body, Size: size}, r.Trace)
		return err
	})
}

// nextCopies returns names of the next n objects of this worker, all of which have
// the content of the first.
func nextCopies(w *bench.Worker, n int) []string {
	keys := nextKeys(w, n)
	for i := range keys {
		keys[i] += generator.CopySuffix
	}
	return keys
}

// nextKeys returns the names of the next n objects of this worker.
func nextKeys(w *bench.Worker, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = w.NextKey()
	}
	return keys
}
