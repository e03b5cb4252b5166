package bench

import (
	"context"
	"sync/atomic"

	"warp/pkg/s3"
)

// Delete deletes objects, a batch per request, until none are left.
type Delete struct {
	Pool
	Batch int

	next atomic.Int64
}

// Do deletes the next batch.
func (d *Delete) Do(ctx context.Context, w *Worker) error {
	to := int(d.next.Add(int64(d.Batch)))
	from := to - d.Batch
	to = min(to, len(d.objects))
	if from >= to {
		return ErrDone
	}
	refs := make([]s3.Ref, 0, to-from)
	for _, o := range d.objects[from:to] {
		refs = append(refs, o.Ref)
	}
	return w.remove(ctx, refs)
}

// remove measures one request that deletes refs.
func (w *Worker) remove(ctx context.Context, refs []s3.Ref) error {
	return w.Measure(ctx, "DELETE", refs[0].Key, func(ctx context.Context, r *Request) error {
		r.Objects = len(refs)
		return r.Delete(ctx, refs, r.Trace)
	})
}
