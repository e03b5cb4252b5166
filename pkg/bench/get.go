package bench

import (
	"context"

	"warp/pkg/s3"
)

// Get downloads objects, or ranges of them.
type Get struct {
	Pool
	Range     bool  // a random part of each object
	RangeSize int64 // with Range: of this length; 0 = random
}

// Do downloads one object.
func (g *Get) Do(ctx context.Context, w *Worker) error {
	obj, err := g.pick(w)
	if err != nil {
		return err
	}
	get := s3.Get{Ref: obj.Ref}
	if g.Range && obj.Size > 0 {
		get.Offset, get.Length = g.part(w, obj.Size)
	}
	return w.download(ctx, obj, get)
}

// part chooses a range that lies within an object of the given size.
func (g *Get) part(w *Worker, size int64) (offset, length int64) {
	if g.RangeSize > 0 {
		length = min(g.RangeSize, size)
		return w.Rand.Int64N(size - length + 1), length
	}
	offset = w.Rand.Int64N(size)
	return offset, 1 + w.Rand.Int64N(size-offset)
}

// download measures one GET and checks what came.
func (w *Worker) download(ctx context.Context, obj *s3.Object, get s3.Get) error {
	want := obj.Size
	if get.Length > 0 {
		want = get.Length
	}
	return w.Measure(ctx, "GET", obj.Key, func(ctx context.Context, r *Request) error {
		r.Receives = true
		r.Trace.Expect(obj.ETag)
		d, err := r.Get(ctx, get, r.Trace)
		r.Bytes = d.Bytes
		if err != nil {
			return err
		}
		if d.Bytes != want {
			return wrongLength(d.Bytes, want, r.Trace)
		}
		return checkObject(obj, d.Object, r.Trace)
	})
}
