package s3provider

import (
	"context"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// A Complete engine supports all requests of S3.
type Complete interface {
	store.Engine
	store.Multipart
	store.PartCopier
	store.Copier
	store.Tagger
	store.Retainer
	store.FanOuter
	store.Poster
	store.Conditional
}

// withFallback sends each request through the first engine, or through the second if the first does
// not support it.
type withFallback struct {
	Complete // the second
	first    *s3.Engine
}

func (f *withFallback) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Put(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.Complete.Put(ctx, p, tr)
	}
	return o, err
}

func (f *withFallback) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	d, err := f.first.Get(ctx, g, tr)
	if err == store.ErrUnsupported {
		return f.Complete.Get(ctx, g, tr)
	}
	return d, err
}

func (f *withFallback) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Stat(ctx, ref, tr)
	if err == store.ErrUnsupported {
		return f.Complete.Stat(ctx, ref, tr)
	}
	return o, err
}

func (f *withFallback) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	err := f.first.Delete(ctx, refs, tr)
	if err == store.ErrUnsupported {
		return f.Complete.Delete(ctx, refs, tr)
	}
	return err
}

func (f *withFallback) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	err := f.first.DeleteIf(ctx, ref, c, tr)
	if err == store.ErrUnsupported {
		return f.Complete.DeleteIf(ctx, ref, c, tr)
	}
	return err
}

func (f *withFallback) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	err := f.first.List(ctx, l, each, tr)
	if err == store.ErrUnsupported {
		return f.Complete.List(ctx, l, each, tr)
	}
	return err
}

func (f *withFallback) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	part, err := f.first.PutPart(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.Complete.PutPart(ctx, p, tr)
	}
	return part, err
}

func (f *withFallback) Close() {
	f.first.Close()
	f.Complete.Close()
}
