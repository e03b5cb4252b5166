package gcs

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/rest"
)

var _ store.Engine = (*Engine)(nil)

// A work is a request being built. Its memory is reused.
type work struct {
	call   lean.Call
	target []byte
	onHead func(*rest.Reply)
}

var works = sync.Pool{New: func() any { return &work{target: make([]byte, 0, 512)} }}

// begin returns a request of the method whose target begins with path.
func (e *Engine) begin(method, path string) *work {
	w := works.Get().(*work)
	w.call = lean.Call{Method: method}
	w.target = append(append(w.target[:0], e.path...), path...)
	return w
}

func (w *work) end() {
	w.call, w.onHead = lean.Call{}, nil
	works.Put(w)
}

// object appends the path of a bucket's objects, or of one object.
func (w *work) object(bucket, key string) {
	w.target = append(lean.AppendEscaped(append(w.target, "/b/"...), bucket), "/o"...)
	if key != "" {
		w.target = lean.AppendEscaped(append(w.target, '/'), key)
	}
}

// param appends a parameter, after a question mark if it is the first.
func (w *work) param(name, value string) {
	separator := byte('&')
	if bytes.IndexByte(w.target, '?') < 0 {
		separator = '?'
	}
	w.target = append(append(append(w.target, separator), name...), '=')
	w.target = lean.AppendEscaped(w.target, value)
}

// fields limits the answer to some fields, without spaces between them.
func (w *work) fields(names string) {
	w.param("fields", names)
	w.target = append(w.target, "&prettyPrint=false"...)
}

// key makes the store encrypt the new object with a key of its key service.
func (w *work) key(param string, o *store.Options) {
	if o.Encryption.KeyID != "" {
		w.param(param, o.Encryption.KeyID)
	}
}

func (w *work) generation(version string) {
	if version != "" {
		w.param("generation", version)
	}
}

// Paths of the API.
const (
	apiPath    = "/storage/v1"
	uploadPath = "/upload/storage/v1"
)

// send sends a request about the object of that key, if it has one. Any answer but a success is an
// error.
func (e *Engine) send(ctx context.Context, w *work, key string, tr *store.Trace) (rest.Reply, error) {
	r, err := e.exchange(ctx, w, tr)
	if err != nil {
		return r, err
	}
	if r.Status/100 == 3 {
		err := redirected(&r)
		r.Release()
		return r, err
	}
	if r.Status/100 != 2 {
		err := refusal(r.Status, r.Document(), key)
		r.Release()
		return r, err
	}
	return r, nil
}

// exchange sends a request and receives the answer, whatever its status.
func (e *Engine) exchange(ctx context.Context, w *work, tr *store.Trace) (rest.Reply, error) {
	if err := e.store.tokens.Ready(ctx); err != nil {
		return rest.Reply{}, err
	}
	w.call.Target = w.target
	r, err := e.caller.Do(ctx, &w.call, w.onHead, tr)
	if err == nil && r.Status == http.StatusUnauthorized {
		e.store.tokens.Refused()
	}
	return r, err
}

// validKey reports whether the store accepts a name.
func validKey(key string) bool { return key != "" && len(key) <= 1024 && key != "." && key != ".." }

func badName(key string) error {
	return store.Errorf("RequestFailed", 0, "%.60q is no name of an object", key)
}

// Get downloads an object or a range of it. The store has no parts, so a part is a range.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	switch {
	case len(g.Headers) > 0, g.Part > 0 && g.Length == 0:
		return store.Download{}, store.ErrUnsupported
	case !validKey(g.Key):
		return store.Download{}, badName(g.Key)
	}
	w := e.begin(http.MethodGet, apiPath)
	defer w.end()
	w.object(g.Bucket, g.Key)
	w.target = append(w.target, "?alt=media"...)
	w.generation(g.VersionID)
	c := &w.call
	c.Download, c.Into, c.Offset, c.Length, c.Headers = true, g.Into, g.Offset, g.Length, storedEncoding
	if g.Checksum != nil {
		w.onHead = func(r *rest.Reply) { g.Checksum(storedChecksum(r)) }
	}
	r, err := e.send(ctx, w, g.Key, tr)
	if err != nil {
		return store.Download{Bytes: r.Bytes}, err
	}
	defer r.Release()
	d := store.Download{Bytes: r.Bytes, Object: store.Object{Ref: g.Ref, Size: r.Length(), LastModified: r.LastModified(), ETag: etagOfReply(&r, tr)}}
	if d.VersionID == "" && e.store.makesVersions(g.Bucket) {
		d.VersionID = r.Header("x-goog-generation")
	}
	return d, nil
}

// storedEncoding requests the object as it is stored. The store would decompress a compressed one.
var storedEncoding = []store.Header{{Name: "accept-encoding", Value: "gzip"}}

