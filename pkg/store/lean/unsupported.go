package lean

import (
	"context"

	"warp/pkg/store"
)

// Requests that a benchmark sends once in many, if at all, are for another engine.

// StartUpload is unsupported.
func (e *Engine) StartUpload(context.Context, store.Put, *store.Trace) (store.Upload, error) {
	return store.Upload{}, store.ErrUnsupported
}

// CopyPart is unsupported.
func (e *Engine) CopyPart(context.Context, store.CopyPart, *store.Trace) (store.Part, error) {
	return store.Part{}, store.ErrUnsupported
}

// CompleteUpload is unsupported.
func (e *Engine) CompleteUpload(context.Context, store.Upload, []store.Part, *store.Trace) (store.Object, error) {
	return store.Object{}, store.ErrUnsupported
}

// AbortUpload is unsupported.
func (e *Engine) AbortUpload(context.Context, store.Upload, *store.Trace) error {
	return store.ErrUnsupported
}

// Copy is unsupported.
func (e *Engine) Copy(context.Context, store.Copy, *store.Trace) (store.Object, error) {
	return store.Object{}, store.ErrUnsupported
}

// PutTags is unsupported.
func (e *Engine) PutTags(context.Context, store.Ref, map[string]string, *store.Trace) error {
	return store.ErrUnsupported
}

// Tags is unsupported.
func (e *Engine) Tags(context.Context, store.Ref, *store.Trace) (map[string]string, error) {
	return nil, store.ErrUnsupported
}

// DeleteTags is unsupported.
func (e *Engine) DeleteTags(context.Context, store.Ref, *store.Trace) error {
	return store.ErrUnsupported
}

// Retain is unsupported.
func (e *Engine) Retain(context.Context, store.Ref, store.Retention, *store.Trace) error {
	return store.ErrUnsupported
}

// FanOut is unsupported.
func (e *Engine) FanOut(context.Context, store.FanOut, *store.Trace) ([]store.Object, error) {
	return nil, store.ErrUnsupported
}

// Post is unsupported.
func (e *Engine) Post(context.Context, store.Put, *store.Trace) (store.Object, error) {
	return store.Object{}, store.ErrUnsupported
}
