package httpclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
)

// An httpTransport sends requests through net/http.
type httpTransport struct {
	client    *Client
	transport http.RoundTripper
	agent     string
	limit     time.Duration // max time for a complete answer; 0 = none
	closeIdle func()
	counted   *store.Documents
}

func newHTTPTransport(cfg *store.Config, c *Client, n *store.Counters, limit time.Duration) (*httpTransport, error) {
	t, err := nethttp.NewTransport(cfg, c.address, cfg.StallTimeout(), &n.Connections)
	if err != nil {
		return nil, err
	}
	return &httpTransport{client: c, transport: nethttp.Tracer{Next: t, HTTP2: cfg.HTTP2}, agent: userAgent(cfg, c.api), limit: limit, closeIdle: t.CloseIdleConnections, counted: &n.Documents}, nil
}

// An httpExchange is a request through net/http and its answer.
type httpExchange struct {
	ctx        context.Context // limited, and with the trace
	redirected func()
	end        func() // records the trace and releases the context
	body       io.ReadCloser
	answer
}

// begin prepares the context of a request.
func (t *httpTransport) begin(ctx context.Context, r *Request, tr *store.Trace) *httpExchange {
	watch := nethttp.Watch
	if r.Payload {
		watch = nethttp.WatchPayload
	}
	limited, cancel := store.WithLimit(ctx, t.limit)
	traced, observe := watch(limited, tr)
	return &httpExchange{ctx: traced, redirected: nethttp.ExpectRedirect(traced), end: func() { observe(); cancel() }}
}

func (t *httpTransport) send(ctx context.Context, r *Request, tr *store.Trace) error {
	if r.http == nil {
		r.http = t.begin(ctx, r, tr)
	}
	x := r.http
	resp, err := t.roundTrip(x.ctx, r)
	if err == nil {
		err = x.readHead(resp, r, t.client.api)
	}
	if err != nil {
		return t.failed(r, err, 0)
	}
	r.reply = Reply{Status: resp.StatusCode, answer: &x.answer, request: r}
	return nil
}

// readHead copies the head of an answer.
func (x *httpExchange) readHead(resp *http.Response, r *Request, api *API) error {
	x.body = resp.Body
	keeps := r.Keeps
	if keeps == "" {
		keeps = api.Keeps
	}
	x.head.reset(keeps)
	x.head.Status = resp.StatusCode
	for name, values := range resp.Header {
		for _, value := range values {
			if err := x.head.header([]byte(name + ": " + value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// failed ends a request with an error, and returns the error to report.
func (t *httpTransport) failed(r *Request, err error, status int) error {
	err = store.AsError(store.LimitError(r.http.ctx, err, status), status)
	t.release(r)
	return err
}

func (t *httpTransport) receive(_ context.Context, r *Request, to sink, _ *store.Trace) (n int64, err error) {
	x := r.http
	switch {
	case to.into != nil:
		n, err = io.Copy(to.into, x.body)
	case to.keep > 0:
		body := io.Reader(x.body)
		if to.document != nil {
			body = to.document.Reader(body, x.head.Status)
		}
		x.kept, err = io.ReadAll(io.LimitReader(body, int64(to.keep)+1))
		if n = int64(len(x.kept)); n > int64(to.keep) {
			x.kept, x.cut = x.kept[:to.keep], true
		}
	default:
		n, err = io.Copy(io.Discard, x.body)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && to.payload {
		err = shortRead(x.head.Status, n, x.head.Length)
	}
	if err != nil {
		return n, t.failed(r, err, x.head.Status)
	}
	t.release(r)
	return n, nil
}

func (t *httpTransport) documents() *store.Documents { return t.counted }

// release records the trace, and closes the connection if the answer has not been received.
func (t *httpTransport) release(r *Request) {
	if x := r.http; x != nil {
		if x.body != nil {
			x.body.Close()
		}
		x.end()
		r.http = nil
	}
}

func (t *httpTransport) redirected(_ context.Context, r *Request, _ time.Duration, _ *store.Trace) error {
	x := r.http
	_, _ = io.CopyN(io.Discard, x.body, maxErrorDocument) // so that the connection can be used again
	x.body.Close()
	x.redirected()
	return nil
}

func (t *httpTransport) close() { t.closeIdle() }

// roundTrip sends a request, or sends it where it was redirected to.
func (t *httpTransport) roundTrip(ctx context.Context, r *Request) (*http.Response, error) {
	var body io.Reader
	if r.Body != nil && r.Size > 0 {
		borrowed := &nethttp.BorrowedBody{Body: r.Body}
		defer borrowed.Release()
		body = io.NewSectionReader(borrowed, 0, r.Size)
	}
	target := r.target
	if r.moved != nil {
		target = r.moved
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, t.client.base+string(target), body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = r.Size
	req.Header.Set("User-Agent", t.agent)
	if r.expects() {
		req.Header.Set("Expect", "100-continue")
	}
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	for _, x := range r.Headers {
		req.Header.Add(x.Name, x.Value)
	}
	if r.Length > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(r.Offset, 10)+"-"+strconv.FormatInt(r.Offset+r.Length-1, 10))
	}
	if auth := t.client.api.Auth; auth != nil && !r.anonymous {
		for line := range strings.Lines(string(auth.Append(nil, r))) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
			req.Header.Set(name, value)
		}
	}
	resp, err := t.transport.RoundTrip(req)
	if err != nil && t.limit > 0 {
		err = nethttp.NeedsTLS(req, err)
	}
	return resp, err
}
