package bench

import (
	"context"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// CountName counts a name for an upload that does not come from NextKey. Clean-up expects no more objects than
// names.
func (w *Worker) CountName() { w.named++ }

// NextKey names the next object that this worker uploads.
func (w *Worker) NextKey() string {
	w.uploads++
	return w.Text.Key(w.Env.Names, uint32(w.ID), w.uploads-1)
}

// Upload is like Put, but returns ErrDone if the run may write no more.
func (w *Worker) Upload(ctx context.Context, key string, size int64) (obj store.Object, err error) {
	err = w.Spend(1, size, func(int) error {
		obj, err = w.Put(ctx, key, size)
		return err
	})
	return obj, err
}

// Put puts one object of the given size under key and measures it as PUT.
func (w *Worker) Put(ctx context.Context, key string, size int64) (store.Object, error) {
	var obj store.Object
	err := w.Measure(ctx, "PUT", key, func(ctx context.Context, r *Request) error {
		w.Body.Reset(generator.PayloadID(key), size)
		var err error
		obj, err = r.Put(ctx, w.PutRequest(key, size), r.Trace)
		r.Bytes = size
		return err
	})
	return obj, err
}

// PutRequest returns the upload of the worker's Body.
func (w *Worker) PutRequest(key string, size int64) store.Put {
	return store.Put{
		Ref: store.Ref{Bucket: w.Env.Bucket, Key: key}, Body: w.Body, Size: size,
		ContentType: "application/octet-stream", Headers: w.Env.uploadHeaders,
	}
}

// Download measures one GET and checks the answer as --verify says. The object
// must have the content that Put gives to its name and size.
func (w *Worker) Download(ctx context.Context, obj *store.Object, get store.Get) error {
	want := obj.Size
	if get.Length > 0 {
		want = get.Length
	}
	return w.DownloadLength(ctx, obj, get, want)
}

// DownloadLength measures one GET, from which it expects want bytes.
func (w *Worker) DownloadLength(ctx context.Context, obj *store.Object, get store.Get, want int64) error {
	get = w.Check.Request(get)
	return w.Measure(ctx, "GET", obj.Key, func(ctx context.Context, r *Request) error {
		r.Receives = true
		r.Trace.Expect(obj.ETag)
		w.Check.Reset(obj, &get)
		d, err := r.Get(ctx, get, r.Trace)
		r.Bytes = d.Bytes
		if err != nil {
			return err
		}
		return w.Check.Download(obj, &d, want, r.Trace)
	})
}

// Delete measures one request that deletes refs.
func (w *Worker) Delete(ctx context.Context, refs []store.Ref) error {
	return w.Measure(ctx, "DELETE", refs[0].Key, func(ctx context.Context, r *Request) error {
		r.Objects = len(refs)
		return r.Delete(ctx, refs, r.Trace)
	})
}
