package store

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Trace collects what was seen on the wire of one row's requests. It belongs
// to the goroutine that sends them.
type Trace struct {
	base                time.Time
	firstByte, lastByte time.Duration
	status, requests    uint16
	size                int64 // of the object as it is now, where an upload's answer says so
	etag                string

	phases *Phases       // where they are noted; nil = nowhere
	all    bool          // of them, and not only those of new connections
	stage  uint8         // that the request is in
	began  time.Duration // of that stage
}

// NewTrace returns a trace whose times count from base, by the monotonic clock.
func NewTrace(base time.Time) *Trace { return &Trace{base: base} }

// Reset makes t a new trace, for those who send request after request.
func (t *Trace) Reset(base time.Time) { *t = Trace{base: base} }

// Expect names the ETag that the answer probably carries, so that an engine
// can hand out this string instead of copying the same bytes each time.
func (t *Trace) Expect(etag string) { t.etag = etag }

// FirstByte is when the first byte of the first answer arrived; 0 = not seen.
func (t *Trace) FirstByte() time.Duration { return t.firstByte }

// LastByte is when the last payload byte was handed to the socket; 0 = not seen.
func (t *Trace) LastByte() time.Duration { return t.lastByte }

// Status is the HTTP status of the last answer; 0 = no answer.
func (t *Trace) Status() uint16 {
	if t == nil {
		return 0
	}
	return t.status
}

// Requests is how many HTTP requests were sent, up to what a log can hold.
func (t *Trace) Requests() uint16 { return t.requests }

// Add counts what was seen of another request into a row of several. Both
// traces count from the same time.
func (t *Trace) Add(o *Trace) {
	if t.firstByte == 0 {
		t.firstByte = o.firstByte
	}
	t.lastByte = max(t.lastByte, o.lastByte)
	if o.status != 0 {
		t.status = o.status
	}
	t.requests += min(o.requests, math.MaxUint16-t.requests)
	if t.phases != nil && o.phases != nil {
		t.phases.sum(o.phases)
	}
}

// Next returns a trace for a further request of the same row, see Add.
func (t *Trace) Next() *Trace {
	next := &Trace{base: t.base}
	if t.phases != nil {
		next.Note(new(Phases), t.all)
	}
	return next
}

// Failed says which status made a row of several requests fail, where that was
// not the last one.
func (t *Trace) Failed(status int) { t.status = uint16(status) }

// sizeOr is the object's size that the answer to an upload names, else size.
// Only the answer to an append names one.
func (t *Trace) sizeOr(size int64) int64 {
	if t == nil || t.size == 0 {
		return size
	}
	return t.size
}

// sawFirstByte is called for whatever arrives, and nil-safe for requests that
// nobody traces.
func (t *Trace) sawFirstByte() {
	if t == nil || t.firstByte != 0 && (t.stage == notNoted || t.stage == inReceive) {
		return
	}
	now := time.Since(t.base)
	if t.firstByte == 0 {
		t.firstByte = now
	}
	switch t.stage {
	case inSend: // the store does not want to have all of the request
		t.enter(inReceive, PhaseSend, now)
	case inWait:
		t.enter(inReceive, PhaseWait, now)
	}
}

// A netTrace is what net/http's goroutines write to, hence the atomics. Each
// row has its own, since a late write must not reach the next row.
type netTrace struct {
	base      time.Time
	firstByte atomic.Int64
	lastByte  atomic.Int64
	status    atomic.Int32
	requests  atomic.Int32
	size      atomic.Int64

	noted bool // note phases
	all   bool // of them
	mu    sync.Mutex
	open  []*wirePhases // of each request
}

// watch returns a context whose requests are noted, and what to call when they
// are over, so that t has what was seen.
func watch(ctx context.Context, t *Trace) (context.Context, func()) {
	if t == nil {
		return ctx, func() {}
	}
	n := &netTrace{base: t.base, noted: t.phases != nil, all: t.all}
	return context.WithValue(ctx, traceKey{}, n), func() {
		t.firstByte, t.lastByte = time.Duration(n.firstByte.Load()), time.Duration(n.lastByte.Load())
		t.status, t.requests = uint16(n.status.Load()), uint16(min(n.requests.Load(), math.MaxUint16))
		t.size = n.size.Load()
		n.takePhases(t.phases)
	}
}

func (t *netTrace) sawFirstByte() {
	t.firstByte.CompareAndSwap(0, int64(time.Since(t.base)))
}

// raise notes that payload was sent until then. Parts of an upload are sent
// beside each other.
func (t *netTrace) raise(lastByte int64) {
	for {
		seen := t.lastByte.Load()
		if lastByte <= seen || t.lastByte.CompareAndSwap(seen, lastByte) {
			return
		}
	}
}

// A sentPayload is the body of an upload on its way through net/http. That
// says when it has written a request, but afterwards, and from a goroutine of its
// own, which under load gets to it long after the store has everything. So the
// last byte counts as sent when it is taken from the body, which is before it is
// on the wire.
//
// After a redirect http.Client closes the body of the request that it was given
// while the transport may be reading it yet, which minio-go's signing bodies do
// not bear. So this one stands in both requests, and does one thing at a time.
type sentPayload struct {
	base  time.Time
	taken atomic.Int64 // the last bytes, by net/http
	ended atomic.Bool  // these were the last

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

// lastByte is when the payload was sent; 0 where it was not, or not all of it.
func (s *sentPayload) lastByte(accepted bool) int64 {
	if accepted || s.ended.Load() {
		return s.taken.Load()
	}
	return 0
}

type traceKey struct{}

// tracer notes in the request's trace what goes over the wire. It sits right
// above the transport, so that it sees every request that minio-go sends.
type tracer struct {
	next  http.RoundTripper
	http2 bool // nothing else will do
}

func (t tracer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkPage(req); err != nil {
		return nil, err
	}
	tr, _ := req.Context().Value(traceKey{}).(*netTrace)
	if tr == nil {
		return t.send(req)
	}
	phases := tr.follow()
	hooks := phases.clientTrace()
	hooks.GotFirstResponseByte = tr.sawFirstByte
	var upload *sentPayload
	if carriesPayload(req) {
		upload = &sentPayload{body: req.Body, base: tr.base}
		req.Body = upload
	}
	phases.watch(hooks)
	tr.requests.Add(1)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), hooks))
	bare := req.Body == nil || req.Body == http.NoBody
	if bare && !t.http2 && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
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

// carriesPayload says whether a request uploads an object, or a part of one.
func carriesPayload(req *http.Request) bool {
	if req.Body == nil || req.ContentLength == 0 {
		return false
	}
	return req.Method == http.MethodPut || strings.HasPrefix(req.Header.Get("Content-Type"), "multipart/form-data")
}

// send refuses an answer by HTTP/1.1 where HTTP/2 was asked for: a store that
// does not speak it would otherwise be measured in silence as if it did.
func (t tracer) send(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil && t.http2 && resp.ProtoMajor != 2 {
		resp.Body.Close()
		return nil, errorf(CodeNoHTTP2, resp.StatusCode, "the store answers by %s", resp.Proto)
	}
	return resp, err
}

// sentOnce is an empty body. net/http sends a GET or HEAD a second time where
// a connection breaks before the answer, and says nothing: a store that resets
// connections would look healthy. It does so only while there is no body. The
// encoding beside it keeps the body from being announced, so that the request
// on the wire is the same.
type sentOnce struct{}

func (sentOnce) Read([]byte) (int, error) { return 0, io.EOF }
func (sentOnce) Close() error             { return nil }
