package bench

import (
	"context"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Put uploads objects.
type Put struct {
	Sizes generator.Sizes
	Post  bool // as a browser's form does
}

// Prepare makes sure that the store takes forms, if that is what it will get.
func (p *Put) Prepare(ctx context.Context, e *Env) error {
	if !p.Post {
		return nil
	}
	const size = 1000
	var key string
	send := func(w *Worker) error {
		key = w.nextKey()
		return w.post(ctx, key, size)
	}
	return feature("uploads by a form (POST)").try(ctx, e, send, func(h *store.Host) error {
		return e.checkAndRemove(ctx, h, []string{key}, size)
	})
}

// Do uploads one object.
func (p *Put) Do(ctx context.Context, w *Worker) error {
	key, size := w.nextKey(), p.Sizes.Next(w.Rand)
	if p.Post {
		return w.spend(1, size, func(int) error { return w.post(ctx, key, size) })
	}
	_, err := w.upload(ctx, key, size)
	return err
}

// post measures the upload of one object by a form.
func (w *Worker) post(ctx context.Context, key string, size int64) error {
	return w.Measure(ctx, "POST", key, func(ctx context.Context, r *Request) error {
		r.Bytes = size
		w.body.Reset(generator.PayloadID(key), size)
		_, err := r.Post(ctx, w.putOf(key, size), r.Trace)
		return err
	})
}
