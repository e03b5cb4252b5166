package gcs

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"unsafe"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

var (
	_ store.Engine      = (*Engine)(nil)
	_ store.Multipart   = (*Engine)(nil)
	_ store.Copier      = (*Engine)(nil)
	_ store.Conditional = (*Engine)(nil)
)

// A request is a request of the JSON API.
type request struct{ *httpclient.Request }

// begin returns a request of the method whose target begins with path. End has to follow.
func (e *Engine) begin(method, path string) request {
	q := request{httpclient.NewRequest(method, e.path)}
	q.Raw(path)
	return q
}

// object appends the path of a bucket's objects, or of one object.
func (q request) object(bucket, key string) {
	q.Raw("/b")
	q.Segment(bucket)
	q.Raw("/o")
	if key != "" {
		q.Segment(key)
	}
}

// fields limits the answer to some fields, without spaces between them.
func (q request) fields(names string) {
	q.Param("fields", names)
	q.Query("prettyPrint=false")
}

// key makes the store encrypt the new object with a key of its key service.
func (q request) key(param string, o *store.Options) {
	if o.Encryption.KeyID != "" {
		q.Param(param, o.Encryption.KeyID)
	}
}

func (q request) generation(version string) {
	if version != "" {
		q.Param("generation", version)
	}
}

// Paths of the API.
const (
	apiPath    = "/storage/v1"
	uploadPath = "/upload/storage/v1"
)

// send sends a request about the object of that key, if it has one. Any answer but a success is an
// error.
func (e *Engine) send(ctx context.Context, q request, key string, tr *store.Trace) (*httpclient.Reply, error) {
	r, err := e.client.Do(ctx, q.Request, tr)
	if err == nil {
		err = checkStatus(r, key)
	}
	return r, err
}

// checkStatus returns an error unless an answer is a success.
func checkStatus(r *httpclient.Reply, key string) error {
	switch r.Status / 100 {
	case 2:
		return nil
	case 3:
		return redirected(r)
	}
	return refusal(r.Status, r.Document(), key)
}

// validKey reports whether the store accepts a name.
func validKey(key string) bool { return key != "" && len(key) <= 1024 && key != "." && key != ".." }

func badName(key string) error {
	return store.Errorf("RequestFailed", 0, "%.60q is not a valid object name", key)
}

// Get downloads an object or a range of it. The store has no parts, so a part is a range.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	switch {
	case len(g.Headers) > 0, g.Part > 0 && g.Length == 0, g.If.Absent:
		return store.Download{}, store.ErrUnsupported
	case !validKey(g.Key):
		return store.Download{}, badName(g.Key)
	}
	q := e.begin(http.MethodGet, apiPath)
	defer q.End()
	q.object(g.Bucket, g.Key)
	q.Query("alt=media")
	q.generation(g.VersionID)
	q.condition(g.If)
	q.Header("accept-encoding", "gzip") // as it is stored; the store would decompress a compressed object
	q.Offset, q.Length = g.Offset, g.Length
	r, err := e.client.Open(ctx, q.Request, tr)
	if err == nil {
		err = checkStatus(r, g.Key)
	}
	if err != nil {
		return store.Download{}, err
	}
	if g.Checksum != nil {
		g.Checksum(storedChecksum(r))
	}
	d := store.Download{Object: store.Object{Ref: g.Ref, Size: r.Length(), LastModified: r.LastModified(), ETag: etagOfReply(r, tr)}}
	r.EachHeader("x-goog-generation", func(value []byte) bool {
		d.Generation, _ = strconv.ParseInt(string(value), 10, 64)
		return false
	})
	if d.VersionID == "" && e.store.makesVersions(g.Bucket) {
		d.VersionID = r.Header("x-goog-generation")
	}
	d.Bytes, err = r.Receive(ctx, g.Into, tr)
	return d, err
}

// etagOfReply returns the ETag for the hashes in an answer's head.
func etagOfReply(r *httpclient.Reply, tr *store.Trace) string {
	var md5, crc []byte
	eachHash(r, func(hash []byte) {
		if sum, ok := bytes.CutPrefix(hash, []byte("md5=")); ok {
			md5 = sum
		} else if sum, ok := bytes.CutPrefix(hash, []byte("crc32c=")); ok {
			crc = sum
		}
	})
	return etagOfHashes(md5, crc, tr.ExpectedETag())
}

// eachHash calls do for each hash of the content in the answer, such as crc32c=n03x6A==.
func eachHash(r *httpclient.Reply, do func(hash []byte)) {
	r.EachHeader("x-goog-hash", func(line []byte) bool {
		for more := true; more; {
			var hash []byte
			hash, line, more = bytes.Cut(line, []byte(","))
			do(bytes.TrimSpace(hash))
		}
		return true
	})
}

// storedChecksum returns the checksum of the content in an answer's head.
func storedChecksum(r *httpclient.Reply) (sum store.StoredChecksum) {
	eachHash(r, func(hash []byte) {
		if crc, ok := bytes.CutPrefix(hash, []byte("crc32c=")); ok {
			sum = store.StoredChecksum{Algorithm: "CRC32C", Value: string(crc)}
		}
	})
	return sum
}

// Stat returns an object's metadata.
func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	q, err := e.description(&ref, summaryFields)
	if err != nil {
		return store.Object{}, err
	}
	defer q.End()
	r, err := e.send(ctx, q, ref.Key, tr)
	if err != nil {
		return store.Object{}, err
	}
	return readObject(r, ref, ref.VersionID != "" || e.store.makesVersions(ref.Bucket), tr.ExpectedETag())
}

