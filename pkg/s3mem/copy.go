package s3mem

import (
	"crypto/md5"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// respondCopied answers with the document of that name about a copy.
func respondCopied(w http.ResponseWriter, name string, o *object) error {
	return respond(w, struct {
		XMLName      xml.Name
		ETag         string
		LastModified string
	}{xml.Name{Local: name}, o.etag(), timestamp(o.modified)})
}

// source returns the object that a copy names.
func (e *Embedded) source(r *http.Request) (*object, error) {
	path, query, _ := strings.Cut(r.Header.Get(copySourceHeader), "?")
	path, err := url.PathUnescape(path)
	if err != nil {
		return nil, err
	}
	name, key, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return nil, errors.New("the source of a copy is a bucket, a slash, and a key")
	}
	o, err := e.backend.lookupVersion(name, key, gofakes3.VersionID(strings.TrimPrefix(query, "versionId=")))
	if err != nil {
		return nil, err
	}
	if match := r.Header.Get(copySourceHeader + "-If-Match"); match != "" && strings.Trim(match, `"`) != strings.Trim(o.etag(), `"`) {
		return nil, &refusal{http.StatusPreconditionFailed, "PreconditionFailed", "The ETag of the source is another one."}
	}
	return o, nil
}

// copyObject answers CopyObject. The copy shares the payload of its source, and counts it again.
func (e *Embedded) copyObject(w http.ResponseWriter, r *http.Request) error {
	from, err := e.source(r)
	if err != nil {
		return err
	}
	name, key := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	release, err := e.mem.reserve(from.size)
	if err != nil {
		return err
	}
	defer release()
	o := &object{key: strings.Clone(key), parts: slices.Clip(from.parts), size: from.size, md5: from.md5, nParts: from.nParts,
		modified: time.Now(), meta: from.meta}
	if r.Header.Get("X-Amz-Metadata-Directive") == "REPLACE" {
		o.meta = keptMeta(first(r.Header))
	}
	tags := from.tags()
	if r.Header.Get("X-Amz-Tagging-Directive") == "REPLACE" {
		if tags, err = parseTags(r.Header.Get(taggingHeader)); err != nil {
			return err
		}
	}
	if len(tags) > 0 {
		o = o.with(func(x *extra) { x.tags = tags })
	}
	if err := e.backend.store(bk, o, nil); err != nil {
		return err
	}
	if v := o.version(); v != "" {
		w.Header().Set(versionHeader, string(v))
	}
	return respondCopied(w, "CopyObjectResult", o)
}

// copyPart answers UploadPartCopy.
func (e *Embedded) copyPart(w http.ResponseWriter, r *http.Request) error {
	from, err := e.source(r)
	if err != nil {
		return err
	}
	start, end := int64(0), from.size
	if text := r.Header.Get(copySourceHeader + "-Range"); text != "" {
		if start, end, err = copyRange(text, from.size); err != nil {
			return err
		}
	}
	number, err := strconv.Atoi(r.URL.Query().Get("partNumber"))
	if err != nil {
		return err
	}
	release, err := e.mem.reserve(end - start)
	if err != nil {
		return err
	}
	defer release()
	part := &object{size: end - start, modified: time.Now()}
	sum := md5.New()
	c := contents{parts: from.parts, skip: start, left: part.size}
	for p := c.next(); p != nil; p = c.next() {
		sum.Write(p)
		part.parts = append(part.parts, slices.Clip(p))
	}
	sum.Sum(part.md5[:0])
	bucket, key := split(r)
	if err := e.backend.addPart(bucket, key, gofakes3.UploadID(r.URL.Query().Get("uploadId")), number, part); err != nil {
		return err
	}
	return respondCopied(w, "CopyPartResult", part)
}

// copyRange parses "bytes=FIRST-LAST" within an object.
func copyRange(text string, size int64) (start, end int64, err error) {
	first, last, _ := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
	start, err1 := strconv.ParseInt(first, 10, 64)
	end, err2 := strconv.ParseInt(last, 10, 64)
	if err1 != nil || err2 != nil || start < 0 || start > end || end >= size {
		return 0, 0, &refusal{http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The source has no range " + text + "."}
	}
	return start, end + 1, nil
}

// first returns the first value of each header.
func first(h http.Header) map[string]string {
	m := make(map[string]string, len(h))
	for name, values := range h {
		m[name] = values[0]
	}
	return m
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
