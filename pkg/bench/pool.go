package bench

import (
	"context"
	"fmt"

	"warp/pkg/generator"
	"warp/pkg/s3"
)

// A Pool is the set of objects that an operation works on: uploaded by
// prepare, or found in the bucket.
type Pool struct {
	Objects      int // how many; with ListExisting at most, 0 = all
	Sizes        generator.Sizes
	Versions     int  // versions of each object
	ListExisting bool // use objects that are there
	ListFlat     bool // without descending into prefixes
	Prefix       string

	objects []s3.Object
}

// Prepare fills the pool.
func (p *Pool) Prepare(ctx context.Context, e *Env) error {
	if p.ListExisting {
		return p.list(ctx, e)
	}
	return p.upload(ctx, e)
}

func (p *Pool) upload(ctx context.Context, e *Env) error {
	versions := max(p.Versions, 1)
	e.Progress.Begin("Preparing: uploading", int64(p.Objects*versions))
	defer e.Progress.End()
	p.objects = make([]s3.Object, p.Objects*versions)
	sizes := p.plannedSizes(e)
	return e.Spread(ctx, p.Objects, func(ctx context.Context, w *Worker, i int) error {
		key := w.NextKey()
		for v := range versions {
			obj, err := w.MustUpload(ctx, key, sizes[i])
			if err != nil {
				return err
			}
			if versions > 1 && obj.VersionID == "" {
				return fmt.Errorf("prepare: the store gave no version id for %s: it does not do --versions", key)
			}
			p.objects[i*versions+v] = obj
			e.Progress.Add(1)
		}
		return nil
	})
}

// plannedSizes draws all sizes from one stream, so that they depend on the
// seed alone.
func (p *Pool) plannedSizes(e *Env) []int64 {
	r := generator.Rand(e.Seed, "sizes", 0)
	sizes := make([]int64, p.Objects)
	for i := range sizes {
		sizes[i] = p.Sizes.Next(r)
	}
	return sizes
}

func (p *Pool) list(ctx context.Context, e *Env) error {
	e.Progress.Begin("Preparing: listing", int64(p.Objects))
	defer e.Progress.End()
	l := s3.List{Bucket: e.Bucket, Prefix: p.Prefix, Flat: p.ListFlat, Versions: p.Versions > 1}
	var perKey map[string]int
	begin := func() { p.objects, perKey = nil, make(map[string]int) }
	err := e.Client.List(ctx, l, begin, func(o s3.Object) bool {
		if o.IsPrefix || o.DeleteMarker || isMarker(o.Key) {
			return true
		}
		if p.Versions > 1 {
			if perKey[o.Key]++; perKey[o.Key] > p.Versions {
				return true
			}
		}
		p.objects = append(p.objects, o)
		e.Progress.Add(1)
		return p.Objects == 0 || len(p.objects) < p.Objects
	})
	if err != nil {
		return fmt.Errorf("prepare: list bucket %s: %w", e.Bucket, err)
	}
	if len(p.objects) == 0 {
		return fmt.Errorf("prepare: bucket %s has no objects under prefix %q to work on", e.Bucket, p.Prefix)
	}
	return nil
}

// pick chooses any object.
func (p *Pool) pick(w *Worker) *s3.Object { return &p.objects[w.Rand.IntN(len(p.objects))] }

// checkObject compares what an answer says of an object with what is known of
// it from its upload or listing.
func checkObject(want *s3.Object, got s3.Object, tr *s3.Trace) error {
	if want.ETag != "" && got.ETag != "" && got.ETag != want.ETag {
		return &s3.Error{Code: s3.CodeWrongETag, Status: int(tr.Status()),
			Message: fmt.Sprintf("the store answered ETag %s, it had said %s", got.ETag, want.ETag)}
	}
	if want.VersionID != "" && got.VersionID != "" && got.VersionID != want.VersionID {
		return &s3.Error{Code: s3.CodeWrongVersion, Status: int(tr.Status()),
			Message: fmt.Sprintf("the store answered version %s instead of %s", got.VersionID, want.VersionID)}
	}
	return nil
}

func wrongLength(got, want int64, tr *s3.Trace) error {
	return &s3.Error{Code: s3.CodeWrongLength, Status: int(tr.Status()),
		Message: fmt.Sprintf("the store answered %d bytes instead of %d", got, want)}
}
