package ops

import (
	"context"

	"warp/pkg/bench"
	"warp/pkg/store"
)

// A Split downloads each object in ranges, several at a time, as the transfer managers of SDKs do. The row of the whole
// covers the time from the first request to the last byte. Each range has its own row, and only these rows count bytes.
type Split struct {
	Size   int64 // length of the ranges in bytes; 0 = objects are downloaded whole
	AtOnce int   // max ranges of one object in flight
	Head   bool  // ask for the ETag with HEAD first, instead of waiting for the first range
}

// ranges returns the number of ranges of an object.
func (s *Split) ranges(size int64) int { return int(max(1, (size+s.Size-1)/s.Size)) }

// download measures the download of one object. All ranges must be of the version whose ETag the first request returned:
// the others have it as a condition.
func (s *Split) download(run context.Context, w *bench.Worker, obj *store.Object) error {
	n, whole := s.ranges(obj.Size), *obj
	return w.Measure(run, "DOWNLOAD", obj.Key, func(ctx context.Context, r *bench.Request) error {
		r.Once = true
		r.Trace.NoWireTime() // the ranges are requested between its own requests
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		d := splitDownload{Split: s, run: run, object: ctx, obj: &whole}
		from, err := 1, error(nil)
		if s.Head {
			d.token, err = head(ctx, w, r, &whole)
		} else {
			from, err = 2, eachPart(w, 1, 1, 1, d.part)
		}
		if err != nil || from > n {
			return err
		}
		return eachPart(w, from, n, s.AtOnce, func(lane *bench.Worker, i int) error {
			err := d.part(lane, i)
			if err != nil {
				cancel() // the other ranges are of no use
			}
			return err
		})
	})
}

// A splitDownload is the download of one object. Its context ends with the first range that fails.
type splitDownload struct {
	*Split
	run, object context.Context
	obj         *store.Object
	token       string // of the version that the first request returned
}

// head returns the token of an object's current version.
func head(ctx context.Context, w *bench.Worker, r *bench.Request, obj *store.Object) (string, error) {
	got, err := r.Stat(ctx, obj.Ref, r.Trace)
	if err == nil {
		err = w.Check.Stat(obj, got, r.Trace)
	}
	return got.Token(), err
}

// errRange is the error of a range whose object has failed already.
var errRange = store.Errorf(store.CodeCanceled, 0, "another range of the object failed")

// part downloads range i, counted from 1. The first one sets the token.
func (d *splitDownload) part(w *bench.Worker, i int) error {
	get := w.Check.Request(store.Get{Ref: d.obj.Ref, If: store.Condition{Is: d.token}})
	if d.obj.Size > 0 {
		get.Offset = d.Size * int64(i-1)
		get.Length = min(d.Size, d.obj.Size-get.Offset)
	}
	return w.Measure(d.run, "GETPART", d.obj.Key, func(ctx context.Context, r *bench.Request) error {
		r.Receives = true
		r.Trace.Expect(d.obj.ETag)
		w.Check.Reset(d.obj, &get)
		got, err := r.Get(d.object, get, r.Trace)
		r.Bytes = got.Bytes
		switch {
		case err != nil && ctx.Err() == nil && d.object.Err() != nil:
			return errRange
		case err != nil:
			return err
		case i == 1 && !d.Head:
			d.token = got.Token()
		case d.token != "" && got.Token() != d.token: // the store ignores the condition
			return store.Errorf(store.CodeWrongETag, int(r.Trace.Status()), "the object changed while it was downloaded")
		}
		return w.Check.Download(d.obj, &got, get.Length, r.Trace)
	})
}
