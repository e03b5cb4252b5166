package ops

import (
	"context"

	"warp/pkg/bench"

	"warp/pkg/store"
)

// Stat asks for the metadata of objects.
type Stat struct{ Pool }

// Do asks for the metadata of one object.
func (s *Stat) Do(ctx context.Context, w *bench.Worker) error {
	obj, err := s.pick(w)
	if err != nil {
		return err
	}
	return stat(ctx, w, obj)
}

// stat measures one HEAD and checks the answer.
func stat(ctx context.Context, w *bench.Worker, obj *store.Object) error {
	return w.Measure(ctx, "STAT", obj.Key, func(ctx context.Context, r *bench.Request) error {
		r.Trace.Expect(obj.ETag)
		got, err := r.Stat(ctx, obj.Ref, r.Trace)
		if err != nil {
			return err
		}
		return w.Check.Stat(obj, got, r.Trace)
	})
}
