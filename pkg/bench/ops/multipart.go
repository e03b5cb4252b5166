package ops

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// Multipart uploads one object in parts, and then downloads its parts.
type Multipart struct {
	Parts    int
	PartSize int64

	object store.Object
}

var _ bench.PartUploader = (*Multipart)(nil)

func (m *Multipart) UploadsInParts() {}

// Prepare makes sure that the store returns single parts, and uploads the object.
func (m *Multipart) Prepare(ctx context.Context, e *bench.Env) error {
	if m.Parts > 1 { // a single part is the object, for every store
		err := bench.Feature("downloads of single parts (partNumber)").Probe(ctx, e, func(h *store.Host, ref store.Ref) error {
			return m.try(ctx, e, h, ref)
		})
		if err != nil {
			return err
		}
	}
	return m.upload(ctx, e)
}

// try uploads two parts, the second of one byte, and downloads the second.
func (m *Multipart) try(ctx context.Context, e *bench.Env, h *store.Host, ref store.Ref) error {
	sizes := [2]int64{min(m.PartSize, minPartSize), 1}
	u, err := h.StartUpload(ctx, store.Put{Ref: ref}, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	var parts []store.Part
	for i, size := range sizes {
		body := e.Workers[0].Body
		body.Reset(generator.PayloadID(ref.Key), size)
		part, err := h.PutPart(ctx, store.PutPart{Upload: u, Number: i + 1, Body: body, Size: size}, store.NewTrace(time.Now()))
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	if _, err := h.CompleteUpload(ctx, u, parts, store.NewTrace(time.Now())); err != nil {
		return err
	}
	d, err := h.Get(ctx, store.Get{Ref: ref, Part: 2, Offset: sizes[0], Length: sizes[1]}, store.NewTrace(time.Now()))
	if err == nil && d.Bytes != 1 {
		err = bench.NoEffect(fmt.Sprintf("of an object of %d bytes it sent %d as the part of 1 byte", sizes[0]+1, d.Bytes))
	}
	return err
}

// upload uploads the object. The rows of its parts belong to the preparation.
func (m *Multipart) upload(ctx context.Context, e *bench.Env) error {
	e.Progress.Begin("Preparing: uploading parts", int64(m.Parts))
	defer e.Progress.End()
	u, err := e.Lease.StartUpload(ctx, e.Workers[0].Retry)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	parts := make([]store.Part, m.Parts)
	err = e.Spread(ctx, m.Parts, func(ctx context.Context, w *bench.Worker, i int) error {
		err := w.Retry(ctx, fmt.Sprintf("upload part %d of %s", i+1, u.Key), func() error {
			return w.Measure(ctx, "PUT", u.Key, func(ctx context.Context, r *bench.Request) (err error) {
				parts[i], err = putPart(ctx, w, r, u.Upload, i+1, m.PartSize*int64(i), m.PartSize)
				return err
			})
		})
		if err == nil {
			e.Progress.Add(1)
			e.Progress.Moved(m.PartSize)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.object, err = u.Complete(ctx, parts)
	m.object.Size = m.PartSize * int64(m.Parts)
	m.object.VersionID = "" // some stores return one, but do not accept it
	return err
}

// Do downloads one part.
func (m *Multipart) Do(ctx context.Context, w *bench.Worker) error {
	i := w.Rand.IntN(m.Parts)
	part := store.Get{Ref: m.object.Ref, Part: i + 1, Offset: m.PartSize * int64(i), Length: m.PartSize}
	return w.DownloadLength(ctx, &m.object, part, m.PartSize)
}
