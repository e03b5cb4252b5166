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
	"warp/pkg/store/rest"
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
	case !known:
		return store.Object{}, store.ErrUnsupported
	case appends:
		return e.appendBlob(ctx, &p, offset, tr)
	case p.Size > e.single() && !e.opts.DisableMultipart && !p.Whole:
		return e.putBlocks(ctx, &p, tr)
	}
	w := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer w.end()
	w.header("x-ms-blob-type", "BlockBlob")
	w.call.ContentType = cmp.Or(p.ContentType, "application/octet-stream")
	w.call.Idempotent = true
	w.payload(p.Body, p.Size)
	e.describe(w, &p)
	if err := e.hash(w, p.Body, p.Size); err != nil {
		return store.Object{}, err
	}
	return e.write(ctx, w, &p, tr)
}

// write sends a request that creates an object.
func (h *host) write(ctx context.Context, w *work, p *store.Put, tr *store.Trace) (store.Object, error) {
	r, err := h.send(ctx, w, tr)
	if err != nil {
		return store.Object{}, err
	}
	defer r.Release()
	return h.made(&r, p, tr), nil
}

// made returns the object that the answer to an upload describes.
func (h *host) made(r *rest.Reply, p *store.Put, tr *store.Trace) store.Object {
	tr.Complete()
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
func (e *Engine) describe(w *work, p *store.Put) {
	e.eachMetadata(p, func(name, value string) { w.header("x-ms-meta-"+name, value) })
	if e.opts.StorageClass != "" {
		w.header("x-ms-access-tier", e.opts.StorageClass)
	}
	tags := url.Values{}
	for i := range e.opts.Tags {
		tags.Set(e.opts.Tags[i].Key, string(e.opts.Tags[i].AppendValue(nil, p.Key)))
	}
	for key, value := range p.Tags {
		tags.Set(key, value)
	}
	if len(tags) > 0 {
		w.header("x-ms-tags", strings.ReplaceAll(tags.Encode(), "+", "%20"))
	}
}

// hash adds the hashes that the options ask for. It reads the payload once for them.
func (h *host) hash(w *work, body store.Body, size int64) error {
	if h.opts.MD5 {
		sum := md5.New()
		if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
			return store.AsError(err, 0)
		}
		w.header("content-md5", base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	if h.opts.Checksum != store.NoChecksum { // the only one, in the opposite byte order of Azure
		sum := crc64nvme.New()
		if _, err := io.Copy(sum, io.NewSectionReader(body, 0, size)); err != nil {
			return store.AsError(err, 0)
		}
		w.header("x-ms-content-crc64", base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, sum.Sum64())))
	}
	return nil
}

// appendBlob appends to a blob, and first creates it if it does not exist.
func (e *Engine) appendBlob(ctx context.Context, p *store.Put, offset string, tr *store.Trace) (store.Object, error) {
	if offset == "0" {
		w := e.begin(http.MethodPut, p.Bucket, p.Key)
		w.header("x-ms-blob-type", "AppendBlob")
		w.call.ContentType = cmp.Or(p.ContentType, "application/octet-stream")
		e.describe(w, p)
		err := e.sendAndRelease(ctx, w, tr)
		w.end()
		if err != nil {
			return store.Object{}, err
		}
	}
	w := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer w.end()
	w.param("comp", "appendblock")
	w.header("x-ms-blob-condition-appendpos", offset)
	w.payload(p.Body, p.Size)
	if err := e.hash(w, p.Body, p.Size); err != nil {
		return store.Object{}, err
	}
	return e.write(ctx, w, p, tr)
}

// PutTags sets an object's tags.
func (e *Engine) PutTags(ctx context.Context, ref store.Ref, tags map[string]string, tr *store.Trace) error {
	w := e.begin(http.MethodPut, ref.Bucket, ref.Key)
	defer w.end()
	w.param("comp", "tags")
	w.version(ref.VersionID)
	w.document(appendTags(nil, tags))
	return e.sendAndRelease(ctx, w, tr)
}

// DeleteTags sets an empty list of tags.
func (e *Engine) DeleteTags(ctx context.Context, ref store.Ref, tr *store.Trace) error {
	return e.PutTags(ctx, ref, nil, tr)
}

// Tags returns an object's tags.
func (e *Engine) Tags(ctx context.Context, ref store.Ref, tr *store.Trace) (map[string]string, error) {
	w := e.begin(http.MethodGet, ref.Bucket, ref.Key)
	defer w.end()
	w.param("comp", "tags")
	w.version(ref.VersionID)
	r, err := e.send(ctx, w, tr)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	tr.Complete()
	return readTags(r.Document(), r.Status)
}

// document makes an XML document the body of the request.
func (w *work) document(text []byte) {
	w.call.ContentType, w.call.Body, w.call.Size = "application/xml", newBytes(text), int64(len(text))
}
