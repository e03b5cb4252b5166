package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// minioEngine sends requests through minio-go.
type minioEngine struct {
	core     minio.Core
	part     uint64 // part size of multipart uploads; 0 = minio-go's own
	unsigned bool   // signatures of uploads do not cover the payload
	hashed   *atomic.Int64

	opts     Options
	sse      encrypt.ServerSide // of opts
	checksum minio.ChecksumType // of opts

	// For what minio-go does not send itself: forms.
	transport http.RoundTripper
	agent     string

	hangUp func() // closes the connections that are idle, and others when their requests have ended
}

// receiveBuffers hold payload on its way to nowhere. 128 KiB is past the point
// where larger reads save system calls on loopback.
var receiveBuffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}

func (e *minioEngine) Put(ctx context.Context, p Put, tr *Trace) (Object, error) {
	opts := e.putOptions(&p)
	if p.Size == 0 {
		e.checksumOfNothing(&opts)
	}
	lent := &lentBody{body: p.Body}
	defer lent.takeBack()
	p.Body = lent
	opts.ServerSideEncryption = withHeaders(opts.ServerSideEncryption, p.Headers)
	var info minio.UploadInfo
	var err error
	ctx, seen := watch(ctx, tr)
	if len(p.Headers) > 0 {
		// What the headers ask for is asked of one request, and not of parts.
		opts.DisableMultipart = true
	}
	if e.signsWhole(&p) {
		info, err = e.putSmall(ctx, p, opts)
	} else {
		if !e.unsigned && e.hashed != nil {
			e.hashed.Add(p.Size)
		}
		info, err = e.core.Client.PutObject(ctx, p.Bucket, p.Key, p.Body, p.Size, opts)
	}
	seen()
	if err != nil {
		return Object{}, asError(err, tr)
	}
	return Object{
		Ref:  Ref{Bucket: p.Bucket, Key: p.Key, VersionID: info.VersionID},
		ETag: info.ETag,
		Size: tr.sizeOr(p.Size),
	}, nil
}

// signedWhole is up to which size a payload is signed as a whole. minio-go
// would sign it in chunks, for which it makes buffers of 64 KiB per request.
const signedWhole = 64 << 10

func (e *minioEngine) putSmall(ctx context.Context, p Put, opts minio.PutObjectOptions) (minio.UploadInfo, error) {
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

func (e *minioEngine) Get(ctx context.Context, g Get, tr *Trace) (Download, error) {
	opts := minio.GetObjectOptions{VersionID: g.VersionID, ServerSideEncryption: e.readEncryption()}
	if g.Length > 0 {
		if err := opts.SetRange(g.Offset, g.Offset+g.Length-1); err != nil {
			return Download{}, asError(err, tr)
		}
	}
	opts.PartNumber = g.Part
	if g.Checksum != nil {
		// Not by opts.Checksum: minio-go would also compare, and fail in the
		// midst of the payload where it is wrong.
		opts.Set("x-amz-checksum-mode", "ENABLED")
	}
	for _, h := range g.Headers {
		opts.Set(h.Name, h.Value)
	}
	ctx, seen := watch(ctx, tr)
	body, info, header, err := e.core.GetObject(ctx, g.Bucket, g.Key, opts)
	seen()
	if err != nil {
		return Download{}, asError(err, tr)
	}
	if g.Checksum != nil {
		g.Checksum(storedChecksum(header))
	}
	d := Download{Object: toObject(g.Bucket, info)}
	d.Bytes, err = drain(body, g.Into)
	seen() // the end of the answer
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errorf(CodeShortRead, int(tr.Status()), "the answer ended after %d of %s bytes", d.Bytes, header.Get("Content-Length"))
		}
		return d, asError(err, tr)
	}
	return d, nil
}

// drain reads body to its end and throws it away, or gives it to into.
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

