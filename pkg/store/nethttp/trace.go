package nethttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/store"
)

// A netTrace is written by net/http's goroutines and therefore uses atomics. Each row has its own,
// because a late write must not reach the next row.
type netTrace struct {
	base      time.Time
	firstByte atomic.Int64
	lastByte  atomic.Int64
	status    atomic.Int32
	requests  atomic.Int32
	size      atomic.Int64
	payload   bool // all requests carry payload

	noted bool // record phases
	all   bool // record all phases
	mu    sync.Mutex
	open  []*wirePhases // one for each request
}

// Watch returns a context whose requests are recorded, and a function that copies what was
// recorded to t.
func Watch(ctx context.Context, t *store.Trace) (context.Context, func()) {
	if t == nil {
		return ctx, func() {}
	}
	n := &netTrace{base: t.Base(), noted: t.Phases() != nil, all: t.Detailed()}
	return context.WithValue(ctx, traceKey{}, n), func() {
		t.Observe(store.Observation{
			FirstByte: time.Duration(n.firstByte.Load()), LastByte: time.Duration(n.lastByte.Load()),
			Status: int(n.status.Load()), Requests: int(n.requests.Load()),
		})
		n.takePhases(t.Phases())
	}
}

// ObjectSize returns the object's size in the answer to a request under ctx, or size if it has
// none. Only the answer to an append contains it.
func ObjectSize(ctx context.Context, size int64) int64 {
	if n, ok := ctx.Value(traceKey{}).(*netTrace); ok && n.size.Load() > 0 {
		return n.size.Load()
	}
	return size
}

// WatchPayload is [Watch] for a request whose body is an object or a part of one, whatever its
// method.
func WatchPayload(ctx context.Context, t *store.Trace) (context.Context, func()) {
	ctx, seen := Watch(ctx, t)
	if n, ok := ctx.Value(traceKey{}).(*netTrace); ok {
		n.payload = true
	}
	return ctx, seen
}

// ExpectRedirect prepares for a request under ctx whose answer may be a redirect. If it was one,
// call the returned function, so that the trace has the first byte and the status of the answer
// that follows.
func ExpectRedirect(ctx context.Context) (redirected func()) {
	n, ok := ctx.Value(traceKey{}).(*netTrace)
	if !ok {
		return func() {}
	}
	before := n.firstByte.Load()
	return func() {
		n.firstByte.Store(before)
		n.status.Store(0)
	}
}

func (t *netTrace) sawFirstByte() {
	t.firstByte.CompareAndSwap(0, int64(time.Since(t.base)))
}

// raise records that payload was sent at lastByte. Parts of an upload are sent concurrently.
func (t *netTrace) raise(lastByte int64) {
	for {
		seen := t.lastByte.Load()
		if lastByte <= seen || t.lastByte.CompareAndSwap(seen, lastByte) {
			return
		}
	}
}

// A sentPayload is the body of an upload sent through net/http. net/http reports when it has
// written a request, but from its own goroutine, which under load may run long after the store has
// received everything. So the last byte counts as sent when it is read from the body, which is
// before it is on the wire.
//
// After a redirect http.Client closes the body of the first request while the transport may still
// be reading it. minio-go's signing bodies do not support that, so this one wraps the body of both
// requests and serializes the calls.
type sentPayload struct {
	base  time.Time
	taken atomic.Int64 // bytes that net/http has read last
	ended atomic.Bool  // they were the last

	mu     sync.Mutex
	body   io.ReadCloser
	closed bool
}

func (s *sentPayload) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.body.Close()
}

func (s *sentPayload) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := s.body.Read(p)
	if n > 0 {
		s.taken.Store(int64(time.Since(s.base)))
	}
	if err == io.EOF {
		s.ended.Store(true)
	}
	return n, err
}

// lastByte returns when the payload was sent, or 0 if not all of it was.
func (s *sentPayload) lastByte(accepted bool) int64 {
	if accepted || s.ended.Load() {
		return s.taken.Load()
	}
	return 0
}

type traceKey struct{}

// A Tracer records requests on the wire in their traces. It is directly above the transport, so
// that it sees every request that a library sends.
type Tracer struct {
	Next  http.RoundTripper
	HTTP2 bool // accept nothing but HTTP/2
	// Check rejects requests before they are sent; nil = none.
	Check func(*http.Request) error
}

// RoundTrip sends req.
func (t Tracer) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.Check != nil {
		if err := t.Check(req); err != nil {
			return nil, err
		}
	}
	tr, _ := req.Context().Value(traceKey{}).(*netTrace)
	if tr == nil {
		return t.send(req)
	}
	phases := tr.follow()
	hooks := phases.clientTrace()
	hooks.GotFirstResponseByte = tr.sawFirstByte
	var upload *sentPayload
	if carriesPayload(req) || tr.payload && req.ContentLength > 0 {
		upload = &sentPayload{body: req.Body, base: tr.base}
		req.Body = upload
	}
	phases.watch(hooks)
	tr.requests.Add(1)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), hooks))
	bare := req.Body == nil || req.Body == http.NoBody
	if bare && !t.HTTP2 && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
		req.Body, req.GetBody, req.TransferEncoding = sentOnce{}, nil, []string{"identity"}
	}
	resp, err := t.send(req)
	if upload != nil {
		last := upload.lastByte(resp != nil && resp.StatusCode/100 == 2)
		tr.raise(last)
		phases.uploaded(last)
	}
	phases.answer(resp)
	if resp != nil {
		tr.status.Store(int32(resp.StatusCode))
		if size, err := strconv.ParseInt(resp.Header.Get("X-Amz-Object-Size"), 10, 64); err == nil {
			tr.size.Store(size)
		}
	}
	return resp, err
}

// carriesPayload reports whether a request uploads an object or a part.
func carriesPayload(req *http.Request) bool {
	if req.Body == nil || req.ContentLength == 0 {
		return false
	}
	return req.Method == http.MethodPut || strings.HasPrefix(req.Header.Get("Content-Type"), "multipart/form-data")
}

// send rejects an answer over HTTP/1.1 if HTTP/2 was asked for. A store without HTTP/2 would
// otherwise be measured as if it had it.
func (t Tracer) send(req *http.Request) (*http.Response, error) {
	resp, err := t.Next.RoundTrip(req)
	if err == nil && t.HTTP2 && resp.ProtoMajor != 2 {
		resp.Body.Close()
		return nil, store.Errorf(store.CodeNoHTTP2, resp.StatusCode, "the store answers with %s", resp.Proto)
	}
	return resp, err
}

// sentOnce is an empty body. Without a body, net/http silently repeats a GET or HEAD if the
// connection breaks before the answer, and a store that resets connections would look healthy.
// Setting TransferEncoding keeps the body from being announced, so that the request on the wire
// stays the same.
type sentOnce struct{}

func (sentOnce) Read([]byte) (int, error) { return 0, io.EOF }
func (sentOnce) Close() error             { return nil }