// etagOfReply returns the ETag for the hashes in an answer's head.
func etagOfReply(r *rest.Reply, tr *store.Trace) string {
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
func eachHash(r *rest.Reply, do func(hash []byte)) {
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
func storedChecksum(r *rest.Reply) (sum store.StoredChecksum) {
	eachHash(r, func(hash []byte) {
		if crc, ok := bytes.CutPrefix(hash, []byte("crc32c=")); ok {
			sum = store.StoredChecksum{Algorithm: "CRC32C", Value: string(crc)}
		}
	})
	return sum
}

// Stat returns an object's metadata.
func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	r, err := e.describedObject(ctx, &ref, summaryFields, tr)
	if err != nil {
		return store.Object{}, err
	}
	defer r.Release()
	return readObject(&r, ref, ref.VersionID != "" || e.store.makesVersions(ref.Bucket), tr.ExpectedETag())
}

// describedObject requests some fields of an object's metadata.
func (e *Engine) describedObject(ctx context.Context, ref *store.Ref, fields string, tr *store.Trace) (r rest.Reply, err error) {
	if !validKey(ref.Key) {
		return r, badName(ref.Key)
	}
	w := e.begin(http.MethodGet, apiPath)
	defer w.end()
	w.object(ref.Bucket, ref.Key)
	w.fields(fields)
	w.generation(ref.VersionID)
	if r, err = e.send(ctx, w, ref.Key, tr); err == nil {
		tr.Complete()
	}
	return r, err
}

// resource requests the fields of an object's metadata that only bookkeeping needs.
func (e *Engine) resource(ctx context.Context, ref store.Ref, fields string, tr *store.Trace) (o resource, err error) {
	r, err := e.describedObject(ctx, &ref, fields, tr)
	if err != nil {
		return o, err
	}
	defer r.Release()
	return o, decode(&r, "an object", &o)
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
			return store.Object{}, store.BadAnswer(int(tr.Status()), "the copy is not complete, and the store does not say how it goes on")
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
	w := e.begin(http.MethodPost, apiPath)
	defer w.end()
	w.object(c.From.Bucket, c.From.Key)
	w.target = append(w.target, "/rewriteTo"...)
	w.object(c.To.Bucket, c.To.Key)
	if c.From.VersionID != "" {
		w.param("sourceGeneration", c.From.VersionID)
	}
	if token != "" {
		w.param("rewriteToken", token)
	}
	w.key("destinationKmsKeyName", &e.opts)
	w.fields("done,rewriteToken,resource(" + objectFields + ")")
	if e.opts.StorageClass != "" {
		w.json(map[string]string{"storageClass": e.opts.StorageClass})
	}
	r, err := e.send(ctx, w, c.From.Key, tr)
	if err != nil {
		return answer, err
	}
	defer r.Release()
	tr.Complete()
	return answer, decode(&r, "a copy", &answer)
}

// json makes v the body of the request.
func (w *work) json(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("gcs: a document of strings cannot be made: " + err.Error())
	}
	w.body("application/json", data)
}

func (w *work) body(contentType string, data []byte) {
	w.call.ContentType, w.call.Body, w.call.Size = contentType, bytes.NewReader(data), int64(len(data))
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
}

// list calls each for page after page, until it returns false.
func (e *Engine) list(ctx context.Context, l *store.List, fields string, each func(*page) (bool, error), tr *store.Trace) error {
	var track store.ListTrack
	for {
		p, err := e.page(ctx, l, fields, track.Place.Token, tr)
		if err != nil {
			return err
		}
		if track.Empty++; len(p.Items)+len(p.Prefixes) > 0 {
			track.Empty = 0
		}
		if goesOn, err := each(&p); err != nil || !goesOn || p.Next == "" {
			return err
		}
		if err := track.Advance(store.ListPlace{Token: p.Next}, int(tr.Status())); err != nil {
			return err
		}
	}
}

func (e *Engine) page(ctx context.Context, l *store.List, fields, token string, tr *store.Trace) (p page, err error) {
	w := e.begin(http.MethodGet, apiPath)
	defer w.end()
	w.object(l.Bucket, "")
	w.fields(fields + ",prefixes,nextPageToken")
	if l.Prefix != "" {
		w.param("prefix", l.Prefix)
	}
	if l.Flat {
		w.param("delimiter", "/")
	}
	if l.Versions {
		w.param("versions", "true")
	}
	if l.MaxKeys > 0 {
		w.param("maxResults", strconv.Itoa(l.MaxKeys))
	}
	if token != "" {
		w.param("pageToken", token)
	}
	r, err := e.send(ctx, w, "", tr)
	if err != nil {
		return p, err
	}
	defer r.Release()
	tr.Complete()
	return p, decode(&r, "a listing", &p)
}

// CopyPart is unsupported, because the store copies only whole objects.
func (e *Engine) CopyPart(context.Context, store.CopyPart, *store.Trace) (store.Part, error) {
	return store.Part{}, store.ErrUnsupported
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
