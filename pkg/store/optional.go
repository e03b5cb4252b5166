package store

import "context"

// The methods of a Host for requests that only some engines support return [ErrUnsupported] for the
// others.

// StartUpload is the method of [Multipart].
func (h *Host) StartUpload(ctx context.Context, p Put, tr *Trace) (Upload, error) {
	if e, ok := h.Engine.(Multipart); ok {
		return e.StartUpload(ctx, p, tr)
	}
	return Upload{}, ErrUnsupported
}

// PutPart is the method of [Multipart].
func (h *Host) PutPart(ctx context.Context, p PutPart, tr *Trace) (Part, error) {
	if e, ok := h.Engine.(Multipart); ok {
		return e.PutPart(ctx, p, tr)
	}
	return Part{}, ErrUnsupported
}

// CompleteUpload is the method of [Multipart].
func (h *Host) CompleteUpload(ctx context.Context, u Upload, parts []Part, tr *Trace) (Object, error) {
	if e, ok := h.Engine.(Multipart); ok {
		return e.CompleteUpload(ctx, u, parts, tr)
	}
	return Object{}, ErrUnsupported
}

// AbortUpload is the method of [Multipart].
func (h *Host) AbortUpload(ctx context.Context, u Upload, tr *Trace) error {
	if e, ok := h.Engine.(Multipart); ok {
		return e.AbortUpload(ctx, u, tr)
	}
	return ErrUnsupported
}

// CopyPart is the method of [PartCopier].
func (h *Host) CopyPart(ctx context.Context, c CopyPart, tr *Trace) (Part, error) {
	if e, ok := h.Engine.(PartCopier); ok {
		return e.CopyPart(ctx, c, tr)
	}
	return Part{}, ErrUnsupported
}

// Copy is the method of [Copier].
func (h *Host) Copy(ctx context.Context, c Copy, tr *Trace) (Object, error) {
	if e, ok := h.Engine.(Copier); ok {
		return e.Copy(ctx, c, tr)
	}
	return Object{}, ErrUnsupported
}

// PutTags is the method of [Tagger].
func (h *Host) PutTags(ctx context.Context, ref Ref, tags map[string]string, tr *Trace) error {
	if e, ok := h.Engine.(Tagger); ok {
		return e.PutTags(ctx, ref, tags, tr)
	}
	return ErrUnsupported
}

// Tags is the method of [Tagger].
func (h *Host) Tags(ctx context.Context, ref Ref, tr *Trace) (map[string]string, error) {
	if e, ok := h.Engine.(Tagger); ok {
		return e.Tags(ctx, ref, tr)
	}
	return nil, ErrUnsupported
}

// DeleteTags is the method of [Tagger].
func (h *Host) DeleteTags(ctx context.Context, ref Ref, tr *Trace) error {
	if e, ok := h.Engine.(Tagger); ok {
		return e.DeleteTags(ctx, ref, tr)
	}
	return ErrUnsupported
}

// Retain is the method of [Retainer].
func (h *Host) Retain(ctx context.Context, ref Ref, r Retention, tr *Trace) error {
	if e, ok := h.Engine.(Retainer); ok {
		return e.Retain(ctx, ref, r, tr)
	}
	return ErrUnsupported
}

// FanOut is the method of [FanOuter].
func (h *Host) FanOut(ctx context.Context, f FanOut, tr *Trace) ([]Object, error) {
	if e, ok := h.Engine.(FanOuter); ok {
		return e.FanOut(ctx, f, tr)
	}
	return nil, ErrUnsupported
}

// Post is the method of [Poster].
func (h *Host) Post(ctx context.Context, p Put, tr *Trace) (Object, error) {
	if e, ok := h.Engine.(Poster); ok {
		return e.Post(ctx, p, tr)
	}
	return Object{}, ErrUnsupported
}
