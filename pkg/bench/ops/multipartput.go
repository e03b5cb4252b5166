package ops

import (
	"context"
	"io"

	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// MultipartPut uploads objects in parts, one upload per worker at a time.
type MultipartPut struct {
	Parts    int // of each object
	PartSize int64
	AtOnce   int // max parts of one upload in flight
}

var (
	_ bench.PartUploader = (*MultipartPut)(nil)
	_ bench.Multiplexer  = (*MultipartPut)(nil)
)

func (m *MultipartPut) UploadsInParts() {}

func (m *MultipartPut) RequestsAtOnce() int { return min(m.AtOnce, m.Parts) }

// Prepare needs nothing.
func (m *MultipartPut) Prepare(context.Context, *bench.Env) error { return nil }

// Do uploads one object.
func (m *MultipartPut) Do(ctx context.Context, w *bench.Worker) error {
	return w.Spend(1, m.PartSize*int64(m.Parts), func(int) error { return m.upload(ctx, w, w.NextKey()) })
}

func (m *MultipartPut) upload(ctx context.Context, w *bench.Worker, key string) error {
	return inParts(ctx, w, &partedObject{
		whole: "UPLOAD", part: "PUTPART", key: key,
		parts: m.Parts, atOnce: m.AtOnce,
		send: func(ctx context.Context, lane *bench.Worker, r *bench.Request, u store.Upload, n int) (store.Part, error) {
			return putPart(ctx, lane, r, u, n, m.PartSize*int64(n-1), m.PartSize)
		},
	})
}

// putPart sends part n of an object, which begins at from.
func putPart(ctx context.Context, w *bench.Worker, r *bench.Request, u store.Upload, n int, from, size int64) (store.Part, error) {
	w.Body.Reset(generator.PayloadID(u.Key), from+size)
	r.Bytes = size
	// The object has the same content as if it were uploaded at once.
	return r.PutPart(ctx, store.PutPart{Upload: u, Number: n, Body: io.NewSectionReader(w.Body, from, size), Size: size}, r.Trace)
}
