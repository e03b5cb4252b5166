package store

import "context"

// Unsupported implements the methods of Engine that only some engines support. An engine embeds it
// and overrides the methods that it supports.
type Unsupported struct{}

// StartUpload is unsupported.
func (Unsupported) StartUpload(context.Context, Put, *Trace) (Upload, error) {
	return Upload{}, ErrUnsupported
}

// PutPart is unsupported.
func (Unsupported) PutPart(context.Context, PutPart, *Trace) (Part, error) {
	return Part{}, ErrUnsupported
}

// CopyPart is unsupported.
func (Unsupported) CopyPart(context.Context, CopyPart, *Trace) (Part, error) {
	return Part{}, ErrUnsupported
}

// CompleteUpload is unsupported.
func (Unsupported) CompleteUpload(context.Context, Upload, []Part, *Trace) (Object, error) {
	return Object{}, ErrUnsupported
}

// AbortUpload is unsupported.
func (Unsupported) AbortUpload(context.Context, Upload, *Trace) error {
	return ErrUnsupported
}

// Copy is unsupported.
func (Unsupported) Copy(context.Context, Copy, *Trace) (Object, error) {
	return Object{}, ErrUnsupported
}

// PutTags is unsupported.
func (Unsupported) PutTags(context.Context, Ref, map[string]string, *Trace) error {
	return ErrUnsupported
}

// Tags is unsupported.
func (Unsupported) Tags(context.Context, Ref, *Trace) (map[string]string, error) {
	return nil, ErrUnsupported
}

// DeleteTags is unsupported.
func (Unsupported) DeleteTags(context.Context, Ref, *Trace) error {
	return ErrUnsupported
}

// Retain is unsupported.
func (Unsupported) Retain(context.Context, Ref, Retention, *Trace) error {
	return ErrUnsupported
}

// FanOut is unsupported.
func (Unsupported) FanOut(context.Context, FanOut, *Trace) ([]Object, error) {
	return nil, ErrUnsupported
}

// Post is unsupported.
func (Unsupported) Post(context.Context, Put, *Trace) (Object, error) {
	return Object{}, ErrUnsupported
}
