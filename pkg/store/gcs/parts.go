package gcs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
)

// An upload in parts consists of objects that are composed into one at its end: a first object that
// describes the upload, one object for each part, and intermediate compositions if there are many.
// All are outside the names that a benchmark lists. The multipart uploads of the XML API would do
// the same in the store, but they have no preconditions, so completing one could replace an object
// that has appeared meanwhile.
const uploadsPrefix = ".warp/uploads/"

// keyMetadata and the others describe the upload in the metadata of its first object.
const keyMetadata = "warp-upload-key"

// idLength is the number of hexadecimal digits in an upload's id.
const idLength = 24

func validID(id string) bool {
	if len(id) != idLength {
		return false
	}
	_, err := hex.DecodeString(id)
	return err == nil
}

func beginName(id string) string { return uploadsPrefix + id }

func partName(id string, n int) string { return fmt.Sprintf("%s%s/%05d", uploadsPrefix, id, n) }

// groupName returns the name of an intermediate composition.
func groupName(id string, level, n int) string {
	return fmt.Sprintf("%s%s/c%d-%05d", uploadsPrefix, id, level, n)
}

// isPieceName reports whether a name below an upload's is one of those above.
func isPieceName(name string) bool {
	if number, ok := strings.CutPrefix(name, "c"); ok {
		level, n, ok := strings.Cut(number, "-")
		return ok && len(level) == 1 && isDigits(level) && len(n) == 5 && isDigits(n)
	}
	return len(name) == 5 && isDigits(name)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// StartUpload writes the first object of an upload.
func (e *Engine) StartUpload(ctx context.Context, p store.Put, tr *store.Trace) (store.Upload, error) {
	switch {
	case !validKey(p.Key):
		return store.Upload{}, badName(p.Key)
	case !onlyMetadata(p.Headers) || len(p.Tags) > 0:
		return store.Upload{}, store.ErrUnsupported
	}
	var id [idLength / 2]byte
	_, _ = rand.Read(id[:])
	u := store.Upload{Ref: store.Ref{Bucket: p.Bucket, Key: p.Key}, ID: hex.EncodeToString(id[:])}
	d := e.describe(&p)
	d.Name, d.StorageClass = beginName(u.ID), ""
	d.Metadata = withKey(d.Metadata, p.Key)
	begin := store.Put{Ref: store.Ref{Bucket: p.Bucket, Key: d.Name}, Body: bytes.NewReader(nil), If: store.Condition{Absent: true}}
	_, err := e.sendDescribed(ctx, &begin, &d, tr)
	tr.WithoutPayload()
	if err != nil {
		return store.Upload{}, err
	}
	e.store.uploads.Store(u.ID, p)
	return u, nil
}

func withKey(metadata map[string]string, key string) map[string]string {
	if metadata == nil {
		metadata = make(map[string]string)
	}
	metadata[keyMetadata] = key
	return metadata
}

// PutPart uploads a part as an object.
func (e *Engine) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	part := store.Part{Number: p.Number, Size: p.Size}
	if !validID(p.ID) || p.Number < 1 || p.Number > store.MaxPart {
		return part, store.Errorf(store.CodeNoUpload, http.StatusNotFound, "there is no such upload")
	}
	put := store.Put{Ref: store.Ref{Bucket: p.Bucket, Key: partName(p.ID, p.Number)}, Body: p.Body, Size: p.Size}
	var o store.Object
	var err error
	if d := (description{Name: put.Key, ContentType: "application/octet-stream", StorageClass: e.opts.StorageClass}); e.described {
		if err = e.hash(&d, &put); err == nil {
			o, err = e.sendDescribed(ctx, &put, &d, tr)
		}
	} else {
		o, err = e.putMedia(ctx, &put, tr)
	}
	part.ETag = o.ETag
	return part, err
}

// maxSources is the max number of objects to compose with one request.
const maxSources = 32