func (e *minioEngine) Stat(ctx context.Context, ref Ref, tr *Trace) (Object, error) {
	opts := minio.StatObjectOptions{VersionID: ref.VersionID, ServerSideEncryption: e.readEncryption()}
	ctx, seen := watch(ctx, tr)
	info, err := e.core.Client.StatObject(ctx, ref.Bucket, ref.Key, opts)
	seen()
	if err != nil {
		return Object{}, asError(err, tr)
	}
	return toObject(ref.Bucket, info), nil
}

// Delete removes all of refs, which are of one bucket and at most 1000, with
// one request, and counts what the store confirms.
func (e *minioEngine) Delete(ctx context.Context, refs []Ref, tr *Trace) error {
	switch len(refs) {
	case 0:
		return nil
	case 1:
		return e.deleteOne(ctx, refs[0], tr)
	}
	return e.deleteBatch(ctx, refs, minio.RemoveObjectsOptions{}, tr)
}

func (e *minioEngine) deleteBatch(ctx context.Context, refs []Ref, opts minio.RemoveObjectsOptions, tr *Trace) error {
	each := func(yield func(minio.ObjectInfo) bool) {
		for _, r := range refs {
			if !yield(minio.ObjectInfo{Key: r.Key, VersionID: r.VersionID}) {
				return
			}
		}
	}
	traced, seen := watch(ctx, tr)
	results, err := e.core.Client.RemoveObjectsWithIter(traced, refs[0].Bucket, each, opts)
	if err != nil {
		seen()
		return asError(err, tr)
	}
	d := deletions{refs: refs}
	for r := range results {
		if r.Err != nil {
			d.failed(asError(r.Err, nil).(*Error))
		} else if err = d.confirmed([]byte(r.ObjectName), 0); err != nil {
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
	return d.err(tr)
}

func (e *minioEngine) deleteOne(ctx context.Context, ref Ref, tr *Trace) error {
	_, err := call(ctx, tr, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, e.core.RemoveObject(ctx, ref.Bucket, ref.Key, minio.RemoveObjectOptions{VersionID: ref.VersionID})
	})
	var refused *Error
	if errors.As(err, &refused) && deleted(refused.Status) {
		return nil // minio-go expects 204 and nothing else
	}
	return err
}

func (e *minioEngine) List(ctx context.Context, l List, each func(Object) bool, tr *Trace) error {
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
	traced, seen := watch(ctx, tr)
	track := &pageTrack{pages: newListCheck(l.Bucket, l.Prefix, l.Versions)}
	traced = context.WithValue(traced, pageKey{}, track)
	for info := range e.core.Client.ListObjectsIter(traced, l.Bucket, opts) {
		seen()
		track.empty = 0
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
	// A listing that was cut off ends like one that is complete.
	if ctx.Err() != nil {
		return asError(context.Cause(ctx), tr)
	}
	return nil
}

// A pageTrack is the listTrack of a listing by minio-go, which asks for pages for
// ever where a store says so.
type pageTrack struct {
	listTrack
	pages *listCheck
	begun bool
}

type pageKey struct{}

// checkPage looks at a request before it is sent: it is an error where it is the
// next one of a listing that has no end. A redirected one says again what the
// request before said.
func checkPage(req *http.Request) error {
	t, _ := req.Context().Value(pageKey{}).(*pageTrack)
	if t == nil || req.Response != nil {
		return nil
	}
	place, ok := pageOf(req.URL.Query())
	if !ok {
		return nil // not for a page
	}
	t.empty++
	if !t.begun {
		t.begun = true
		return nil
	}
	if err := t.goOn(place, http.StatusOK); err != nil {
		return err
	}
	return t.pages.page(place.key)
}

func toObject(bucket string, info minio.ObjectInfo) Object {
	return Object{
		Ref:          Ref{Bucket: bucket, Key: info.Key, VersionID: info.VersionID},
		ETag:         strings.Trim(info.ETag, `"`),
		Size:         info.Size,
		LastModified: info.LastModified,
		DeleteMarker: info.IsDeleteMarker,
		HasMetadata:  len(info.UserMetadata) > 0 || len(info.Metadata[http.CanonicalHeaderKey("Content-Type")]) > 0,
	}
}
