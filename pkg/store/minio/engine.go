package minio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// asError turns an error of minio-go or of a connection into an *Error. It returns nil for nil.
func asError(err error, tr *store.Trace) error {
	var own *store.Error
	var resp minio.ErrorResponse
	if !errors.As(err, &own) && errors.As(err, &resp) {
		return s3.ResponseError(resp, int(tr.Status()))
	}
	return store.AsError(err, int(tr.Status()))
}

// Engine sends requests through minio-go.
type Engine struct {
	core     minio.Core
	part     uint64 // part size of multipart uploads; 0 = minio-go's default
	unsigned bool   // do not sign the payload of uploads
	counters *store.Counters

	opts     store.Options
	sse      encrypt.ServerSide // of opts
	checksum minio.ChecksumType // of opts

	// for forms, which minio-go does not send
	transport http.RoundTripper
	agent     string

	closeIdle func()

	directories bool // directory buckets, whose listings are unordered
}

// receiveBuffers receive payload. Reads larger than 128 KiB save no system calls on loopback.
var receiveBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	p.Headers = s3.WithCondition(p.Headers, p.If)
	opts := e.putOptions(&p)
	if p.Size == 0 {
		e.checksumOfNothing(&opts)
	}
	borrowed := &nethttp.BorrowedBody{Body: p.Body}
	defer borrowed.Release()
	p.Body = borrowed
	opts.ServerSideEncryption = withHeaders(opts.ServerSideEncryption, p.Headers)
	var info minio.UploadInfo
	var err error
	_, part, _, _ := minio.OptimalPartInfo(p.Size, e.part)
	ctx = withPayload(ctx, payload{borrowed, p.Size, part})
	ctx, seen := nethttp.Watch(ctx, tr)
	if len(p.Headers) > 0 {
		// The headers are for one request, not for parts.
		opts.DisableMultipart = true
	}
	if e.signsWhole(&p) {
		info, err = e.putSmall(ctx, p, opts)
	} else {
		if !e.unsigned {
			e.counters.HashedPayload.Add(p.Size)
		}
		info, err = e.core.Client.PutObject(ctx, p.Bucket, p.Key, p.Body, p.Size, opts)
	}
	seen()
	if err != nil {
		return store.Object{}, asError(err, tr)
	}
	return store.Object{
		Ref:  store.Ref{Bucket: p.Bucket, Key: p.Key, VersionID: info.VersionID},
		ETag: info.ETag,
		Size: nethttp.ObjectSize(ctx, p.Size),
	}, nil
}

func (e *Engine) putSmall(ctx context.Context, p store.Put, opts minio.PutObjectOptions) (minio.UploadInfo, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, p.Body); err != nil {
		return minio.UploadInfo{}, err
	}
	if _, err := p.Body.Seek(0, io.SeekStart); err != nil {
		return minio.UploadInfo{}, err
	}
	md5 := ""
	if opts.SendContentMd5 {
		var err error
		if md5, err = contentMD5(p.Body); err != nil {
			return minio.UploadInfo{}, err
		}
	}
	opts.DisableContentSha256 = true // not in chunks
	return e.core.PutObject(ctx, p.Bucket, p.Key, p.Body, p.Size, md5, hex.EncodeToString(sum.Sum(nil)), opts)
}

func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	if g.If.Absent {
		return store.Download{}, store.ErrUnsupported
	}
	opts := minio.GetObjectOptions{VersionID: g.VersionID, ServerSideEncryption: e.readEncryption()}
	if g.Length > 0 && g.Part == 0 {
		if err := opts.SetRange(g.Offset, g.Offset+g.Length-1); err != nil {
			return store.Download{}, asError(err, tr)
		}
	}
	opts.PartNumber = g.Part
	if g.Checksum != nil {
		// Not with opts.Checksum, because then minio-go would also compare, and fail in the middle
		// of a wrong payload.
		opts.Set("x-amz-checksum-mode", "ENABLED")
	}
	for _, h := range s3.WithCondition(g.Headers, g.If) {
		opts.Set(h.Name, h.Value)
	}
	ctx, seen := nethttp.Watch(ctx, tr)
	body, info, header, err := e.core.GetObject(ctx, g.Bucket, g.Key, opts)
	seen()
	if err != nil {
		return store.Download{}, asError(err, tr)
	}
	if g.Checksum != nil {
		g.Checksum(s3.StoredChecksum(header))
	}
	d := store.Download{Object: toObject(g.Bucket, info)}
	d.Bytes, err = drain(body, g.Into)
	seen() // at the end of the answer
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = store.Errorf(store.CodeShortRead, int(tr.Status()), "the answer ended after %d of %s bytes", d.Bytes, header.Get("Content-Length"))
		}
		return d, asError(err, tr)
	}
	return d, nil
}

