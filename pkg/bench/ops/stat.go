package bench

import (
	"context"

	"warp/pkg/store"
)

// Stat asks for the metadata of objects.
type Stat struct{ Pool }

// Do asks for the metadata of one object.
func (s *Stat) Do(ctx context.Context, w *Worker) error {
	obj, err := s.pick(w)
	if err != nil {
		return err
	}
	return w.stat(ctx, obj)
}

// stat measures one HEAD and checks the answer.
func (w *Worker) stat(ctx context.Context, obj *store.Object) error {
	return w.Measure(ctx, "STAT", obj.Key, func(ctx context.Context, r *Request) error {
		r.Trace.Expect(obj.ETag)
		got, err := r.Stat(ctx, obj.Ref, r.Trace)
		if err != nil {
			return err
		}
		return w.check.Stat(obj, got, r.Trace)
	})
}
