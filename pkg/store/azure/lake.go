package azure

import (
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

var (
	_ store.Engine      = (*Lake)(nil)
	_ store.Conditional = (*Lake)(nil)
)

// A Lake sends requests to the dfs endpoint of Data Lake Storage Gen2: a file is created, appended to and flushed.
type Lake struct{ host }

// Put creates a file, appends the payload, and flushes it. With an offset, it appends to the file
// instead.
func (e *Lake) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	text, appends, known := readHeaders(p.Headers)
	offset, err := int64(0), error(nil)
	if appends {
		offset, err = strconv.ParseInt(text, 10, 64)
	}
	switch {
	case !validKey(p.Key):
		return store.Object{}, badName(p.Key)
	case !known || err != nil, appends && p.If.Given():
		return store.Object{}, store.ErrUnsupported
	}
	o := store.Object{}
	if offset == 0 {
		if o, err = e.create(ctx, &p, tr); err != nil || p.Size == 0 {
			return o, err
		}
	}
	size := e.single()
	for off := int64(0); off < p.Size; off += size {
		n := min(size, p.Size-off)
		if err := e.appendBytes(ctx, &p, offset+off, io.NewSectionReader(p.Body, off, n), n, tr); err != nil {
			return o, err
		}
	}
	return e.flush(ctx, &p, offset+p.Size, tr)
}

// create makes an empty file, and replaces any existing one.
func (e *Lake) create(ctx context.Context, p *store.Put, tr *store.Trace) (store.Object, error) {
	q := e.begin(http.MethodPut, p.Bucket, p.Key)
	defer q.End()
	q.Param("resource", "file")
	q.condition(p.If)
	q.Header("x-ms-content-type", cmp.Or(p.ContentType, "application/octet-stream"))
	var properties []string
	e.eachMetadata(p, func(name, value string) { properties = append(properties, property(name, value)) })
	if len(properties) > 0 {
		q.Header("x-ms-properties", strings.Join(properties, ","))
	}
	return e.write(ctx, q, p, tr)
}

// property returns metadata in the form of the dfs endpoint.
func property(name, value string) string {
	return name + "=" + base64.StdEncoding.EncodeToString([]byte(value))
}

func (e *Lake) appendBytes(ctx context.Context, p *store.Put, position int64, body store.Body, size int64, tr *store.Trace) error {
	q := e.begin(http.MethodPatch, p.Bucket, p.Key)
	defer q.End()
	q.Param("action", "append")
	q.Param("position", strconv.FormatInt(position, 10))
	q.Upload(body, size)
	if err := e.hash(q, body, size); err != nil {
		return err
	}
	return e.do(ctx, q, tr)
}

// flush commits what was appended up to a position to the file.
func (e *Lake) flush(ctx context.Context, p *store.Put, position int64, tr *store.Trace) (store.Object, error) {
	q := e.begin(http.MethodPatch, p.Bucket, p.Key)
	defer q.End()
	q.Param("action", "flush")
	q.Param("position", strconv.FormatInt(position, 10))
	q.Header("x-ms-content-type", cmp.Or(p.ContentType, "application/octet-stream"))
	return e.write(ctx, q, p, tr)
}

// Delete deletes files one after the other, because the endpoint has no batches. It returns the
// first error.
func (e *Lake) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	var first error
	for i := range refs {
		if err := ignoreGone(e.deleteOnce(ctx, &store.Ref{Bucket: refs[i].Bucket, Key: refs[i].Key}, store.Condition{}, tr), e.ignoreMissing); err != nil && first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return first
}

// List lists the files in the directory of the prefix and below, and skips those without the
// prefix. A flat listing includes directories.
func (e *Lake) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if len(l.Headers) > 0 || l.Versions || l.Metadata {
		return store.ErrUnsupported
	}
	return e.eachPath(ctx, &l, tr, func(o store.Object) bool {
		return !strings.HasPrefix(o.Key, l.Prefix) || o.IsPrefix && !l.Flat || each(o)
	})
}

// eachPath calls each for every file and directory in the directory of a listing's prefix, until it
// returns false.
func (e *Lake) eachPath(ctx context.Context, l *store.List, tr *store.Trace, each func(store.Object) bool) error {
	return store.EachPage(func(at store.ListPlace) (end store.PageEnd, err error) {
		paths, next, err := e.paths(ctx, l, at.Token, tr)
		if store.CodeOf(err) == store.CodeNoKey { // the directory does not exist
			return end, nil
		}
		if err != nil {
			return end, err
		}
		for i := range paths {
			o, err := paths[i].object(l.Bucket, int(tr.Status()))
			if err != nil || !each(o) {
				return end, err
			}
		}
		return store.PageEnd{Found: len(paths), More: next != "", Next: store.ListPlace{Token: next}}, nil
	})
}

// A listedPath is a file or a directory in a listing. The endpoint sends numbers and booleans as
// strings.
type listedPath struct {
	Name      string `json:"name"`
	Directory string `json:"isDirectory"`
	Size      string `json:"contentLength"`
	ETag      string `json:"etag"`
	Modified  string `json:"lastModified"`
}

