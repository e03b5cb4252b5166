package lean

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/lean/answer"
)

// A Caller sends requests of any API over HTTP/1.1, over the same connections as S3 requests.
type Caller struct {
	e *Engine
	// authorize appends the header lines that identify the client.
	authorize func(head []byte, c *Call) []byte
	keeps     string
	// Known reports whether the store names a host as its own, so that calls may be redirected
	// there without credentials; nil = there are no such hosts.
	Known func(ctx context.Context, host string) bool
}

// NewCaller returns a caller for one host. For each request, authorize appends the header lines
// that identify the client, each with its line end. Of an answer it keeps the headers whose names
// begin with keeps, in lower case.
func NewCaller(cfg *store.Config, a store.Address, n *store.Counters, keeps string, authorize func(head []byte, c *Call) []byte) (*Caller, error) {
	e, err := New(cfg, a, nil, n)
	if err != nil {
		return nil, err
	}
	return &Caller{e: e, authorize: authorize, keeps: keeps}, nil
}

// A Call is one request.
type Call struct {
	Method      string
	Target      []byte // path and query, as they go out
	ContentType string
	Headers     []store.Header
	Offset      int64 // start of the range
	Length      int64 // length of the range; 0 = no range

	Body       store.Body // nil = none
	Size       int64      // length of the body
	Payload    bool       // the body is an object or a part of one
	Idempotent bool       // sending it twice is harmless, so the connection need not be checked first
	Redirects  bool       // follow one redirect instead of returning it

	// Download says that the body of a successful answer is payload. It goes to Into, or is
	// discarded if that is nil. All other bodies are kept.
	Download bool
	Into     io.Writer
	OnHead   func(*Reply) // called before the payload arrives; may be nil

	caller *Caller
}

// A Reply is the answer to a call. Its memory belongs to the connection, so it is valid until
// Release.
type Reply struct {
	c      *conn
	Status int
	Bytes  int64 // of payload
}

// maxCallDocument limits the size of bodies that are kept.
const maxCallDocument = 64 << 20

// Do sends a request and receives its answer, whatever the status. If it returns no error, Release
// has to follow.
func (p *Caller) Do(ctx context.Context, c *Call, tr *store.Trace) (r Reply, err error) {
	c.caller = p
	q := request{method: c.Method, call: c, body: c.Body, size: c.Size, contentType: c.ContentType, headers: c.Headers,
		offset: c.Offset, length: c.Length}
	conn, err := p.e.do(ctx, &q, tr)
	if err != nil {
		return r, err
	}
	r.c, r.Status = conn, conn.head.Status
	to := sink{keep: maxCallDocument}
	payload := c.Download && (r.Status == 200 || r.Status == 206)
	if payload {
		to = sink{into: c.Into}
		if c.OnHead != nil {
			seen := r // not on the heap without OnHead
			c.OnHead(&seen)
		}
	}
	n, err := conn.receiveBody(tr, c.Method, to)
	if payload {
		r.Bytes = n
	}
	if err == nil && conn.cut {
		err = store.BadAnswer(r.Status, "the answer's document is longer than %d bytes", maxCallDocument)
	}
	if err == io.ErrUnexpectedEOF && payload {
		err = store.Errorf(store.CodeShortRead, r.Status, "the answer ended after %d of %s bytes", n, announced(&conn.head))
	}
	if err != nil {
		return r, p.e.failed(ctx, conn, err, tr)
	}
	return r, nil
}

// Close closes idle connections now and the others when their requests end.
func (p *Caller) Close() { p.e.Close() }

// Release gives the connection back.
func (r *Reply) Release() { r.c.release() }

// Document returns the body that was kept.
func (r *Reply) Document() []byte { return r.c.kept }

// Length returns the Content-Length of the body; -1 = absent.
func (r *Reply) Length() int64 { return r.c.head.Length }

// ETag returns the ETag header without quotes. It does not allocate if the value is the one that tr
// expects.
func (r *Reply) ETag(tr *store.Trace) string { return r.c.etagString(tr) }

// Location returns the Location header: the address to continue at.
func (r *Reply) Location() string { return string(r.c.head.Location) }

// ContentType returns the Content-Type header.
func (r *Reply) ContentType() string { return string(r.c.head.ContentType) }

// Range returns the Range header: the bytes that the store has received.
func (r *Reply) Range() string { return string(r.c.head.Range) }

// LastModified returns the time in the Last-Modified header, or the zero time without one.
func (r *Reply) LastModified() time.Time {
	h, o := &r.c.head, &r.c.objects
	if len(h.Modified) > 0 && !bytes.Equal(o.date, h.Modified) {
		t, err := lastModified(h.Modified)
		if err != nil {
			return time.Time{}
		}
		o.date, o.modified = append(o.date[:0], h.Modified...), t
	}
	if len(h.Modified) == 0 {
		return time.Time{}
	}
	return o.modified
}

// Header returns the value of a header that is kept, or "" if it is absent.
func (r *Reply) Header(name string) string { return r.c.head.Sum(name) }

