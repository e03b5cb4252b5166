package bench

import (
	"context"

	"warp/pkg/generator"
)

// Put uploads objects.
type Put struct {
	Sizes generator.Sizes
}

// Prepare needs nothing.
func (p *Put) Prepare(context.Context, *Env) error { return nil }

// Do uploads one object.
func (p *Put) Do(ctx context.Context, w *Worker) error {
	_, err := w.Upload(ctx, w.NextKey(), p.Sizes.Next(w.Rand))
	return err
}
