package s3

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// A Trace collects what was seen on the wire of one row's requests. The
// transport's own goroutines write to it, hence the atomics; make a new one
// for each row, since a late write must not reach the next row.
type Trace struct {
	base      time.Time
	firstByte atomic.Int64
	lastByte  atomic.Int64
	status    atomic.Int32
	requests  atomic.Int32
}

// NewTrace returns a trace whose times count from base, by the monotonic clock.
func NewTrace(base time.Time) *Trace { return &Trace{base: base} }

// FirstByte is when the first byte of the first answer arrived; 0 = not seen.
func (t *Trace) FirstByte() time.Duration { return time.Duration(t.firstByte.Load()) }

// LastByte is when the last payload byte was handed to the socket; 0 = not seen.
func (t *Trace) LastByte() time.Duration { return time.Duration(t.lastByte.Load()) }

// Status is the HTTP status of the last answer; 0 = no answer.
func (t *Trace) Status() uint16 {
	if t == nil {
		return 0
	}
	return uint16(t.status.Load())
}

// Requests is how many HTTP requests were sent, up to what a log can hold.
func (t *Trace) Requests() uint16 { return uint16(min(t.requests.Load(), math.MaxUint16)) }

func (t *Trace) sawFirstByte() {
	t.firstByte.CompareAndSwap(0, int64(time.Since(t.base)))
}

func (t *Trace) sentPayload(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		t.lastByte.Store(int64(time.Since(t.base)))
	}
}

type traceKey struct{}

func withTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// tracer notes in the request's Trace what goes over the wire. It sits right
// above the transport, so that it sees every request that minio-go sends.
type tracer struct{ next http.RoundTripper }

func (t tracer) RoundTrip(req *http.Request) (*http.Response, error) {
	tr, _ := req.Context().Value(traceKey{}).(*Trace)
	if tr == nil {
		return t.next.RoundTrip(req)
	}
	hooks := &httptrace.ClientTrace{GotFirstResponseByte: tr.sawFirstByte}
	if req.Method == http.MethodPut && req.ContentLength != 0 {
		hooks.WroteRequest = tr.sentPayload
	}
	tr.requests.Add(1)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), hooks))
	if req.Body == nil || req.Body == http.NoBody {
		req.Body, req.GetBody, req.TransferEncoding = sentOnce{}, nil, []string{"identity"}
	}
	resp, err := t.next.RoundTrip(req)
	if resp != nil {
		tr.status.Store(int32(resp.StatusCode))
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
