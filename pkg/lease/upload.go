package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"warp/pkg/store"
)

// An Upload is the upload in parts of the run's named object.
type Upload struct {
	store.Upload
	lease *Lease
	retry Retry
}

// A Retry repeats a request that the run needs. what names the request in errors.
type Retry func(ctx context.Context, what string, do func() error) error

// StartUpload begins the upload of the run's named object. It adds the upload to the
// marker before the first part is sent, so that a later run can abort it if this one
// is killed.
func (l *Lease) StartUpload(ctx context.Context, retry Retry) (*Upload, error) {
	u := &Upload{lease: l, retry: retry}
	ref := store.Ref{Bucket: l.bucket, Key: l.own.marker.Object.Key}
	err := u.send(ctx, "start the upload of "+ref.Key, func(h *store.Host) (err error) {
		u.Upload, err = l.beginUpload(ctx, h, ref)
		return err
	})
	if err != nil {
		return nil, err
	}
	u.If.Absent = true
	// Not cut off by an interrupt, or no run would know of the upload.
	err = l.own.change(context.WithoutCancel(ctx), func(m *marker) { m.Object = &namedObject{ref.Key, u.ID, l.hidesSums()} })
	if err != nil {
		return nil, err
	}
	if err = u.prove(ctx); err == nil {
		err = u.checkAlone(ctx)
	}
	return u, err
}

// send sends a request of the upload to one of the hosts.
func (u *Upload) send(ctx context.Context, what string, do func(*store.Host) error) error {
	return u.retry(ctx, what, func() error { return u.lease.store.Use(do) })
}

// beginUpload begins the upload with the run's id in the metadata. If these are encrypted
// with a key that a later run does not have, the id is also in a tag, unless the store
// refuses tags.
func (l *Lease) beginUpload(ctx context.Context, h *store.Host, ref store.Ref) (store.Upload, error) {
	run := l.own.marker.Run
	put := store.Put{Ref: ref, ContentType: "application/octet-stream",
		Headers: []store.Header{{Name: "x-amz-meta-" + runMetadata, Value: run}}}
	if l.store.Options().Encryption.Kind == store.SSEC {
		put.Tags = map[string]string{runMetadata: run}
	}
	u, err := h.StartUpload(ctx, put, store.NewTrace(time.Now()))
	var refused *store.Error
	if put.Tags != nil && errors.As(err, &refused) && refused.Status >= 400 && !store.Repeatable(err) {
		put.Tags = nil
		return h.StartUpload(ctx, put, store.NewTrace(time.Now()))
	}
	return u, err
}

// hidesSums reports whether ETags are not MD5 sums because of the run's encryption.
func (l *Lease) hidesSums() bool {
	kind := l.store.Options().Encryption.Kind
	return kind == store.SSEC || kind == store.SSEKMS
}

// prove uploads the part that proves which run the upload belongs to.
func (u *Upload) prove(ctx context.Context) error {
	proof := uploadProof(u.lease.own.marker.Run)
	return u.send(ctx, "mark the upload of "+u.Key, func(h *store.Host) error {
		part := store.PutPart{Upload: u.Upload, Number: store.MaxPart, Body: bytes.NewReader(proof), Size: int64(len(proof))}
		_, err := h.PutPart(ctx, part, store.NewTrace(time.Now()))
		return err
	})
}

// checkAlone makes sure that nobody has begun to upload the same key since the check
// that it was free.
func (u *Upload) checkAlone(ctx context.Context) error {
	uploads, err := u.lease.uploadsOf(ctx, u.Key)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(uploads, func(id string) bool { return id != u.ID }) {
		return fmt.Errorf("somebody else has started to upload %s: choose another --obj.name", u.Key)
	}
	return nil
}

// Complete completes the object, unless the key exists by now.
func (u *Upload) Complete(ctx context.Context, parts []store.Part) (o store.Object, err error) {
	err = u.send(ctx, "complete the upload of "+u.Key, func(h *store.Host) error {
		o, err = u.complete(ctx, h, parts)
		return err
	})
	return o, err
}

func (u *Upload) complete(ctx context.Context, h *store.Host, parts []store.Part) (store.Object, error) {
	o, err := h.CompleteUpload(ctx, u.Upload, parts, store.NewTrace(time.Now()))
	var failed *store.Error
	if err == nil || !errors.As(err, &failed) {
		return o, err
	}
	// After a lost answer the key exists, or the upload does not.
	if run, seen := u.lease.store.Metadata(ctx, u.Ref, runMetadata); seen == nil && run == u.lease.own.marker.Run {
		return h.Stat(ctx, u.Ref, store.NewTrace(time.Now()))
	}
	if failed.Status == 412 || failed.Status == 409 {
		return o, fmt.Errorf("something else has written %s in the meantime: choose another --obj.name", u.Key)
	}
	return o, err
}
