package bench

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Zip downloads files out of one ZIP. The store does not unpack it, but reads it for
// each of them.
type Zip struct {
	Sizes generator.Sizes
	Files int

	files []store.Object // as the store names them: ARCHIVE.zip/FILE
}

// extract makes a store look into archives.
var extract = []store.Header{{Name: "x-minio-extract", Value: "true"}}

// Prepare makes sure that the store looks into archives, and uploads one.
func (z *Zip) Prepare(ctx context.Context, e *Env) error {
	if err := z.try(ctx, e); err != nil {
		return err
	}
	e.Progress.Begin("Preparing: uploading", 1)
	defer e.Progress.End()
	e.Silently(true)
	w := e.workers[0]
	archive := w.NextKey() + generator.ArchiveSuffix
	sizes := make([]int64, z.Files)
	r := generator.Rand(e.Seed, "sizes", 0)
	for i := range sizes {
		sizes[i] = z.Sizes.Next(r)
	}
	files, body, err := zipOf(w, archive, sizes)
	if err != nil {
		return err
	}
	z.files = files
	if err := w.must(ctx, "upload "+archive, func() error { return w.uploadZip(ctx, archive, body) }); err != nil {
		return err
	}
	e.Progress.Add(1)
	e.Progress.Moved(body.Size())
	// At the first download the store reads the archive's directory, which serves
	// all others.
	return w.must(ctx, "download "+files[0].Key, func() error { return z.get(ctx, w, &files[0]) })
}

// try uploads a small archive and downloads a file out of it.
func (z *Zip) try(ctx context.Context, e *Env) error {
	if strings.Contains(e.Names.Key(0, 0), generator.ArchiveSuffix+"/") {
		return errors.New("prepare: the store would take a part of --prefix for an archive: leave out .zip/")
	}
	var archive string
	var files []store.Object
	send := func(w *Worker) (err error) {
		archive = w.NextKey() + generator.ArchiveSuffix
		var body *generator.Assembly
		if files, body, err = zipOf(w, archive, []int64{1000, 1001}); err != nil {
			return err
		}
		return w.uploadZip(ctx, archive, body)
	}
	return feature("downloads of files in a ZIP (x-minio-extract, an extension of MinIO)").try(ctx, e, send, func(h *store.Host) error {
		var got bytes.Buffer
		_, err := h.Get(ctx, store.Get{Ref: files[1].Ref, Headers: extract, Into: &got}, store.NewTrace(time.Now()))
		switch {
		case store.CodeOf(err) == "NoSuchKey":
			return noEffect("there is no " + files[1].Key)
		case err != nil:
			return err
		}
		want := make([]byte, files[1].Size)
		e.workers[0].body.Payload().ObjectAt(generator.PayloadID(files[1].Key), files[1].Size, 0, want)
		if !bytes.Equal(got.Bytes(), want) {
			return noEffect(files[1].Key + " is something else")
		}
		return h.Delete(ctx, []store.Ref{{Bucket: e.Bucket, Key: archive}}, store.NewTrace(time.Now()))
	})
}

// zipOf makes a ZIP of files of these sizes, without compression, since their
// content does not compress.
func zipOf(w *Worker, archive string, sizes []int64) (files []store.Object, body *generator.Assembly, err error) {
	payload := w.body.Payload()
	body = payload.NewAssembly()
	out := &withoutPayload{Assembly: body}
	zw := zip.NewWriter(out)
	files = make([]store.Object, len(sizes))
	for i, size := range sizes {
		name := fmt.Sprintf("%08d.rnd", i)
		files[i] = store.Object{Ref: store.Ref{Bucket: w.Env.Bucket, Key: archive + "/" + name}, Size: size}
		file, err := zw.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			err = zw.Flush()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("make a ZIP: %w", err)
		}
		out.drop = true
		w.body.Reset(generator.PayloadID(files[i].Key), size)
		if _, err = w.body.WriteTo(file); err == nil {
			err = zw.Flush()
		}
		out.drop = false
		if err != nil {
			return nil, nil, fmt.Errorf("make a ZIP: %w", err)
		}
		body.WriteObject(generator.PayloadID(files[i].Key), size)
	}
	if err := zw.Close(); err != nil {
		return nil, nil, fmt.Errorf("make a ZIP: %w", err)
	}
	return files, body, nil
}

// withoutPayload keeps what a ZIP writer writes except the content of files. The
// writer needs the content only for its checksum.
type withoutPayload struct {
	*generator.Assembly
	drop bool
}

func (o *withoutPayload) Write(b []byte) (int, error) {
	if o.drop {
		return len(b), nil
	}
	return o.Assembly.Write(b)
}

func (w *Worker) uploadZip(ctx context.Context, archive string, body *generator.Assembly) error {
	return w.Measure(ctx, "PUT", archive, func(ctx context.Context, r *Request) error {
		r.Bytes = body.Size()
		_, err := r.Put(ctx, store.Put{
			Ref: store.Ref{Bucket: w.Env.Bucket, Key: archive}, Body: body, Size: body.Size(), ContentType: "application/zip",
		}, r.Trace)
		return err
	})
}

// Do downloads one file.
func (z *Zip) Do(ctx context.Context, w *Worker) error {
	return z.get(ctx, w, &z.files[w.Rand.IntN(len(z.files))])
}

func (z *Zip) get(ctx context.Context, w *Worker, file *store.Object) error {
	return w.download(ctx, file, store.Get{Ref: file.Ref, Headers: extract})
}
