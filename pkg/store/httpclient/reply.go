package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"warp/pkg/store"
)

// A Reply is the answer to a request. It is valid until the request ends.
type Reply struct {
	Status int
	*answer
	request *Request
}

// An answer is the content of a reply.
type answer struct {
	head    Head
	kept    []byte // the document that was received last
	cut     bool   // it was longer than kept
	strings stringCache
}

// A stringCache holds strings and the time of the latest replies, because the next reply often
// contains the same.
type stringCache struct {
	etag, version string
	date          []byte // Last-Modified
	modified      time.Time
}

const (
	// maxErrorDocument limits how much of the document of an error is read. They are short.
	maxErrorDocument = 64 << 10
)

// receiveDocument receives the body of the reply and keeps it. Only the start of an error's
// document is kept.
func (r *Request) receiveDocument(ctx context.Context, tr *store.Trace) error {
	limit := maxErrorDocument
	if r.reply.Status/100 == 2 {
		limit = store.MaxDocument
	}
	r.document = r.transport.documents().New()
	_, err := r.transport.receive(ctx, r, sink{keep: limit, document: &r.document}, tr)
	if err != nil {
		r.document.Free()
	}
	if err == nil && r.reply.cut && limit == store.MaxDocument {
		return store.TooLong(r.reply.Status, store.MaxDocument)
	}
	return err
}

// Receive receives the payload of a reply from [Client.Open] and writes it to into; nil discards it.
// It returns the length of the payload.
func (r *Reply) Receive(ctx context.Context, into io.Writer, tr *store.Trace) (n int64, err error) {
	return r.request.transport.receive(ctx, r.request, sink{into: into, payload: true}, tr)
}

// shortRead returns the error of a payload that ended after n bytes.
func shortRead(status int, n, length int64) *store.Error {
	announced := "unknown"
	if length >= 0 {
		announced = fmt.Sprint(length)
	}
	return store.Errorf(store.CodeShortRead, status, "the answer ended after %d of %s bytes", n, announced)
}

// Head returns the head of the reply.
func (r *Reply) Head() *Head { return &r.head }

// State returns the memory of the API's [Writer] that the connection has now.
func (r *Reply) State() any { return r.request.conn.state }

// Document returns the body that was kept.
func (r *Reply) Document() []byte { return r.kept }

// Memory counts the memory of the document, and of what the caller reads from it.
func (r *Reply) Memory() *store.Document { return &r.request.document }

// CountJSON counts the memory that decoding the document of a listing takes: its text twice, because
// maps need more than their text, and for every JSON object an entry of that size.
func (r *Reply) CountJSON(entry uintptr) error {
	return r.Memory().Grow(2*len(r.Document())+bytes.Count(r.Document(), []byte("{"))*int(entry), r.Status)
}

// DecodeJSON decodes the document, which is JSON of what, into v.
func (r *Reply) DecodeJSON(what string, v any) error {
	if err := json.Unmarshal(r.Document(), v); err != nil {
		return store.BadAnswer(r.Status, "the answer is not valid JSON of %s: %s", what, store.OneLine(err.Error()))
	}
	return nil
}

// Length returns the Content-Length of the body; -1 = absent.
func (r *Reply) Length() int64 { return r.head.Length }

// ETag returns the ETag header without quotes. It does not allocate if the value is the one that tr
// expects.
func (r *Reply) ETag(tr *store.Trace) string {
	b := bytes.Trim(r.head.ETag, `"`)
	switch {
	case string(b) == tr.ExpectedETag():
		return tr.ExpectedETag()
	case string(b) != r.strings.etag:
		r.strings.etag = string(b)
	}
	return r.strings.etag
}

// Version returns the x-amz-version-id header. It does not allocate if the value is the expected
// one.
func (r *Reply) Version(expected string) string {
	switch b := r.head.Version; {
	case string(b) == expected:
		return expected
	case string(b) != r.strings.version:
		r.strings.version = string(b)
	}
	return r.strings.version
}

// Location returns the Location header.
func (r *Reply) Location() string { return string(r.head.Location) }

// ContentType returns the Content-Type header.
func (r *Reply) ContentType() string { return string(r.head.ContentType) }

// Range returns the Range header: the bytes that the store has received.
func (r *Reply) Range() string { return string(r.head.Range) }

// LastModified returns the time in the Last-Modified header, or the zero time without one.
func (r *Reply) LastModified() time.Time {
	if len(r.head.Modified) == 0 {
		return time.Time{}
	}
	t, err := r.Modified()
	if err != nil {
		return time.Time{}
	}
	return t
}

// Modified returns the time in the Last-Modified header. It is an error if there is none.
func (r *Reply) Modified() (time.Time, error) {
	h, s := &r.head, &r.strings
	if len(h.Modified) > 0 && bytes.Equal(s.date, h.Modified) {
		return s.modified, nil
	}
	t, err := parseModified(h.Modified)
	if err == nil {
		s.date, s.modified = append(s.date[:0], h.Modified...), t
	}
	return t, err
}

// parseModified parses Last-Modified in the forms that minio-go accepts.
func parseModified(b []byte) (t time.Time, err error) {
	if t, ok := parseDate(b); ok {
		return t, nil
	}
	for _, layout := range []string{"Mon, 2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 06 15:04:05 GMT"} {
		if t, err = time.Parse(layout, string(b)); err == nil {
			return t, nil
		}
	}
	return t, err
}

// Header returns the value of a header that is kept, or "" if it is absent. The name is in lower
// case.
func (r *Reply) Header(name string) string { return r.head.value(name) }

// EachHeader calls do for every line of the kept headers of that name, until it returns false.
func (r *Reply) EachHeader(name string, do func(value []byte) bool) { r.head.each(name, do) }

// EachNamed calls do for every kept header whose name begins with prefix, in lower case.
func (r *Reply) EachNamed(prefix string, do func(name, value string)) {
	r.head.eachNamed(prefix, do)
}
