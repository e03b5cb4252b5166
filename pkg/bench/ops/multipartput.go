package bench

import (
	"context"
	"io"

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
	_ partUploader = (*MultipartPut)(nil)
	_ multiplexer  = (*MultipartPut)(nil)
)

func (m *MultipartPut) uploadsInParts() {}

func (m *MultipartPut) requestsAtOnce() int { return min(m.AtOnce, m.Parts) }

// Prepare needs nothing.
func (m *MultipartPut) Prepare(context.Context, *Env) error { return nil }

// Do uploads one object.
func (m *MultipartPut) Do(ctx context.Context, w *Worker) error {
	return w.spend(1, m.PartSize*int64(m.Parts), func(int) error { return m.upload(ctx, w, w.nextKey()) })
}

func (m *MultipartPut) upload(ctx context.Context, w *Worker, key string) error {
	return w.inParts(ctx, &partedObject{
		whole: "UPLOAD", part: "PUTPART", key: key,
		parts: m.Parts, atOnce: m.AtOnce,
		send: func(ctx context.Context, lane *Worker, r *Request, u store.Upload, n int) (store.Part, error) {
			return lane.putPart(ctx, r, u, n, m.PartSize)
		},
	})
}

// putPart sends part n of an object whose parts have the same size.
func (w *Worker) putPart(ctx context.Context, r *Request, u store.Upload, n int, size int64) (store.Part, error) {
	from := size * int64(n-1)
	w.body.Reset(generator.PayloadID(u.Key), from+size)
	r.Bytes = size
	// The object has the same content as if it were uploaded at once.
	return r.PutPart(ctx, store.PutPart{Upload: u, Number: n, Body: io.NewSectionReader(w.body, from, size), Size: size}, r.Trace)
}
