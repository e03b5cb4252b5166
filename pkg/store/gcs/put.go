package gcs

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Put uploads in one request or, if the object is large, resumably.
func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	switch {
	case !validKey(p.Key):
		return store.Object{}, badName(p.Key)
	case !onlyMetadata(p.Headers):
		return store.Object{}, store.ErrUnsupported
	case p.Size > e.chunk && !e.opts.DisableMultipart && !p.Whole:
		return e.putResumable(ctx, &p, tr)
	case e.described || len(p.Headers) > 0:
		return e.putDescribed(ctx, &p, tr)
	}
	return e.putMedia(ctx, &p, tr)
}

const metadataHeader = "x-amz-meta-"

// onlyMetadata reports whether all headers are user metadata, the only ones that the store has in
// its own form.
func onlyMetadata(headers []store.Header) bool {
	for _, h := range headers {
		if !strings.HasPrefix(h.Name, metadataHeader) {
			return false
		}
	}
	return true
}

// insert begins an upload of the given type.
func (e *Engine) insert(p *store.Put, kind string) request {
	q := e.begin(http.MethodPost, uploadPath)
	q.object(p.Bucket, "")
	q.Param("uploadType", kind)
	q.Param("name", p.Key)
	q.condition(p.If)
	q.key("kmsKeyName", &e.opts)
	q.fields(summaryFields)
	q.Payload, q.Idempotent = true, !p.If.Given()
	return q
}

// putMedia sends the payload alone.
func (e *Engine) putMedia(ctx context.Context, p *store.Put, tr *store.Trace) (store.Object, error) {
	q := e.insert(p, "media")
	defer q.End()
	q.ContentType = cmp.Or(p.ContentType, "application/octet-stream")
	q.Body, q.Size = p.Body, p.Size
	return e.put(ctx, q, p, tr)
}

// put sends an upload and reads the answer.
func (e *Engine) put(ctx context.Context, q request, p *store.Put, tr *store.Trace) (store.Object, error) {
	r, err := e.send(ctx, q, p.Key, tr)
	if err != nil {
		if store.CodeOf(err) == store.CodeNoKey { // it does not exist yet
			err.(*store.Error).Code = store.CodeNoBucket
		}
		return store.Object{}, err
	}
	return e.uploaded(r, p, tr)
}

// uploaded returns the object that the answer to an upload describes.
func (e *Engine) uploaded(r *httpclient.Reply, p *store.Put, tr *store.Trace) (store.Object, error) {
	o, err := readObject(r, store.Ref{Bucket: p.Bucket, Key: p.Key}, e.store.makesVersions(p.Bucket), tr.ExpectedETag())
	if err == nil && o.Size != p.Size {
		err = store.Errorf(store.CodeWrongLength, r.Status, "the store has %d of %d bytes", o.Size, p.Size)
	}
	return o, err
}

