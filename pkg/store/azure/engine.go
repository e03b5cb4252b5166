package azure

import (
	"context"
	"net/http"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

var (
	_ store.Engine      = (*Engine)(nil)
	_ store.Multipart   = (*Engine)(nil)
	_ store.Copier      = (*Engine)(nil)
	_ store.Tagger      = (*Engine)(nil)
	_ store.Conditional = (*Engine)(nil)
)

// An Engine sends requests to Blob Storage.
type Engine struct{ host }

// Get downloads a blob or file, or a range of it. The store has no parts, so a part is a range.
func (h *host) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	switch {
	case len(g.Headers) > 0, g.Part > 0 && g.Length == 0, g.If.Absent:
		return store.Download{}, store.ErrUnsupported
	case !validKey(g.Key):
		return store.Download{}, badName(g.Key)
	}
	q := h.begin(http.MethodGet, g.Bucket, g.Key)
	defer q.End()
	q.version(g.VersionID)
	q.condition(g.If)
	q.Offset, q.Length = g.Offset, g.Length
	h.store.auth.sign(q)
	r, err := h.client.Open(ctx, q.Request, tr)
	if err == nil && r.Status/100 != 2 {
		err = refusal(r)
	}
	if err != nil {
		return store.Download{}, err
	}
	if g.Checksum != nil {
		g.Checksum(storedChecksum(r))
	}
	d := store.Download{Object: h.described(r, g.Ref, tr)}
	d.Bytes, err = r.Receive(ctx, g.Into, tr)
	return d, err
}

// described returns the object that the head of an answer describes.
func (h *host) described(r *httpclient.Reply, ref store.Ref, tr *store.Trace) store.Object {
	o := store.Object{Ref: ref, Size: r.Length(), LastModified: r.LastModified(), ETag: r.ETag(tr)}
	if o.VersionID == "" && h.store.makesVersions(ref.Bucket) {
		o.VersionID = r.Header("x-ms-version-id")
	}
	return o
}

// storedChecksum returns the MD5 of the content. Only blobs that were uploaded in one request have
// one.
func storedChecksum(r *httpclient.Reply) store.StoredChecksum {
	md5 := r.Header("x-ms-blob-content-md5") // if the answer is a range
	if md5 == "" && r.Status == http.StatusOK {
		md5 = r.Header("content-md5")
	}
	if md5 == "" {
		return store.StoredChecksum{}
	}
	return store.StoredChecksum{Algorithm: "MD5", Value: md5}
}

// Stat returns the properties of a blob or file.
func (h *host) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	return h.properties(ctx, ref, tr, nil)
}

// properties requests the properties of an object, and calls look with the answer unless look is
// nil.
func (h *host) properties(ctx context.Context, ref store.Ref, tr *store.Trace, look func(*httpclient.Reply)) (store.Object, error) {
	if !validKey(ref.Key) {
		return store.Object{}, badName(ref.Key)
	}
	q := h.begin(http.MethodHead, ref.Bucket, ref.Key)
	defer q.End()
	q.version(ref.VersionID)
	r, err := h.send(ctx, q, tr)
	if err != nil {
		return store.Object{}, err
	}
	if look != nil {
		look(r)
	}
	o := h.described(r, ref, tr)
	if o.Size < 0 {
		return o, store.BadAnswer(r.Status, "the answer does not say how long %.60q is", ref.Key)
	}
	return o, nil
}

// pollCopy is how long to wait before asking again whether a copy is complete.
const pollCopy = 20 * time.Millisecond

// Copy makes the store copy a blob, and waits until the copy is complete.
func (e *Engine) Copy(ctx context.Context, c store.Copy, tr *store.Trace) (store.Object, error) {
	switch {
	case len(c.Headers) > 0:
		return store.Object{}, store.ErrUnsupported
	case !validKey(c.From.Key) || !validKey(c.To.Key):
		return store.Object{}, badName(c.From.Key)
	}
	o, status, err := e.beginCopy(ctx, &c, tr)
	for err == nil && status == "pending" {
		select {
		case <-ctx.Done():
			return o, store.AsError(ctx.Err(), 0)
		case <-time.After(pollCopy):
		}
		o, err = e.properties(ctx, store.Ref{Bucket: c.To.Bucket, Key: c.To.Key}, tr, func(r *httpclient.Reply) { status = r.Header("x-ms-copy-status") })
	}
	if err == nil && status != "success" {
		err = store.Errorf("CopyFailed", int(tr.Status()), "the status of the copy is %.40q", status)
	}
	return o, err
}

func (e *Engine) beginCopy(ctx context.Context, c *store.Copy, tr *store.Trace) (o store.Object, status string, err error) {
	q := e.begin(http.MethodPut, c.To.Bucket, c.To.Key)
	defer q.End()
	q.Header("x-ms-copy-source", e.url(c.From))
	if e.opts.StorageClass != "" {
		q.Header("x-ms-access-tier", e.opts.StorageClass)
	}
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return o, "", err
	}
	o = e.described(r, store.Ref{Bucket: c.To.Bucket, Key: c.To.Key}, tr)
	o.Size = 0 // the size is the answer's
	return o, r.Header("x-ms-copy-status"), nil
}

// url returns the URL of an object for the store itself to read.
func (h *host) url(ref store.Ref) string {
	q := h.begin(http.MethodGet, ref.Bucket, ref.Key)
	defer q.End()
	q.version(ref.VersionID)
	h.store.auth.sign(q)
	target, _ := q.Target()
	a := store.Address{Name: h.name}
	return a.URL(h.tls) + string(target)
}

// makesVersions reports whether the container is known to make versions.
func (s *Store) makesVersions(container string) bool {
	_, ok := s.versioned.Load(container)
	return ok
}

// noteVersion records that an upload returned a version.
func (s *Store) noteVersion(container, id string) {
	if _, known := s.versioned.Load(container); id != "" && !known {
		s.versioned.Store(container, true)
	}
}