// EachHeader calls do for every line of the kept headers of that name, until it returns false.
func (r *Reply) EachHeader(name string, do func(value []byte) bool) {
	r.c.head.Each(name, do)
}

// EachNamed calls do for every kept header whose name begins with prefix, in lower case.
func (r *Reply) EachNamed(prefix string, do func(name, value string)) {
	r.c.head.EachNamed(prefix, do)
}

// keeps returns the prefix of the names of headers to keep of the answer.
func (q *request) keeps() string {
	switch {
	case q.call != nil:
		return q.call.caller.keeps
	case q.checksums:
		return answer.ChecksumPrefix
	}
	return ""
}

// transmitCall sends a request that is not one of S3.
func (c *conn) transmitCall(q *request, tr *store.Trace) error {
	if q.body != nil && q.size > 0 {
		q.contentLength = q.size
		if q.expects() {
			return c.putExpected(q, tr)
		}
		return c.putPlain(q, tr)
	}
	q.contentLength = -1
	if q.method != "GET" && q.method != "HEAD" && q.method != "DELETE" {
		q.contentLength = 0
	}
	c.buildHead(q)
	tr.Sending()
	return c.sendAndAwait(c.ask, tr, false)
}

// ExpectAbove is the size above which a request that may be redirected sends its payload only when
// the store asks for it. A Go server reads and discards up to this much unwanted payload; above
// that it closes the connection.
const ExpectAbove = 256 << 10

// expects reports whether the payload waits until the store asks for it. It does not wait after a
// redirect.
func (q *request) expects() bool {
	return q.call.Redirects && q.size > ExpectAbove && q.moved == nil && q.redirected == nil
}

// putExpected is putPlain for a payload that waits. It does not send the payload unless the answer
// is 100.
func (c *conn) putExpected(q *request, tr *store.Trace) error {
	c.buildHead(q)
	tr.Sending()
	seen := tr.FirstByte()
	if err := c.sendAndAwait(c.ask, tr, false); err != nil {
		return err
	}
	const interim = "HTTP/1.1 100"
	for {
		unread := c.in[c.r:c.w]
		if !bytes.HasPrefix(unread, []byte(interim)[:min(len(unread), len(interim))]) {
			c.broken = true // the store may mistake what follows for the payload
			return nil
		}
		if end := bytes.Index(unread, []byte("\r\n\r\n")); end >= 0 {
			c.r += end + len("\r\n\r\n")
			break
		}
		if err := c.receiveMore(tr); err != nil {
			return err
		}
	}
	tr.Redirected(seen) // that was an interim answer
	tr.Sending()
	c.answered, c.ask = false, c.ask[:0]
	c.enterPhase(phaseSend)
	return c.sendPlain(q, tr)
}

// buildCall builds in c.ask the head of a request that is not one of S3.
func (c *conn) buildCall(q *request) {
	h := append(append(c.ask[:0], q.method...), ' ')
	switch {
	case q.moved != nil:
		h = append(h, q.moved...)
	case q.redirected != nil:
		h, _ = c.e.appendTarget(h, q)
	default:
		h = append(h, q.call.Target...)
	}
	h = append(append(append(h, " HTTP/1.1\r\nHost: "...), c.e.host...), c.e.agent...)
	if q.contentLength >= 0 {
		h = append(strconv.AppendInt(append(h, "Content-Length: "...), q.contentLength, 10), "\r\n"...)
	}
	if q.expects() {
		h = append(h, "Expect: 100-continue\r\n"...)
	}
	if q.contentType != "" {
		h = append(append(append(h, "Content-Type: "...), q.contentType...), "\r\n"...)
	}
	for _, x := range q.headers {
		h = append(append(appendTitle(h, x.Name), ": "...), x.Value...)
		h = append(h, "\r\n"...)
	}
	if q.length > 0 {
		h = append(strconv.AppendInt(append(h, "Range: bytes="...), q.offset, 10), '-')
		h = append(strconv.AppendInt(h, q.offset+q.length-1, 10), "\r\n"...)
	}
	if !q.anonymous {
		h = q.call.caller.authorize(h, q.call)
	}
	c.ask = append(h, "\r\n"...)
}

// redirects reports whether an answer with that status redirects the request.
func (q *request) redirects(status int) bool {
	if q.call == nil {
		return store.IsRedirect(status)
	}
	return q.call.Redirects && IsMoved(status)
}

// IsMoved reports whether a status redirects a request of an API whose stores also answer 301, for
// every method.
func IsMoved(status int) bool { return status == 301 || store.IsRedirect(status) }

// AppendPath appends a path, percent-encoding everything but its slashes.
func AppendPath(dst []byte, s string) []byte { return appendEscaped(dst, s, true) }

// AppendEscaped appends a part of a path or query, percent-encoding everything that has a meaning
// there.
func AppendEscaped(dst []byte, s string) []byte { return appendEscaped(dst, s, false) }