// A description is the resource that an upload sends.
type description struct {
	Name         string            `json:"name,omitempty"`
	ContentType  string            `json:"contentType,omitempty"`
	StorageClass string            `json:"storageClass,omitempty"`
	MD5          string            `json:"md5Hash,omitempty"`
	CRC32C       string            `json:"crc32c,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// describe returns the resource of an upload without hashes.
func (e *Engine) describe(p *store.Put) description {
	d := description{Name: p.Key, ContentType: cmp.Or(p.ContentType, "application/octet-stream"), StorageClass: e.opts.StorageClass}
	if len(e.opts.Metadata)+len(p.Headers) > 0 {
		d.Metadata = make(map[string]string)
	}
	for i := range e.opts.Metadata {
		a := &e.opts.Metadata[i]
		d.Metadata[strings.ToLower(a.Key)] = string(a.AppendValue(nil, p.Key))
	}
	for _, h := range p.Headers {
		d.Metadata[strings.TrimPrefix(h.Name, metadataHeader)] = h.Value
	}
	return d
}

// hash adds the hashes that the options ask for. It reads the payload once for them.
func (e *Engine) hash(d *description, p *store.Put) error {
	if e.opts.MD5 {
		sum, err := hashOf(md5.New(), p)
		if err != nil {
			return err
		}
		d.MD5 = sum
	}
	if e.opts.Checksum != store.NoChecksum { // the only one
		sum, err := hashOf(crc32.New(crc32.MakeTable(crc32.Castagnoli)), p)
		if err != nil {
			return err
		}
		d.CRC32C = sum
	}
	return nil
}

func hashOf(h hash.Hash, p *store.Put) (string, error) {
	if _, err := io.Copy(h, io.NewSectionReader(p.Body, 0, p.Size)); err != nil {
		return "", store.AsError(err, 0)
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// boundary separates the two parts of an upload. It is long enough for no payload to contain it by chance.
const boundary = "warp-5c8f4a1de0b74e2f9f0f3a6f2f1d7c55"

// putDescribed sends the payload after a description.
func (e *Engine) putDescribed(ctx context.Context, p *store.Put, tr *store.Trace) (store.Object, error) {
	d := e.describe(p)
	if err := e.hash(&d, p); err != nil {
		return store.Object{}, err
	}
	return e.sendDescribed(ctx, p, &d, tr)
}

func (e *Engine) sendDescribed(ctx context.Context, p *store.Put, d *description, tr *store.Trace) (store.Object, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return store.Object{}, store.AsError(err, 0)
	}
	q := e.insert(p, "multipart")
	defer q.End()
	head := "--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + string(text) +
		"\r\n--" + boundary + "\r\nContent-Type: " + d.ContentType + "\r\n\r\n"
	body := &framed{pieces: []io.ReaderAt{strings.NewReader(head), p.Body, strings.NewReader("\r\n--" + boundary + "--\r\n")},
		sizes: []int64{int64(len(head)), p.Size, int64(len(boundary) + 8)}}
	q.ContentType = "multipart/related; boundary=" + boundary
	q.Body, q.Size = io.NewSectionReader(body, 0, body.size()), body.size()
	return e.put(ctx, q, p, tr)
}

// A framed is the content of a body made of several parts.
type framed struct {
	pieces []io.ReaderAt
	sizes  []int64
}

func (f *framed) size() (n int64) {
	for _, s := range f.sizes {
		n += s
	}
	return n
}

// ReadAt fills p from as many pieces as necessary.
func (f *framed) ReadAt(p []byte, off int64) (n int, err error) {
	for i, piece := range f.pieces {
		if off >= f.sizes[i] {
			off -= f.sizes[i]
			continue
		}
		want := int(min(int64(len(p)-n), f.sizes[i]-off))
		k, err := piece.ReadAt(p[n:n+want], off)
		if n += k; k < want {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
		if n == len(p) {
			return n, nil
		}
		off = 0
	}
	return n, io.EOF
}

// putResumable uploads in chunks, one after the other. An abandoned session leaves nothing that a
// listing shows.
func (e *Engine) putResumable(ctx context.Context, p *store.Put, tr *store.Trace) (store.Object, error) {
	d := e.describe(p)
	if err := e.hash(&d, p); err != nil {
		return store.Object{}, err
	}
	session, err := e.beginSession(ctx, p, &d, tr)
	if err != nil {
		return store.Object{}, err
	}
	const maxStill = 5 // consecutive answers without progress
	for off, still := int64(0), 0; ; {
		o, arrived, err := e.sendChunk(ctx, p, session, off, tr)
		switch {
		case err != nil || arrived < 0:
			return o, err
		case arrived > off+e.chunk:
			return o, store.BadAnswer(int(tr.Status()), "the store has %d bytes of an upload of which %d were sent", arrived, off+e.chunk)
		case arrived <= off:
			if still++; still == maxStill {
				return o, store.Errorf(store.CodeStallTimeout, int(tr.Status()), "the store has accepted nothing of the last %d chunks", still)
			}
		default:
			still = 0
		}
		off = arrived
	}
}

// beginSession returns the target of the session of an upload.
func (e *Engine) beginSession(ctx context.Context, p *store.Put, d *description, tr *store.Trace) (string, error) {
	q := e.insert(p, "resumable")
	defer q.End()
	q.Payload, q.Idempotent = false, false
	q.JSON(d)
	q.ContentType = "application/json; charset=UTF-8"
	q.Header("x-upload-content-type", d.ContentType)
	q.Header("x-upload-content-length", strconv.FormatInt(p.Size, 10))
	r, err := e.send(ctx, q, p.Key, tr)
	if err != nil {
		return "", err
	}
	// The host stays the same, because no other host may get the token.
	u, err := url.Parse(r.Location())
	if err != nil || u.RequestURI() == "/" || r.Location() == "" {
		return "", store.BadAnswer(r.Status, "the store started an upload, but does not say where to continue: %.60q", r.Location())
	}
	return u.RequestURI(), nil
}

// statusResume means that the store waits for more of an upload.
const statusResume = http.StatusPermanentRedirect

// sendChunk sends the chunk at off. It returns how many bytes the store has, or -1 if the object is
// complete.
func (e *Engine) sendChunk(ctx context.Context, p *store.Put, session string, off int64, tr *store.Trace) (o store.Object, arrived int64, err error) {
	n := min(e.chunk, p.Size-off)
	q := e.begin(http.MethodPut, strings.TrimPrefix(session, e.path))
	defer q.End()
	span := "bytes " + strconv.FormatInt(off, 10) + "-" + strconv.FormatInt(off+n-1, 10) + "/" + strconv.FormatInt(p.Size, 10)
	q.Header("content-range", span)
	q.Upload(io.NewSectionReader(p.Body, off, n), n)
	r, err := e.client.Do(ctx, q.Request, tr)
	if err != nil {
		return o, 0, err
	}
	switch {
	case r.Status == statusResume:
		arrived, err = arrivedBytes(r)
		return o, arrived, err
	case r.Status/100 != 2:
		return o, 0, refusal(r.Status, r.Document(), p.Key)
	}
	o, err = e.uploaded(r, p, tr)
	return o, -1, err
}

// arrivedBytes parses the Range header (bytes=0-N) of an answer that waits for more. Without it,
// nothing has arrived.
func arrivedBytes(r *httpclient.Reply) (int64, error) {
	text := r.Range()
	if text == "" {
		return 0, nil
	}
	_, last, ok := strings.Cut(text, "-")
	n, err := strconv.ParseInt(last, 10, 64)
	if !ok || err != nil || n < 0 {
		return 0, store.BadAnswer(r.Status, "the store says that %.60q has arrived", text)
	}
	return n + 1, nil
}