func (p *listedPath) object(container string, status int) (o store.Object, err error) {
	o = store.Object{Ref: store.Ref{Bucket: container, Key: p.Name}, ETag: strings.Trim(p.ETag, `"`), IsPrefix: p.Directory == "true"}
	if o.IsPrefix {
		o.Key += "/"
	}
	if o.LastModified, err = time.Parse(time.RFC1123, p.Modified); err != nil {
		return o, store.BadAnswer(status, "file %.60q was modified at %.40q", p.Name, p.Modified)
	}
	if p.Size == "" {
		p.Size = "0"
	}
	if o.Size, err = strconv.ParseInt(p.Size, 10, 64); err != nil || o.Size < 0 || p.Name == "" {
		return o, store.BadAnswer(status, "the size of file %.60q is %.40q", p.Name, p.Size)
	}
	return o, nil
}

// paths requests a page, and returns where the next one begins.
func (e *Lake) paths(ctx context.Context, l *store.List, continuation string, tr *store.Trace) (all []listedPath, next string, err error) {
	q := e.begin(http.MethodGet, l.Bucket, "")
	defer q.End()
	q.Param("resource", "filesystem")
	q.Param("recursive", strconv.FormatBool(!l.Flat))
	if slash := strings.LastIndexByte(l.Prefix, '/'); slash > 0 {
		q.Param("directory", l.Prefix[:slash])
	}
	if l.MaxKeys > 0 {
		q.Number("maxResults", l.MaxKeys)
	}
	if continuation != "" {
		q.Param("continuation", continuation)
	}
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Paths []listedPath `json:"paths"`
	}
	if err := r.DecodeJSON("a listing", &page); err != nil {
		return nil, "", err
	}
	return page.Paths, r.Header("x-ms-continuation"), nil
}

// A LakeAdmin does the bookkeeping at the dfs endpoint.
type LakeAdmin struct{ *Lake }

var (
	_ store.Admin          = (*LakeAdmin)(nil)
	_ store.FolderRemover  = (*LakeAdmin)(nil)
	_ store.UnsortedLister = (*LakeAdmin)(nil)
)

// ListsUnsorted marks that the dfs endpoint does not list in the order of names.
func (a *LakeAdmin) ListsUnsorted() {}

// fileSystem sends a request about a file system, and calls look with the answer unless look is
// nil.
func (a *LakeAdmin) fileSystem(ctx context.Context, method, name string, edit func(request), look func(*httpclient.Reply)) error {
	q := a.begin(method, name, "")
	defer q.End()
	q.Param("resource", "filesystem")
	if edit != nil {
		edit(q)
	}
	r, err := a.send(ctx, q, store.NewTrace(time.Now()))
	if err != nil {
		return err
	}
	if look != nil {
		look(r)
	}
	return nil
}

// BucketExists requests the file system's properties or, since not every shared access signature
// allows that, a listing.
func (a *LakeAdmin) BucketExists(ctx context.Context, name string) (bool, error) {
	var origin error
	err := a.fileSystem(ctx, http.MethodHead, name, nil, func(r *httpclient.Reply) { origin = checkOrigin(r) })
	err = cmp.Or(err, origin)
	if store.CodeOf(err) == store.CodeDenied && a.store.auth.sas != "" {
		_, _, err = a.paths(ctx, &store.List{Bucket: name, MaxKeys: 1}, "", store.NewTrace(time.Now()))
	}
	return exists(err)
}

// MakeBucket creates a file system.
func (a *LakeAdmin) MakeBucket(ctx context.Context, name string) error {
	return a.fileSystem(ctx, http.MethodPut, name, func(q request) { q.Header("x-ms-properties", property(ownMetadata, ownValue)) }, nil)
}

// MadeByWarp reports whether the file system has warp's mark.
func (a *LakeAdmin) MadeByWarp(ctx context.Context, name string) (made bool) {
	_ = a.fileSystem(ctx, http.MethodHead, name, nil, func(r *httpclient.Reply) {
		made = slices.Contains(strings.Split(r.Header("x-ms-properties"), ","), property(ownMetadata, ownValue))
	})
	return made
}

// Headers returns the properties of a file as S3 headers.
func (a *LakeAdmin) Headers(ctx context.Context, ref store.Ref, _ bool) (http.Header, error) {
	h := http.Header{}
	_, err := a.properties(ctx, ref, store.NewTrace(time.Now()), func(r *httpclient.Reply) {
		h.Set("Content-Type", r.ContentType())
		for pair := range strings.SplitSeq(r.Header("x-ms-properties"), ",") {
			name, text, _ := strings.Cut(pair, "=")
			if value, err := base64.StdEncoding.DecodeString(text); err == nil && name != "" {
				setMetadata(h, strings.TrimSpace(name), string(value))
			}
		}
	})
	return h, err
}

// RemoveFolders removes the directory of prefix and the directories below it, unless they contain
// files.
func (a *LakeAdmin) RemoveFolders(ctx context.Context, bucket, prefix string) error {
	folders := []string{strings.TrimSuffix(prefix, "/")}
	err := a.eachPath(ctx, &store.List{Bucket: bucket, Prefix: prefix}, store.NewTrace(time.Now()), func(o store.Object) bool {
		if o.IsPrefix {
			folders = append(folders, strings.TrimSuffix(o.Key, "/"))
		}
		return true
	})
	if err != nil {
		return err
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the deepest first
	for _, folder := range folders {
		q := a.begin(http.MethodDelete, bucket, folder)
		q.Param("recursive", "false")
		err := ignoreGone(a.do(ctx, q, store.NewTrace(time.Now())), true)
		q.End()
		if err != nil && store.CodeOf(err) != "DirectoryNotEmpty" {
			return err
		}
	}
	return nil
}
