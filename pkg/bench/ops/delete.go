package ops

import (
	"context"
	"sync/atomic"

	"warp/pkg/bench"
	"warp/pkg/generator"

	"warp/pkg/store"
)

// Delete deletes objects, a batch per request, until none are left.
type Delete struct {
	Pool
	Batch int

	next []atomic.Int64 // by bucket, since a request deletes objects of one bucket
}

// Prepare fills the pool.
func (d *Delete) Prepare(ctx context.Context, e *bench.Env) error {
	err := d.Pool.Prepare(ctx, e)
	d.next = make([]atomic.Int64, len(d.shares))
	return err
}

// Do deletes the next batch of the worker's bucket, or of another bucket if nothing
// is left there.
func (d *Delete) Do(ctx context.Context, w *bench.Worker) error {
	for k := range d.shares {
		if refs := d.batch((w.Bucket+k)%len(d.shares), &w.Text); len(refs) > 0 {
			return w.Delete(ctx, refs)
		}
	}
	return bench.ErrDone
}

// batch returns the next batch of a bucket's share.
func (d *Delete) batch(bucket int, text *generator.Arena) []store.Ref {
	share := &d.shares[bucket]
	to := int(d.next[bucket].Add(int64(d.Batch)))
	from := to - d.Batch
	to = min(to, share.count)
	refs := make([]store.Ref, 0, max(to-from, 0))
	for i := from; i < to; i++ {
		refs = append(refs, d.get(share.index(i), text).Ref)
	}
	return refs
}
