package ops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"warp/pkg/bench"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// maxCopySize is the largest object that S3 copies in one request.
const maxCopySize = 5 << 30

// Copy has the store copy objects to new names.
type Copy struct {
	Pool
	PartSize int64 // larger objects are copied in parts of this size; 0 = maxCopySize
	AtOnce   int   // max parts of one object in flight

	sameETag bool // a copy has its source's ETag in this store
}

var _ bench.Multiplexer = (*Copy)(nil)

func (c *Copy) RequestsAtOnce() int {
	if c.PartSize == 0 {
		return 1
	}
	return c.AtOnce
}

// Prepare makes sure that the store copies, and prepares the objects.
func (c *Copy) Prepare(ctx context.Context, e *bench.Env) error {
	err := bench.Feature("copies of objects").Probe(ctx, e, func(h *store.Host, ref store.Ref) error {
		return c.try(ctx, e, h, ref)
	})
	if err != nil {
		return err
	}
	return c.Pool.Prepare(ctx, e)
}

// minPartSize is the size below which stores may refuse a part, unless it is the
// last one.
const minPartSize = 5 << 20

// try copies an object as the run will.
func (c *Copy) try(ctx context.Context, e *bench.Env, h *store.Host, ref store.Ref) error {
	size := int64(1000)
	if c.PartSize > 0 {
		size = minPartSize
	}
	body := e.Workers[0].Body
	body.Reset(generator.PayloadID(ref.Key), size)
	from, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: size}, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	to := store.Ref{Bucket: ref.Bucket, Key: e.Workers[0].NextKey()}
	if c.PartSize > 0 {
		err = tryCopyInParts(ctx, h, &from, to)
	} else {
		_, err = h.Copy(ctx, store.Copy{From: ref, To: to}, store.NewTrace(time.Now()))
	}
	if err != nil {
		return err
	}
	got, err := h.Stat(ctx, to, store.NewTrace(time.Now()))
	switch {
	case store.CodeOf(err) == store.CodeNoKey:
		return bench.NoEffect("there is no copy")
	case err != nil:
		return err
	case got.Size != from.Size:
		return bench.NoEffect(fmt.Sprintf("the copy of %d bytes has %d", from.Size, got.Size))
	}
	c.sameETag = from.ETag != "" && got.ETag == from.ETag
	return h.Delete(ctx, []store.Ref{to}, store.NewTrace(time.Now()))
}

func tryCopyInParts(ctx context.Context, h *store.Host, from *store.Object, to store.Ref) error {
	u, err := h.StartUpload(ctx, store.Put{Ref: to}, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	part, err := h.CopyPart(ctx, store.CopyPart{Upload: u, Number: 1, From: from.Ref, Length: from.Size}, store.NewTrace(time.Now()))
	if err == nil {
		_, err = h.CompleteUpload(ctx, u, []store.Part{part}, store.NewTrace(time.Now()))
	}
	return err
}

// Do copies one object.
func (c *Copy) Do(ctx context.Context, w *bench.Worker) error {
	from, err := c.pick(w)
	if err != nil {
		return err
	}
	return w.Spend(1, from.Size, func(int) error { return c.copy(ctx, w, from, w.NextKey()) })
}

func (c *Copy) copy(ctx context.Context, w *bench.Worker, from *store.Object, key string) error {
	// Without the version, since some stores that return one refuse it as a source.
	source := store.Ref{Bucket: from.Bucket, Key: from.Key}
	if size := c.partSize(from.Size); from.Size > size {
		return c.inParts(ctx, w, from, key, size)
	}
	return w.Measure(ctx, "COPY", key, func(ctx context.Context, r *bench.Request) error {
		r.Bytes = from.Size
		got, err := r.Copy(ctx, store.Copy{From: source, To: store.Ref{Bucket: w.Env.Bucket, Key: key}}, r.Trace)
		if err != nil || !c.sameETag || strings.Contains(from.ETag, "-") {
			return err // an upload in parts has a different ETag than its copy
		}
		got.VersionID = "" // the copy's own
		return verify.Object(from, got, r.Trace)
	})
}

// PartsOf returns the number of parts in which an object is copied; 0 = as a whole.
func (c *Copy) PartsOf(object int64) int64 {
	size := c.partSize(object)
	if object <= size {
		return 0
	}
	return (object + size - 1) / size
}

// partSize returns the size of the parts in which an object is copied. A smaller
// object is copied as a whole.
func (c *Copy) partSize(object int64) int64 {
	const maxParts = 10_000
	size := c.PartSize
	if size == 0 {
		size = maxCopySize
	}
	return max(size, (object+maxParts-1)/maxParts)
}

func (c *Copy) inParts(ctx context.Context, w *bench.Worker, from *store.Object, key string, size int64) error {
	return inParts(ctx, w, &partedObject{
		whole: "COPY", part: "COPYPART", key: key,
		parts: int((from.Size + size - 1) / size), atOnce: c.AtOnce,
		send: func(ctx context.Context, _ *bench.Worker, r *bench.Request, u store.Upload, n int) (store.Part, error) {
			offset := size * int64(n-1)
			length := min(size, from.Size-offset)
			r.Bytes = length
			return r.CopyPart(ctx, store.CopyPart{Upload: u, Number: n, From: from.Ref, Offset: offset, Length: length}, r.Trace)
		},
	})
}