// CompleteUpload composes the parts into the object, and removes them.
func (e *Engine) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	if !validID(u.ID) || len(parts) == 0 {
		return store.Object{}, store.Errorf(store.CodeNoUpload, http.StatusNotFound, "there is no such upload")
	}
	p, err := e.begun(ctx, u, tr)
	if err != nil {
		return store.Object{}, err
	}
	sources := make([]string, len(parts))
	for i, part := range parts {
		sources[i] = partName(u.ID, part.Number)
	}
	all := slices.Clone(sources)
	for level := 1; len(sources) > maxSources; level++ {
		var groups []string
		for group := range slices.Chunk(sources, maxSources) {
			name := groupName(u.ID, level, len(groups))
			if _, err := e.compose(ctx, u.Bucket, group, &description{Name: name, StorageClass: e.opts.StorageClass}, store.Condition{}, tr); err != nil {
				return store.Object{}, uploadError(err)
			}
			groups = append(groups, name)
		}
		all, sources = append(all, groups...), groups
	}
	d := e.describe(&p)
	delete(d.Metadata, keyMetadata)
	o, err := e.compose(ctx, u.Bucket, sources, &d, u.If, tr)
	if err != nil {
		return o, uploadError(err)
	}
	// If this fails, clean-up finds the rest as an incomplete upload.
	_ = e.removePieces(ctx, u, append(all, partName(u.ID, store.MaxPart)), tr)
	return o, nil
}

// uploadError returns the error for an upload whose parts are missing.
func uploadError(err error) error {
	if store.CodeOf(err) == store.CodeNoKey {
		return store.Errorf(store.CodeNoUpload, http.StatusNotFound, "a part of the upload is missing")
	}
	return err
}

// begun returns the Put that an upload started with, from this client's memory or from the first
// object.
func (e *Engine) begun(ctx context.Context, u store.Upload, tr *store.Trace) (store.Put, error) {
	if p, ok := e.store.uploads.Load(u.ID); ok {
		return p.(store.Put), nil
	}
	r, err := e.resource(ctx, store.Ref{Bucket: u.Bucket, Key: beginName(u.ID)}, "contentType,metadata", tr)
	if store.CodeOf(err) == store.CodeNoKey {
		return store.Put{}, store.Errorf(store.CodeNoUpload, http.StatusNotFound, "there is no such upload")
	}
	p := store.Put{Ref: u.Ref, ContentType: r.ContentType}
	for name, value := range r.Metadata {
		if name != keyMetadata {
			p.Headers = append(p.Headers, store.Header{Name: metadataHeader + name, Value: value})
		}
	}
	return p, err
}

// removePieces removes the objects of an upload, the first one last.
func (e *Engine) removePieces(ctx context.Context, u store.Upload, names []string, tr *store.Trace) error {
	refs := make([]store.Ref, len(names))
	for i, name := range names {
		refs[i] = store.Ref{Bucket: u.Bucket, Key: name}
	}
	if e.store.hasVersions(u.Bucket) {
		var err error
		if refs, err = e.pieceVersions(ctx, u, tr); err != nil {
			return err
		}
	}
	if err := e.lenient().Delete(ctx, refs, tr); err != nil {
		return err
	}
	e.store.uploads.Delete(u.ID)
	begin := store.Ref{Bucket: u.Bucket, Key: beginName(u.ID)}
	if !e.store.hasVersions(u.Bucket) {
		return e.lenient().deleteOne(ctx, &begin, store.Condition{}, tr)
	}
	return e.deleteVersions(ctx, &begin, tr)
}

// pieceVersions returns all versions of an upload's parts. It leaves out other names.
func (e *Engine) pieceVersions(ctx context.Context, u store.Upload, tr *store.Trace) (refs []store.Ref, err error) {
	prefix := beginName(u.ID) + "/"
	l := store.List{Bucket: u.Bucket, Prefix: prefix, Versions: e.store.hasVersions(u.Bucket)}
	err = e.List(ctx, l, func(o store.Object) bool {
		if name, ok := strings.CutPrefix(o.Key, prefix); ok && isPieceName(name) {
			refs = append(refs, o.Ref)
		}
		return true
	}, tr)
	return refs, err
}

