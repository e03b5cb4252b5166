package azure

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/crc64nvme"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

const (
	metadataHeader = "x-amz-meta-"
	appendHeader   = "x-amz-write-offset-bytes"
)

// Put uploads in one request or, if the object is large, block by block.
func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	offset, appends, known := readHeaders(p.Headers)
	switch {
	case !validKey(p.Key):
		return store.Object{}, badName(p.Key)
	case !known, appends && p.If.Given():
		return store.Object{}, store.ErrUnsupported
	case appends:
		return e.appendBlob(ctx, &p, offset, tr)
	case p.Size > e.single() && !e.opts.DisableMultipart && !p.Whole:
		return e.putBlocks(ctx, &p, tr)
	}
	q := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer q.End()
	q.Header("x-ms-blob-type", "BlockBlob")
	q.ContentType = cmp.Or(p.ContentType, "application/octet-stream")
	q.Idempotent = !p.If.Given()
	q.Upload(p.Body, p.Size)
	q.condition(p.If)
	e.describe(q, &p)
	if err := e.hash(q, p.Body, p.Size); err != nil {
		return store.Object{}, err
	}
	return e.write(ctx, q, &p, tr)
}

// write sends a request that creates an object.
func (h *host) write(ctx context.Context, q request, p *store.Put, tr *store.Trace) (store.Object, error) {
	r, err := h.send(ctx, q, tr)
	if err != nil {
		return store.Object{}, err
	}
	return h.made(r, p, tr), nil
}

// made returns the object that the answer to an upload describes.
func (h *host) made(r *httpclient.Reply, p *store.Put, tr *store.Trace) store.Object {
	o := store.Object{Ref: store.Ref{Bucket: p.Bucket, Key: p.Key, VersionID: r.Header("x-ms-version-id")}, ETag: r.ETag(tr), Size: p.Size, LastModified: r.LastModified()}
	h.store.noteVersion(p.Bucket, o.VersionID)
	return o
}

// readHeaders reads headers of S3: metadata, and appends. known is false if there are others.
func readHeaders(headers []store.Header) (offset string, appends, known bool) {
	for _, h := range headers {
		switch {
		case h.Name == appendHeader:
			offset, appends = h.Value, true
		case !strings.HasPrefix(h.Name, metadataHeader):
			return "", false, false
		}
	}
	return offset, appends, true
}

// metadataName returns a name of metadata without hyphens, which Azure does not accept.
func metadataName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// eachMetadata calls do with all metadata of an upload.
func (h *host) eachMetadata(p *store.Put, do func(name, value string)) {
	for i := range h.opts.Metadata {
		a := &h.opts.Metadata[i]
		do(metadataName(a.Key), string(a.AppendValue(nil, p.Key)))
	}
	for _, x := range p.Headers {
		if name, ok := strings.CutPrefix(x.Name, metadataHeader); ok {
			do(metadataName(name), x.Value)
		}
	}
}

// describe adds metadata, tags and tier to a request that creates a blob.
func (e *Engine) describe(q request, p *store.Put) {
	e.eachMetadata(p, func(name, value string) { q.Header("x-ms-meta-"+name, value) })
	if e.opts.StorageClass != "" {
		q.Header("x-ms-access-tier", e.opts.StorageClass)
	}
	tags := url.Values{}
	for i := range e.opts.Tags {
		tags.Set(e.opts.Tags[i].Key, string(e.opts.Tags[i].AppendValue(nil, p.Key)))
	}
	for key, value := range p.Tags {
		tags.Set(key, value)
	}
	if len(tags) > 0 {
		q.Header("x-ms-tags", strings.ReplaceAll(tags.Encode(), "+", "%20"))
	}
}

// hash adds the hashes that the options ask for. It reads the payload once for them.
func (h *host) hash(q request, body store.Body, size int64) error {
	if h.opts.MD5 {
		sum := md5.New()
		if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
			return store.AsError(err, 0)
		}
		q.Header("content-md5", base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	if h.opts.Checksum != store.NoChecksum { // the only one, in the opposite byte order of Azure
		sum := crc64nvme.New()
		if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
			return store.AsError(err, 0)
		}
		q.Header("x-ms-content-crc64", base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, sum.Sum64())))
	}
	return nil
}

// appendBlob appends to a blob, and first creates it if it does not exist.
func (e *Engine) appendBlob(ctx context.Context, p *store.Put, offset string, tr *store.Trace) (store.Object, error) {
	if offset == "0" {
		q := e.begin(http.MethodPut, p.Bucket, p.Key)
		q.Header("x-ms-blob-type", "AppendBlob")
		q.ContentType = cmp.Or(p.ContentType, "application/octet-stream")
		e.describe(q, p)
		err := e.do(ctx, q, tr)
		q.End()
		if err != nil {
			return store.Object{}, err
		}
	}
	q := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer q.End()
	q.Param("comp", "appendblock")
	q.Header("x-ms-blob-condition-appendpos", offset)
	q.Upload(p.Body, p.Size)
	if err := e.hash(q, p.Body, p.Size); err != nil {
		return store.Object{}, err
	}
	return e.write(ctx, q, p, tr)
}

// PutTags sets an object's tags.
func (e *Engine) PutTags(ctx context.Context, ref store.Ref, tags map[string]string, tr *store.Trace) error {
	q := e.begin(http.MethodPut, ref.Bucket, ref.Key)
	defer q.End()
	q.Param("comp", "tags")
	q.version(ref.VersionID)
	q.xml(appendTags(nil, tags))
	return e.do(ctx, q, tr)
}

// DeleteTags sets an empty list of tags.
func (e *Engine) DeleteTags(ctx context.Context, ref store.Ref, tr *store.Trace) error {
	return e.PutTags(ctx, ref, nil, tr)
}

// Tags returns an object's tags.
func (e *Engine) Tags(ctx context.Context, ref store.Ref, tr *store.Trace) (map[string]string, error) {
	q := e.begin(http.MethodGet, ref.Bucket, ref.Key)
	defer q.End()
	q.Param("comp", "tags")
	q.version(ref.VersionID)
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return nil, err
	}
	return readTags(r.Document(), r.Status)
}
