package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"warp/pkg/bench"
	"warp/pkg/bench/archive"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// Zip downloads files out of one ZIP. The store does not unpack it: it reads the ZIP
// for each file.
type Zip struct {
	Sizes generator.Sizes
	Files int

	files []store.Object // their keys are ARCHIVE.zip/FILE
}

// MeanSize returns the expected size of the ZIP.
func (z *Zip) MeanSize() int64 { return archive.ZipSize(z.Files, int64(math.Ceil(z.Sizes.Mean()))) }

// extract makes a store read files of archives.
var extract = []store.Header{{Name: "x-minio-extract", Value: "true"}}

// Prepare makes sure that the store looks into archives, and uploads one.
func (z *Zip) Prepare(ctx context.Context, e *bench.Env) error {
	if err := z.try(ctx, e); err != nil {
		return err
	}
	e.Progress.Begin("Preparing: uploading", 1)
	defer e.Progress.End()
	e.SetSilent(true)
	w := e.Workers[0]
	key := w.NextKey() + generator.ArchiveSuffix
	sizes := make([]int64, z.Files)
	r := generator.Rand(e.Seed, "sizes", 0)
	for i := range sizes {
		sizes[i] = z.Sizes.Next(r)
	}
	files, body, err := makeZip(w, key, sizes)
	if err != nil {
		return err
	}
	z.files = files
	if err := w.Retry(ctx, "upload "+key, func() error { return uploadZip(ctx, w, key, body) }); err != nil {
		return err
	}
	e.Progress.Add(1)
	e.Progress.Moved(body.Size())
	// At the first download the store reads the archive's directory, which serves
	// all others.
	return w.Retry(ctx, "download "+files[0].Key, func() error { return z.get(ctx, w, &files[0]) })
}

// try uploads a small archive and downloads a file out of it.
func (z *Zip) try(ctx context.Context, e *bench.Env) error {
	if strings.Contains(e.Names.Key(0, 0), generator.ArchiveSuffix+"/") {
		return errors.New("prepare: the store would take a part of --prefix for an archive: leave out .zip/")
	}
	var key string
	var files []store.Object
	send := func(w *bench.Worker) (err error) {
		key = w.NextKey() + generator.ArchiveSuffix
		var body *generator.Assembly
		if files, body, err = makeZip(w, key, []int64{1000, 1001}); err != nil {
			return err
		}
		return uploadZip(ctx, w, key, body)
	}
	return bench.Feature("downloads of files in a ZIP (x-minio-extract, an extension of MinIO)").Try(ctx, e, send, func(h *store.Host) error {
		var got bytes.Buffer
		_, err := h.Get(ctx, store.Get{Ref: files[1].Ref, Headers: extract, Into: &got}, store.NewTrace(time.Now()))
		switch {
		case store.CodeOf(err) == store.CodeNoKey:
			return bench.NoEffect("there is no " + files[1].Key)
		case err != nil:
			return err
		}
		want := make([]byte, files[1].Size)
		e.Workers[0].Body.Payload().ObjectAt(generator.PayloadID(files[1].Key), files[1].Size, 0, want)
		if !bytes.Equal(got.Bytes(), want) {
			return bench.NoEffect(files[1].Key + " is something else")
		}
		return h.Delete(ctx, []store.Ref{{Bucket: e.Bucket, Key: key}}, store.NewTrace(time.Now()))
	})
}

// makeZip makes a ZIP with files of the given sizes.
func makeZip(w *bench.Worker, key string, sizes []int64) (files []store.Object, body *generator.Assembly, err error) {
	keys, body, err := archive.Zip(key, sizes, w.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("make a ZIP: %w", err)
	}
	for i, key := range keys {
		files = append(files, store.Object{Ref: store.Ref{Bucket: w.Env.Bucket, Key: key}, Size: sizes[i]})
	}
	return files, body, nil
}

func uploadZip(ctx context.Context, w *bench.Worker, key string, body *generator.Assembly) error {
	return w.Measure(ctx, "PUT", key, func(ctx context.Context, r *bench.Request) error {
		r.Bytes = body.Size()
		_, err := r.Put(ctx, store.Put{
			Ref: store.Ref{Bucket: w.Env.Bucket, Key: key}, Body: body, Size: body.Size(), ContentType: "application/zip",
		}, r.Trace)
		return err
	})
}

// Do downloads one file.
func (z *Zip) Do(ctx context.Context, w *bench.Worker) error {
	return z.get(ctx, w, &z.files[w.Rand.IntN(len(z.files))])
}

func (z *Zip) get(ctx context.Context, w *bench.Worker, file *store.Object) error {
	return w.Download(ctx, file, store.Get{Ref: file.Ref, Headers: extract})
}
