package minio

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/tags"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
)

// call calls send and records its requests in tr.
func call[T any](ctx context.Context, tr *store.Trace, send func(context.Context) (T, error)) (T, error) {
	ctx, seen := nethttp.Watch(ctx, tr)
	got, err := send(ctx)
	seen()
	return got, asError(err, tr)
}

// do is call for requests without a result.
func do(ctx context.Context, tr *store.Trace, send func(context.Context) error) error {
	_, err := call(ctx, tr, func(ctx context.Context) (struct{}, error) { return struct{}{}, send(ctx) })
	return err
}

func (e *Engine) StartUpload(ctx context.Context, p store.Put, tr *store.Trace) (store.Upload, error) {
	id, err := call(ctx, tr, func(ctx context.Context) (string, error) {
		opts := e.putOptions(&p)
		if opts.UserTags == nil {
			opts.UserTags = make(map[string]string)
		}
		maps.Copy(opts.UserTags, p.Tags)
		opts.ServerSideEncryption = withHeaders(opts.ServerSideEncryption, p.Headers)
		e.announceChecksum(&opts)
		return e.core.NewMultipartUpload(ctx, p.Bucket, p.Key, opts)
	})
	return store.Upload{Ref: store.Ref{Bucket: p.Bucket, Key: p.Key}, ID: id}, err
}

func (e *Engine) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	borrowed := &nethttp.BorrowedBody{Body: p.Body}
	defer borrowed.Release()
	opts, body, err := e.partOptions(borrowed, p.Size)
	if err != nil {
		return store.Part{}, asError(err, tr)
	}
	ctx = withPayload(ctx, payload{borrowed, p.Size, 0})
	got, err := call(ctx, tr, func(ctx context.Context) (minio.ObjectPart, error) {
		return e.core.PutObjectPart(ctx, p.Bucket, p.Key, p.ID, p.Number, body, p.Size, opts)
	})
	return store.Part{Number: p.Number, ETag: strings.Trim(got.ETag, `"`), Size: p.Size, Checksums: e.checksumsOf(&got)}, err
}

func (e *Engine) CopyPart(ctx context.Context, c store.CopyPart, tr *store.Trace) (store.Part, error) {
	got, err := call(ctx, tr, func(ctx context.Context) (minio.CompletePart, error) {
		return e.core.CopyObjectPart(ctx, c.From.Bucket, c.From.Key, c.Bucket, c.Key, c.ID, c.Number, c.Offset, c.Length, e.copyHeaders(true))
	})
	return store.Part{Number: c.Number, ETag: strings.Trim(got.ETag, `"`), Size: c.Length}, err
}

func (e *Engine) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	done := make([]minio.CompletePart, len(parts))
	o := store.Object{Ref: u.Ref}
	for i, p := range parts {
		done[i] = completePart(&p)
		o.Size += p.Size
	}
	opts := e.completeOptions()
	switch {
	case u.If.Absent:
		opts.SetMatchETagExcept("*")
	case u.If.Given():
		opts.SetMatchETag(u.If.Is)
	}
	info, err := call(ctx, tr, func(ctx context.Context) (minio.UploadInfo, error) {
		return e.core.CompleteMultipartUpload(ctx, u.Bucket, u.Key, u.ID, done, opts)
	})
	o.ETag, o.VersionID = strings.Trim(info.ETag, `"`), info.VersionID
	return o, err
}

func (e *Engine) AbortUpload(ctx context.Context, u store.Upload, tr *store.Trace) error {
	return do(ctx, tr, func(ctx context.Context) error { return e.core.AbortMultipartUpload(ctx, u.Bucket, u.Key, u.ID) })
}

func (e *Engine) Copy(ctx context.Context, c store.Copy, tr *store.Trace) (store.Object, error) {
	headers := e.copyHeaders(false)
	for _, h := range c.Headers {
		headers[http.CanonicalHeaderKey(h.Name)] = h.Value
	}
	info, err := call(ctx, tr, func(ctx context.Context) (minio.ObjectInfo, error) {
		return e.core.CopyObject(ctx, c.From.Bucket, c.From.Key, c.To.Bucket, c.To.Key, headers,
			minio.CopySrcOptions{VersionID: c.From.VersionID}, minio.PutObjectOptions{})
	})
	return toObject(c.To.Bucket, info), err
}

func (e *Engine) PutTags(ctx context.Context, ref store.Ref, values map[string]string, tr *store.Trace) error {
	set, err := tags.NewTags(values, true)
	if err != nil {
		return asError(err, tr)
	}
	return do(ctx, tr, func(ctx context.Context) error {
		return e.core.PutObjectTagging(ctx, ref.Bucket, ref.Key, set, minio.PutObjectTaggingOptions{VersionID: ref.VersionID})
	})
}

func (e *Engine) Tags(ctx context.Context, ref store.Ref, tr *store.Trace) (map[string]string, error) {
	set, err := call(ctx, tr, func(ctx context.Context) (*tags.Tags, error) {
		return e.core.GetObjectTagging(ctx, ref.Bucket, ref.Key, minio.GetObjectTaggingOptions{VersionID: ref.VersionID})
	})
	if err != nil {
		return nil, err
	}
	return set.ToMap(), nil
}

func (e *Engine) DeleteTags(ctx context.Context, ref store.Ref, tr *store.Trace) error {
	return do(ctx, tr, func(ctx context.Context) error {
		return e.core.RemoveObjectTagging(ctx, ref.Bucket, ref.Key, minio.RemoveObjectTaggingOptions{VersionID: ref.VersionID})
	})
}

func (e *Engine) Retain(ctx context.Context, ref store.Ref, r store.Retention, tr *store.Trace) error {
	mode := minio.RetentionMode(r.Mode)
	opts := minio.PutObjectRetentionOptions{VersionID: ref.VersionID, GovernanceBypass: r.Bypass}
	if r.Mode != "" {
		opts.Mode, opts.RetainUntilDate = &mode, &r.Until
	}
	return do(ctx, tr, func(ctx context.Context) error { return e.core.PutObjectRetention(ctx, ref.Bucket, ref.Key, opts) })
}
