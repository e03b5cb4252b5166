package engines

import (
	"context"

	"warp/pkg/store"
)

// withFallback sends each request through the first engine, or through the second if the first does
// not support it.
type withFallback struct {
	first, second store.Engine
}

func (f *withFallback) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Put(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.second.Put(ctx, p, tr)
	}
	return o, err
}

func (f *withFallback) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	d, err := f.first.Get(ctx, g, tr)
	if err == store.ErrUnsupported {
		return f.second.Get(ctx, g, tr)
	}
	return d, err
}

func (f *withFallback) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Stat(ctx, ref, tr)
	if err == store.ErrUnsupported {
		return f.second.Stat(ctx, ref, tr)
	}
	return o, err
}

func (f *withFallback) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	err := f.first.Delete(ctx, refs, tr)
	if err == store.ErrUnsupported {
		return f.second.Delete(ctx, refs, tr)
	}
	return err
}

func (f *withFallback) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	err := f.first.List(ctx, l, each, tr)
	if err == store.ErrUnsupported {
		return f.second.List(ctx, l, each, tr)
	}
	return err
}

func (f *withFallback) StartUpload(ctx context.Context, p store.Put, tr *store.Trace) (store.Upload, error) {
	u, err := f.first.StartUpload(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.second.StartUpload(ctx, p, tr)
	}
	return u, err
}

func (f *withFallback) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	part, err := f.first.PutPart(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.second.PutPart(ctx, p, tr)
	}
	return part, err
}

func (f *withFallback) CopyPart(ctx context.Context, c store.CopyPart, tr *store.Trace) (store.Part, error) {
	part, err := f.first.CopyPart(ctx, c, tr)
	if err == store.ErrUnsupported {
		return f.second.CopyPart(ctx, c, tr)
	}
	return part, err
}

func (f *withFallback) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	o, err := f.first.CompleteUpload(ctx, u, parts, tr)
	if err == store.ErrUnsupported {
		return f.second.CompleteUpload(ctx, u, parts, tr)
	}
	return o, err
}

func (f *withFallback) AbortUpload(ctx context.Context, u store.Upload, tr *store.Trace) error {
	err := f.first.AbortUpload(ctx, u, tr)
	if err == store.ErrUnsupported {
		return f.second.AbortUpload(ctx, u, tr)
	}
	return err
}

func (f *withFallback) Copy(ctx context.Context, c store.Copy, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Copy(ctx, c, tr)
	if err == store.ErrUnsupported {
		return f.second.Copy(ctx, c, tr)
	}
	return o, err
}

func (f *withFallback) PutTags(ctx context.Context, ref store.Ref, tags map[string]string, tr *store.Trace) error {
	err := f.first.PutTags(ctx, ref, tags, tr)
	if err == store.ErrUnsupported {
		return f.second.PutTags(ctx, ref, tags, tr)
	}
	return err
}

func (f *withFallback) Tags(ctx context.Context, ref store.Ref, tr *store.Trace) (map[string]string, error) {
	tags, err := f.first.Tags(ctx, ref, tr)
	if err == store.ErrUnsupported {
		return f.second.Tags(ctx, ref, tr)
	}
	return tags, err
}

func (f *withFallback) DeleteTags(ctx context.Context, ref store.Ref, tr *store.Trace) error {
	err := f.first.DeleteTags(ctx, ref, tr)
	if err == store.ErrUnsupported {
		return f.second.DeleteTags(ctx, ref, tr)
	}
	return err
}

func (f *withFallback) Retain(ctx context.Context, ref store.Ref, r store.Retention, tr *store.Trace) error {
	err := f.first.Retain(ctx, ref, r, tr)
	if err == store.ErrUnsupported {
		return f.second.Retain(ctx, ref, r, tr)
	}
	return err
}

func (f *withFallback) FanOut(ctx context.Context, o store.FanOut, tr *store.Trace) ([]store.Object, error) {
	all, err := f.first.FanOut(ctx, o, tr)
	if err == store.ErrUnsupported {
		return f.second.FanOut(ctx, o, tr)
	}
	return all, err
}

func (f *withFallback) Post(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	o, err := f.first.Post(ctx, p, tr)
	if err == store.ErrUnsupported {
		return f.second.Post(ctx, p, tr)
	}
	return o, err
}

func (f *withFallback) Close() {
	f.first.Close()
	f.second.Close()
}