// drain reads body to its end and writes it to into, or discards it.
func drain(body io.ReadCloser, into io.Writer) (int64, error) {
	buf := receiveBuffers.Get().(*[]byte)
	defer receiveBuffers.Put(buf)
	defer body.Close()
	var n int64
	for {
		k, err := body.Read(*buf)
		n += int64(k)
		if into != nil && k > 0 {
			if _, err := into.Write((*buf)[:k]); err != nil {
				return n, err
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	opts := minio.StatObjectOptions{VersionID: ref.VersionID, ServerSideEncryption: e.readEncryption()}
	ctx, seen := nethttp.Watch(ctx, tr)
	info, err := e.core.Client.StatObject(ctx, ref.Bucket, ref.Key, opts)
	seen()
	if err != nil {
		return store.Object{}, asError(err, tr)
	}
	return toObject(ref.Bucket, info), nil
}

// Delete deletes all of refs with one request, and checks that the store confirms each. They must
// be in the same bucket, and not more than 1000.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	switch len(refs) {
	case 0:
		return nil
	case 1:
		return e.deleteOne(ctx, refs[0], minio.RemoveObjectOptions{VersionID: refs[0].VersionID}, tr)
	}
	return e.deleteBatch(ctx, refs, minio.RemoveObjectsOptions{}, tr)
}

func (e *Engine) deleteBatch(ctx context.Context, refs []store.Ref, opts minio.RemoveObjectsOptions, tr *store.Trace) error {
	each := func(yield func(minio.ObjectInfo) bool) {
		for _, r := range refs {
			if !yield(minio.ObjectInfo{Key: r.Key, VersionID: r.VersionID}) {
				return
			}
		}
	}
	traced, seen := nethttp.Watch(ctx, tr)
	results, err := e.core.Client.RemoveObjectsWithIter(traced, refs[0].Bucket, each, opts)
	if err != nil {
		seen()
		return asError(err, tr)
	}
	d := s3.Deletions{Refs: refs}
	for r := range results {
		if r.Err != nil {
			d.Fail(asError(r.Err, nil).(*store.Error))
		} else if err = d.Confirm([]byte(r.ObjectName), 0); err != nil {
			break
		}
	}
	seen()
	switch {
	case ctx.Err() != nil:
		return asError(context.Cause(ctx), tr)
	case err != nil:
		return err
	}
	return d.Err(tr)
}

// DeleteIf deletes one object if the condition holds.
func (e *Engine) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Absent {
		return store.ErrUnsupported
	}
	if c.Given() {
		ctx = context.WithValue(ctx, conditionKey{}, c.Header())
	}
	return e.deleteOne(ctx, ref, minio.RemoveObjectOptions{VersionID: ref.VersionID}, tr)
}

func (e *Engine) deleteOne(ctx context.Context, ref store.Ref, opts minio.RemoveObjectOptions, tr *store.Trace) error {
	err := do(ctx, tr, func(ctx context.Context) error { return e.core.RemoveObject(ctx, ref.Bucket, ref.Key, opts) })
	var refused *store.Error
	if errors.As(err, &refused) && s3.Deleted(refused.Status) {
		return nil // minio-go expects 204 and nothing else
	}
	return err
}

func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	opts := minio.ListObjectsOptions{
		Prefix:       l.Prefix,
		Recursive:    !l.Flat,
		WithVersions: l.Versions,
		WithMetadata: l.Metadata,
		MaxKeys:      l.MaxKeys,
	}
	for _, h := range l.Headers {
		opts.Set(h.Name, h.Value)
	}
	traced, seen := nethttp.Watch(ctx, tr)
	track := &pageTrack{pages: e.listCheck(l.Prefix, l.Versions)}
	traced = context.WithValue(traced, pageKey{}, track)
	for info := range e.core.Client.ListObjectsIter(traced, l.Bucket, opts) {
		seen()
		track.Empty = 0
		if info.Err != nil {
			return asError(info.Err, tr)
		}
		o := toObject(l.Bucket, info)
		o.IsPrefix = l.Flat && strings.HasSuffix(info.Key, "/") && info.LastModified.IsZero()
		if !each(o) {
			return nil
		}
	}
	seen()
	// A listing that was cut off looks like a complete one.
	if ctx.Err() != nil {
		return asError(context.Cause(ctx), tr)
	}
	return nil
}

// listCheck returns a check for a listing. Directory buckets list in no order.
func (e *Engine) listCheck(prefix string, versions bool) *store.ListCheck {
	check := store.NewListCheck(prefix, versions)
	if e.directories {
		check.Unordered()
	}
	return check
}

// A pageTrack follows a listing by minio-go, which would request pages for ever if the store never
// ends the listing.
type pageTrack struct {
	store.ListTrack
	pages *store.ListCheck
	begun bool
}

type pageKey struct{}

// checkPage returns an error for a request for the next page of a listing that never ends. A
// redirected request asks for the same page again.
func checkPage(req *http.Request) error {
	t, _ := req.Context().Value(pageKey{}).(*pageTrack)
	if t == nil || req.Response != nil {
		return nil
	}
	place, ok := pageOf(req.URL.Query())
	if !ok {
		return nil // not for a page
	}
	t.Empty++
	if !t.begun {
		t.begun = true
		return nil
	}
	if err := t.Advance(place); err != nil {
		return err
	}
	return t.pages.Page(place.Key)
}

func toObject(bucket string, info minio.ObjectInfo) store.Object {
	return store.Object{
		Ref:          store.Ref{Bucket: bucket, Key: info.Key, VersionID: info.VersionID},
		ETag:         strings.Trim(info.ETag, `"`),
		Size:         info.Size,
		LastModified: info.LastModified,
		DeleteMarker: info.IsDeleteMarker,
		HasMetadata:  len(info.UserMetadata) > 0 || len(info.Metadata[http.CanonicalHeaderKey("Content-Type")]) > 0,
	}
}
