package s3mem

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/johannesboyne/gofakes3"
)

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// Headers of requests that gofakes3 does not know.
const (
	copySourceHeader  = "X-Amz-Copy-Source"
	writeOffsetHeader = "X-Amz-Write-Offset-Bytes"
	bypassHeader      = "X-Amz-Bypass-Governance-Retention"
	lockBucketHeader  = "X-Amz-Bucket-Object-Lock-Enabled"
	taggingHeader     = "X-Amz-Tagging"
	versionHeader     = "X-Amz-Version-Id"
)

// own returns what answers the request instead of gofakes3, or nil. The size is the length of the payload.
func (e *Embedded) own(r *http.Request, size int64) func(http.ResponseWriter, *http.Request) error {
	q := r.URL.Query()
	_, key := split(r)
	switch {
	case key == "" && q.Has("object-lock"):
		return e.lockConfiguration
	case key == "" && q.Has("tagging"):
		return e.bucketTagging
	case key == "" && q.Has("versions"):
		return e.listVersions
	case key == "" && isForm(r):
		return func(w http.ResponseWriter, r *http.Request) error { return e.form(w, r, size) }
	case key == "":
		return nil
	case q.Has("tagging"):
		return e.tagging
	case q.Has("retention"):
		return e.retention
	case r.Method == http.MethodDelete && q.Get("versionId") != "":
		return e.deleteVersion
	case r.Method == http.MethodDelete && r.URL.RawQuery == "" && conditionsOf(r) != nil:
		return e.deleteIf
	case r.Method != http.MethodPut:
		return nil
	case r.Header.Get(copySourceHeader) != "" && q.Has("uploadId"):
		return e.copyPart
	case r.Header.Get(copySourceHeader) != "":
		return e.copyObject
	case r.Header.Get(writeOffsetHeader) != "":
		return func(w http.ResponseWriter, r *http.Request) error { return e.appendTo(w, r, size) }
	}
	return nil
}

// A refusal is an error with the status and code of the answer.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return r.message }

// fail answers with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	var own *refusal
	var full *fullError
	var known interface{ ErrorCode() gofakes3.ErrorCode }
	switch {
	case errors.As(err, &own):
		writeError(w, r, own.status, own.code, own.message)
	case errors.As(err, &full):
		writeError(w, r, http.StatusInsufficientStorage, "InsufficientStorage", err.Error())
	case errors.As(err, &known):
		writeError(w, r, known.ErrorCode().Status(), string(known.ErrorCode()), err.Error())
	default:
		writeError(w, r, http.StatusBadRequest, "InvalidRequest", err.Error())
	}
}

// respond answers with a document.
func respond(w http.ResponseWriter, document any) error {
	text, err := xml.Marshal(document)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/xml")
	_, err = w.Write(append([]byte(xml.Header), text...))
	return err
}

// target returns the bucket, the key and the version that a request names.
func target(r *http.Request) (bucket, key string, id gofakes3.VersionID) {
	bucket, key = split(r)
	return bucket, key, gofakes3.VersionID(r.URL.Query().Get("versionId"))
}

// update replaces a version of an object by one with another extra.
func (b *backend) update(r *http.Request, change func(bk *bucket, o *object, x *extra) error) error {
	name, key, id := target(r)
	if _, err := b.lookupVersion(name, key, id); err != nil {
		return err
	}
	bk, err := b.bucket(name)
	if err != nil {
		return err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	o := bk.find(key, id)
	if o == nil || o.isMarker() {
		return gofakes3.KeyNotFound(key)
	}
	n := o.with(func(x *extra) { err = change(bk, o, x) })
	if err == nil {
		b.replace(bk, o, n)
	}
	return err
}

// deleteVersion answers DELETE of one version.
func (e *Embedded) deleteVersion(w http.ResponseWriter, r *http.Request) error {
	name, key, id := target(r)
	res, err := e.backend.deleteVersion(name, key, id, r.Header.Get(bypassHeader) == "true")
	if err != nil {
		return err
	}
	w.Header().Set(versionHeader, string(id))
	w.Header().Set("X-Amz-Delete-Marker", strconv.FormatBool(res.IsDeleteMarker))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// rangeOfPart turns the number of a part into a range.
func (e *Embedded) rangeOfPart(r *http.Request, answer http.Header) error {
	if !r.URL.Query().Has("partNumber") {
		return nil
	}
	if r.Header.Get("Range") != "" {
		return errors.New("partNumber and Range cannot be combined")
	}
	n, err := strconv.Atoi(r.URL.Query().Get("partNumber"))
	o, missing := e.backend.lookupVersion(target(r))
	if missing != nil {
		return nil // gofakes3 says so
	}
	ends := []int64{o.size}
	if o.extra != nil && len(o.extra.partEnds) > 0 {
		ends = o.extra.partEnds
		answer.Set("X-Amz-Mp-Parts-Count", strconv.Itoa(len(ends)))
	}
	if err != nil || n < 1 || n > len(ends) {
		return &refusal{http.StatusRequestedRangeNotSatisfiable, "InvalidPartNumber", "The object has no part of that number."}
	}
	start := int64(0)
	if n > 1 {
		start = ends[n-2]
	}
	if start < ends[n-1] {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", start, ends[n-1]-1))
	}
	return nil
}