// description returns a request for some fields of an object's metadata.
func (e *Engine) description(ref *store.Ref, fields string) (q request, err error) {
	if !validKey(ref.Key) {
		return q, badName(ref.Key)
	}
	q = e.begin(http.MethodGet, apiPath)
	q.object(ref.Bucket, ref.Key)
	q.fields(fields)
	q.generation(ref.VersionID)
	return q, nil
}

// resource requests the fields of an object's metadata that only bookkeeping needs.
func (e *Engine) resource(ctx context.Context, ref store.Ref, fields string, tr *store.Trace) (o resource, err error) {
	q, err := e.description(&ref, fields)
	if err != nil {
		return o, err
	}
	defer q.End()
	r, err := e.send(ctx, q, ref.Key, tr)
	if err != nil {
		return o, err
	}
	err = r.DecodeJSON("an object", &o)
	return o, err
}

// Copy makes the store copy an object, with as many requests as that takes.
func (e *Engine) Copy(ctx context.Context, c store.Copy, tr *store.Trace) (store.Object, error) {
	if len(c.Headers) > 0 {
		return store.Object{}, store.ErrUnsupported
	}
	for token := ""; ; {
		answer, err := e.rewrite(ctx, &c, token, tr)
		if err != nil {
			return store.Object{}, err
		}
		switch {
		case answer.Done:
			return answer.Resource.object(c.To.Bucket, e.store.makesVersions(c.To.Bucket), int(tr.Status()))
		case answer.Token == "" || answer.Token == token:
			return store.Object{}, store.BadAnswer(int(tr.Status()), "the copy is not complete, and the store does not say how to continue")
		}
		token = answer.Token
	}
}

type rewritten struct {
	Done     bool     `json:"done"`
	Token    string   `json:"rewriteToken"`
	Resource resource `json:"resource"`
}

func (e *Engine) rewrite(ctx context.Context, c *store.Copy, token string, tr *store.Trace) (answer rewritten, err error) {
	q := e.begin(http.MethodPost, apiPath)
	defer q.End()
	q.object(c.From.Bucket, c.From.Key)
	q.Raw("/rewriteTo")
	q.object(c.To.Bucket, c.To.Key)
	if c.From.VersionID != "" {
		q.Param("sourceGeneration", c.From.VersionID)
	}
	if token != "" {
		q.Param("rewriteToken", token)
	}
	q.key("destinationKmsKeyName", &e.opts)
	q.fields("done,rewriteToken,resource(" + objectFields + ")")
	if e.opts.StorageClass != "" {
		q.JSON(map[string]string{"storageClass": e.opts.StorageClass})
	}
	r, err := e.send(ctx, q, c.From.Key, tr)
	if err != nil {
		return answer, err
	}
	err = r.DecodeJSON("a copy", &answer)
	return answer, err
}

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	return e.list(ctx, &l, "items("+objectFields+")", func(p *page) (bool, error) {
		for i := range p.Items {
			o, err := p.Items[i].object(l.Bucket, l.Versions, int(tr.Status()))
			if err != nil {
				return false, err
			}
			if !each(o) {
				return false, nil
			}
		}
		for _, prefix := range p.Prefixes {
			if !each(store.Object{Ref: store.Ref{Bucket: l.Bucket, Key: prefix}, IsPrefix: true}) {
				return false, nil
			}
		}
		return true, nil
	}, tr)
}

// A page is one page of a listing.
type page struct {
	Items    []resource `json:"items"`
	Prefixes []string   `json:"prefixes"`
	Next     string     `json:"nextPageToken"`

	memory store.Document // to be freed after use
}

// list calls each for page after page, until it returns false.
func (e *Engine) list(ctx context.Context, l *store.List, fields string, each func(*page) (bool, error), tr *store.Trace) error {
	return store.EachPage(func(at store.ListPlace) (end store.PageEnd, err error) {
		p, err := e.page(ctx, l, fields, at.Token, tr)
		if err != nil {
			return end, err
		}
		defer p.memory.Free()
		goesOn, err := each(&p)
		return store.PageEnd{Found: len(p.Items) + len(p.Prefixes), More: goesOn && p.Next != "", Next: store.ListPlace{Token: p.Next}}, err
	})
}

// page requests one page. The caller frees its memory.
func (e *Engine) page(ctx context.Context, l *store.List, fields, token string, tr *store.Trace) (p page, err error) {
	q := e.begin(http.MethodGet, apiPath)
	defer q.End()
	q.object(l.Bucket, "")
	q.fields(fields + ",prefixes,nextPageToken")
	if l.Prefix != "" {
		q.Param("prefix", l.Prefix)
	}
	if l.Flat {
		q.Param("delimiter", "/")
	}
	if l.Versions {
		q.Param("versions", "true")
	}
	if l.MaxKeys > 0 {
		q.Number("maxResults", l.MaxKeys)
	}
	if token != "" {
		q.Param("pageToken", token)
	}
	r, err := e.send(ctx, q, "", tr)
	if err != nil {
		return p, err
	}
	if err = r.CountJSON(unsafe.Sizeof(resource{})); err == nil {
		err = r.DecodeJSON("a listing", &p)
	}
	if err == nil {
		p.memory = r.Memory().Move()
	}
	return p, err
}

// makesVersions reports whether the bucket is known to make versions, so that results name them.
// Every object has a generation, but in other buckets the old ones are gone.
func (s *Store) makesVersions(bucket string) bool {
	made, ok := s.versioned.Load(bucket)
	return ok && made.(bool)
}

// hasVersions reports whether the bucket is known to have versions, even if it no longer makes
// them.
func (s *Store) hasVersions(bucket string) bool {
	_, ok := s.versioned.Load(bucket)
	return ok
}
