package ops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// MaxAppends is the maximum number of parts of an object that grows in S3, including
// the first one.
const MaxAppends = 10_000

// Append grows objects. Each worker appends to its own object, and begins a new
// one when the object has the maximum number of parts.
type Append struct {
	Sizes generator.Sizes // of the appended parts
	Parts int             // of an object; MaxAppends, except in tests

	growing []growing // by worker
}

// A growing object is an object that a worker appends to.
type growing struct {
	key   string
	size  int64
	parts int // 0 = the next append begins a new object
}

// Prepare makes sure that the store appends: most stores overwrite.
func (a *Append) Prepare(ctx context.Context, e *bench.Env) error {
	a.growing = make([]growing, e.Concurrency)
	return bench.Feature("appends to objects (x-amz-write-offset-bytes)").Probe(ctx, e, func(h *store.Host, ref store.Ref) error {
		return tryAppend(ctx, h, ref)
	})
}

func tryAppend(ctx context.Context, h *store.Host, ref store.Ref) error {
	half := []byte("warp")
	size := int64(2 * len(half))
	for offset := int64(0); offset < size; offset += int64(len(half)) {
		if _, err := h.Put(ctx, appendAt(ref, bytes.NewReader(half), offset, int64(len(half))), store.NewTrace(time.Now())); err != nil {
			return err
		}
	}
	o, err := h.Stat(ctx, ref, store.NewTrace(time.Now()))
	if err == nil && o.Size != size {
		err = bench.NoEffect(fmt.Sprintf("after %d bytes and %d more the object has %d", len(half), len(half), o.Size))
	}
	return err
}

// appendAt is a request that appends. With offset 0 it makes the object.
func appendAt(ref store.Ref, body store.Body, offset, size int64) store.Put {
	return store.Put{
		Ref: ref, Body: body, Size: size, ContentType: "application/octet-stream",
		Headers: []store.Header{{Name: "x-amz-write-offset-bytes", Value: strconv.FormatInt(offset, 10)}},
	}
}

// Do appends once.
func (a *Append) Do(ctx context.Context, w *bench.Worker) error {
	g := &a.growing[w.ID]
	if g.parts == 0 || g.parts == a.Parts {
		*g = growing{key: w.NextKey()}
	}
	size := a.Sizes.Next(w.Rand)
	err := w.Measure(ctx, "APPEND", g.key, func(ctx context.Context, r *bench.Request) error {
		// The object has the same content as if it were uploaded at once.
		w.Body.Reset(generator.PayloadID(g.key), g.size+size)
		body := io.NewSectionReader(w.Body, g.size, size)
		r.Bytes = size
		o, err := r.Put(ctx, appendAt(store.Ref{Bucket: w.Env.Bucket, Key: g.key}, body, g.size, size), r.Trace)
		// An answer without a size has the size of the request.
		if err == nil && o.Size != size && o.Size != g.size+size {
			return store.Errorf(store.CodeWrongLength, int(r.Trace.Status()),
				"the store says that the object has %d bytes now instead of %d", o.Size, g.size+size)
		}
		return err
	})
	if err != nil {
		g.parts = 0 // the length of the object is unknown
		return err
	}
	g.size += size
	g.parts++
	return nil
}
