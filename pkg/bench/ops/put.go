package ops

import (
	"context"

	"warp/pkg/bench"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Put uploads objects.
type Put struct {
	Sizes generator.Sizes
	Post  bool // as a browser's form does
}

// Prepare makes sure that the store takes forms, if that is what it will get.
func (p *Put) Prepare(ctx context.Context, e *bench.Env) error {
	if !p.Post {
		return nil
	}
	const size = 1000
	var key string
	send := func(w *bench.Worker) error {
		key = w.NextKey()
		return post(ctx, w, key, size)
	}
	return bench.Feature("uploads by a form (POST)").Try(ctx, e, send, func(h *store.Host) error {
		return e.CheckAndRemove(ctx, h, []string{key}, size)
	})
}

// Do uploads one object.
func (p *Put) Do(ctx context.Context, w *bench.Worker) error {
	key, size := w.NextKey(), p.Sizes.Next(w.Rand)
	if p.Post {
		return w.Spend(1, size, func(int) error { return post(ctx, w, key, size) })
	}
	_, err := w.Upload(ctx, key, size)
	return err
}

// post measures the upload of one object by a form.
func post(ctx context.Context, w *bench.Worker, key string, size int64) error {
	return w.Measure(ctx, "POST", key, func(ctx context.Context, r *bench.Request) error {
		r.Bytes = size
		w.Body.Reset(generator.PayloadID(key), size)
		_, err := r.Post(ctx, w.PutRequest(key, size), r.Trace)
		return err
	})
}
