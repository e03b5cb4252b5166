package httpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"warp/pkg/store"
)

// A Request is a request being built. Its memory is reused.
type Request struct {
	Method      string
	ContentType string
	Headers     []store.Header
	Offset      int64 // start of the range
	Length      int64 // length of the range; 0 = no range

	Body       store.Body            // nil = none
	Size       int64                 // length of the body
	Payload    bool                  // the body is an object or a part of one
	Idempotent bool                  // sending it twice is harmless, so the connection need not be checked first
	Follows    func(status int) bool // statuses that redirect the request, once; nil = none
	Keeps      string                // instead of [API.Keeps]
	Writer     Writer                // writes the request, instead of the client; nil = none

	target    []byte // path and query, as they are sent
	query     int    // index of the question mark in target; 0 = none
	to        *url.URL
	moved     []byte // target at the host to which the request was redirected; nil = it was not
	anonymous bool   // it was redirected to a host that must not get credentials

	transport transport // received the reply; nil = there is none
	conn      *Conn     // has the reply, if it was received over an own connection
	http      *httpExchange
	reply     Reply
	document  store.Document // the memory of the reply's document
}

// A Writer writes a request to a connection itself. It is for an API whose signatures cover the
// payload. If net/http is used, there is no Writer.
type Writer interface {
	// Write writes the request, and waits for the reply, with [Conn.SendLast] or [Conn.SendBody].
	// Another connection may call it again.
	Write(ctx context.Context, c *Conn, tr *store.Trace) error
}

// mutates reports whether the request changes the store, so that it must not be sent twice.
func (r *Request) mutates() bool { return r.Method != "GET" && r.Method != "HEAD" }

// maxRepeated is the max size of an idempotent upload that is sent again.
const maxRepeated = 64 << 10

// repeatable reports whether the request may be sent twice with the same result, and one call sends
// it.
func (r *Request) repeatable() bool { return r.Idempotent && r.Size <= maxRepeated }

var requests = sync.Pool{New: func() any { return &Request{target: make([]byte, 0, 512)} }}

// NewRequest returns a request of the method whose target begins with path. End has to follow.
func NewRequest(method, path string) *Request {
	r := requests.Get().(*Request)
	r.Begin(method, path)
	return r
}

// End ends the request and its reply, and releases the memory.
func (r *Request) End() {
	r.Release()
	requests.Put(r)
}

// Begin prepares a request for use, for those that do not come from [NewRequest]. Release has to
// follow.
func (r *Request) Begin(method, path string) {
	r.Method, r.target, r.query = method, append(r.target[:0], path...), max(strings.IndexByte(path, '?'), 0)
}

// Release ends the reply and clears the request.
func (r *Request) Release() {
	if r.transport != nil {
		r.transport.release(r)
	}
	r.document.Free()
	clear(r.Headers)
	*r = Request{Headers: r.Headers[:0], target: r.target}
}

// Raw appends text to the path that is already escaped.
func (r *Request) Raw(text string) { r.target = append(r.target, text...) }

// Segment appends a slash and one part of a path.
func (r *Request) Segment(text string) {
	r.target = AppendEscaped(append(r.target, '/'), text)
}

// Path appends a slash and a path, without escaping the slashes in it.
func (r *Request) Path(text string) {
	r.target = AppendPath(append(r.target, '/'), text)
}

// Query appends parameters that are already escaped: NAME=VALUE pairs with & between them.
func (r *Request) Query(text string) {
	separator := byte('&')
	if r.query == 0 {
		separator, r.query = '?', len(r.target)
	}
	r.target = append(append(r.target, separator), text...)
}

// Param appends a parameter.
func (r *Request) Param(name, value string) {
	r.Query(name)
	r.target = AppendEscaped(append(r.target, '='), value)
}

// Number appends a parameter with a number.
func (r *Request) Number(name string, value int) {
	r.Query(name)
	r.target = strconv.AppendInt(append(r.target, '='), int64(value), 10)
}

// Target returns path and query as they are sent. The path ends at the index end.
func (r *Request) Target() (target []byte, end int) {
	if r.query == 0 {
		return r.target, len(r.target)
	}
	return r.target, r.query
}

// Redirected returns where the request was redirected to; nil = it was not.
func (r *Request) Redirected() *url.URL { return r.to }

// Header adds a header. The name is in lower case.
func (r *Request) Header(name, value string) {
	r.Headers = append(r.Headers, store.Header{Name: name, Value: value})
}

// Upload sets the body to an object, or to a part of one.
func (r *Request) Upload(body store.Body, size int64) {
	r.Payload, r.Body, r.Size = true, body, size
}

// Document makes data the body.
func (r *Request) Document(contentType string, data []byte) {
	r.ContentType, r.Body, r.Size = contentType, bytes.NewReader(data), int64(len(data))
}

// JSON makes v the body. It must be of a type that always encodes to JSON.
func (r *Request) JSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("httpclient: a document cannot be encoded: " + err.Error())
	}
	r.Document("application/json", data)
}

const upperHex = "0123456789ABCDEF"

// AppendPath appends a path, percent-encoding everything but its slashes.
func AppendPath(dst []byte, s string) []byte { return appendEscaped(dst, s, true) }

// AppendEscaped appends a part of a path or query, percent-encoding everything that has a meaning
// there.
func AppendEscaped(dst []byte, s string) []byte { return appendEscaped(dst, s, false) }

// appendEscaped appends s percent-encoded as in S3's canonical request. A slash stays as it is if
// slash is set.
func appendEscaped(dst []byte, s string, slash bool) []byte {
	for i := range len(s) {
		c := s[i]
		if unreserved[c] && (slash || c != '/') {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// unreserved characters are not escaped; the slash is unreserved only in paths.
var unreserved = func() (is [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/" {
		is[c] = true
	}
	return is
}()