// deleteVersions deletes all versions of an object.
func (e *Engine) deleteVersions(ctx context.Context, ref *store.Ref, tr *store.Trace) error {
	var refs []store.Ref
	err := e.List(ctx, store.List{Bucket: ref.Bucket, Prefix: ref.Key, Versions: true}, func(o store.Object) bool {
		if o.Key == ref.Key {
			refs = append(refs, o.Ref)
		}
		return true
	}, tr)
	if err != nil {
		return err
	}
	return e.lenient().Delete(ctx, refs, tr)
}

// AbortUpload removes the objects of an upload.
func (e *Engine) AbortUpload(ctx context.Context, u store.Upload, tr *store.Trace) error {
	if !validID(u.ID) {
		return store.Errorf(store.CodeNoUpload, http.StatusNotFound, "there is no such upload")
	}
	if _, ok := e.store.uploads.Load(u.ID); !ok {
		if _, err := e.begun(ctx, u, tr); err != nil {
			return err
		}
	}
	refs, err := e.pieceVersions(ctx, u, tr)
	if err != nil {
		return err
	}
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.Key
	}
	return e.removePieces(ctx, u, names, tr)
}

// A composition is the body of a compose request.
type composition struct {
	Destination description `json:"destination"`
	Sources     []source    `json:"sourceObjects"`
}

type source struct {
	Name string `json:"name"`
}

// compose makes one object from others, in order.
func (e *Engine) compose(ctx context.Context, bucket string, names []string, d *description, c store.Condition, tr *store.Trace) (store.Object, error) {
	q := e.begin(http.MethodPost, apiPath)
	defer q.End()
	key := d.Name
	q.object(bucket, key)
	q.Raw("/compose")
	q.condition(c)
	q.key("kmsKeyName", &e.opts)
	q.fields(summaryFields)
	body := composition{Destination: *d}
	body.Destination.Name, body.Destination.ContentType = "", cmp.Or(d.ContentType, "application/octet-stream")
	for _, name := range names {
		body.Sources = append(body.Sources, source{name})
	}
	q.JSON(body)
	r, err := e.send(ctx, q, key, tr)
	if err != nil {
		return store.Object{}, err
	}
	return readObject(r, store.Ref{Bucket: bucket, Key: key}, e.store.makesVersions(bucket), "")
}

// Uploads calls each for every incomplete upload of a name under prefix.
func (a *Admin) Uploads(ctx context.Context, bucket, prefix string, each func(store.Upload) error) error {
	l := store.List{Bucket: bucket, Prefix: uploadsPrefix, Flat: true}
	return a.list(ctx, &l, "items(name,metadata)", func(p *page) (bool, error) {
		for _, item := range p.Items {
			id := strings.TrimPrefix(item.Name, uploadsPrefix)
			key := item.Metadata[keyMetadata]
			if !validID(id) || key == "" || !strings.HasPrefix(key, prefix) {
				continue
			}
			if err := each(store.Upload{Ref: store.Ref{Bucket: bucket, Key: key}, ID: id}); err != nil {
				return false, err
			}
		}
		return true, nil
	}, store.NewTrace(time.Now()))
}

// Parts calls each for every part of an upload, until it returns false.
func (a *Admin) Parts(ctx context.Context, u store.Upload, each func(store.Part) bool) error {
	if _, err := a.begun(ctx, u, store.NewTrace(time.Now())); err != nil {
		return err
	}
	prefix := beginName(u.ID) + "/"
	return a.List(ctx, store.List{Bucket: u.Bucket, Prefix: prefix}, func(o store.Object) bool {
		name := strings.TrimPrefix(o.Key, prefix)
		n, err := strconv.Atoi(name)
		if err != nil || !isPieceName(name) {
			return true
		}
		return each(store.Part{Number: n, ETag: o.ETag, Size: o.Size})
	}, store.NewTrace(time.Now()))
}
