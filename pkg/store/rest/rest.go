// Package rest sends requests of the stores' own APIs, over warp's own HTTP client or, if that is
// not possible, net/http. It renews the tokens of the requests.
package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/nethttp"
)

// A Caller sends requests.
type Caller interface {
	// Do sends a request. Unless onHead is nil, it calls onHead before the payload of a download
	// arrives.
	Do(ctx context.Context, c *lean.Call, onHead func(*Reply), tr *store.Trace) (Reply, error)
	// Close closes idle connections now and the others when their requests end.
	Close()
}

// An API describes how requests of a store's own API differ from others.
type API struct {
	Name  string // name of the engine, for the User-Agent
	Keeps string // prefix, in lower case, of the headers of answers to keep besides the usual ones
	// Authorize appends the header lines that identify the client, each with its line end.
	Authorize func(head []byte, c *lean.Call) []byte
	// Hosts returns the store's hosts, to which it may redirect requests. A host that is allowed
	// only because of this gets no credentials. nil = there are none.
	Hosts func(ctx context.Context) ([]string, error)

	cluster cluster
}

// New returns a caller for a host. It uses warp's own HTTP client if possible.
func (api *API) New(cfg *store.Config, a store.Address, n *store.Counters) (Caller, error) {
	if lean.WhyNoCalls(cfg, a) != "" {
		return api.NewHTTP(cfg, a, n, 0)
	}
	direct, err := lean.NewCaller(cfg, a, n, api.Keeps, api.Authorize)
	if err != nil {
		return nil, err
	}
	if api.Hosts != nil {
		direct.Known = api.knows
	}
	return leanCaller{direct}, nil
}

// NewHTTP returns a caller that uses net/http, which supports proxies and HTTP/2. limit is the max
// time for a complete answer; 0 = none.
func (api *API) NewHTTP(cfg *store.Config, a store.Address, n *store.Counters, limit time.Duration) (Caller, error) {
	transport, err := nethttp.NewTransport(cfg, a, cfg.StallTimeout(), &n.Connections)
	if err != nil {
		return nil, err
	}
	host := store.Address{Name: a.Name} // the path is part of the target
	return &httpCaller{
		api: api, base: host.URL(cfg.TLS), redirects: store.NewRedirects(cfg, &a), transport: nethttp.Tracer{Next: transport, HTTP2: cfg.HTTP2}, limit: limit,
		agent: "warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") " + api.Name, closeIdle: transport.CloseIdleConnections,
	}, nil
}

// A Reply is the answer to a request. It is valid until Release.
type Reply struct {
	lean.Reply
	http *httpReply // instead of direct
}

type httpReply struct {
	header   http.Header
	document []byte
}

// Document returns the body that was kept.
func (r *Reply) Document() []byte {
	if r.http != nil {
		return r.http.document
	}
	return r.Reply.Document()
}

// Header returns the value of a header that is kept, or "" if it is absent. The name is in lower
// case.
func (r *Reply) Header(name string) string {
	if r.http != nil {
		return r.http.header.Get(name)
	}
	return r.Reply.Header(name)
}

// EachHeader calls do for every line of the kept headers of that name, until it returns false.
func (r *Reply) EachHeader(name string, do func(value []byte) bool) {
	if r.http == nil {
		r.Reply.EachHeader(name, do)
		return
	}
	for _, line := range r.http.header.Values(name) {
		if !do([]byte(line)) {
			return
		}
	}
}

// LastModified returns the time in the Last-Modified header, or the zero time without one.
func (r *Reply) LastModified() time.Time {
	if r.http == nil {
		return r.Reply.LastModified()
	}
	t, _ := http.ParseTime(r.http.header.Get("Last-Modified"))
	return t
}

// ETag returns the ETag header without quotes. It does not allocate if the value is the one that tr
// expects.
func (r *Reply) ETag(tr *store.Trace) string {
	if r.http == nil {
		return r.Reply.ETag(tr)
	}
	return strings.Trim(r.http.header.Get("ETag"), `"`)
}

// EachNamed calls do for every kept header whose name begins with prefix, in lower case.
func (r *Reply) EachNamed(prefix string, do func(name, value string)) {
	if r.http == nil {
		r.Reply.EachNamed(prefix, do)
		return
	}
	for name, values := range r.http.header {
		if name := strings.ToLower(name); strings.HasPrefix(name, prefix) {
			do(name, values[0])
		}
	}
}

// Location returns the Location header.
func (r *Reply) Location() string {
	if r.http == nil {
		return r.Reply.Location()
	}
	return r.http.header.Get("Location")
}

// ContentType returns the Content-Type header.
func (r *Reply) ContentType() string {
	if r.http == nil {
		return r.Reply.ContentType()
	}
	return r.http.header.Get("Content-Type")
}

// Range returns the Range header.
func (r *Reply) Range() string {
	if r.http == nil {
		return r.Reply.Range()
	}
	return r.http.header.Get("Range")
}

// Length returns the Content-Length of the body; -1 = absent.
func (r *Reply) Length() int64 {
	if r.http == nil {
		return r.Reply.Length()
	}
	n, err := strconv.ParseInt(r.http.header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// Release returns the connection to the pool.
func (r *Reply) Release() {
	if r.http == nil {
		r.Reply.Release()
	}
}

// A leanCaller sends requests over warp's own connections.
type leanCaller struct{ direct *lean.Caller }

func (l leanCaller) Do(ctx context.Context, c *lean.Call, onHead func(*Reply), tr *store.Trace) (r Reply, err error) {
	if onHead != nil {
		c.OnHead = func(r *lean.Reply) { onHead(&Reply{Reply: *r}) }
	}
	r.Reply, err = l.direct.Do(ctx, c, tr)
	return r, err
}

func (l leanCaller) Close() { l.direct.Close() }

// An httpCaller sends requests through net/http.
type httpCaller struct {
	api       *API
	base      string // of URLs
	redirects *store.Redirects
	transport http.RoundTripper
	agent     string
	limit     time.Duration // max time for a complete answer; 0 = none
	closeIdle func()
}

func (h *httpCaller) Close() { h.closeIdle() }

// maxDocument limits how much of an answer is kept.
const maxDocument = 64 << 20

// Do sends a request and receives its answer.
func (h *httpCaller) Do(ctx context.Context, c *lean.Call, onHead func(*Reply), tr *store.Trace) (r Reply, err error) {
	watch := nethttp.Watch
	if c.Payload {
		watch = nethttp.WatchPayload
	}
	ctx, cancel := store.WithLimit(ctx, h.limit)
	defer cancel()
	traced, seen := watch(ctx, tr)
	defer seen()
	resp, err := h.follow(traced, c)
	if err != nil {
		return r, asError(store.LimitError(ctx, err, 0), 0)
	}
	defer resp.Body.Close()
	r.Status, r.http = resp.StatusCode, &httpReply{header: resp.Header}
	if c.Download && (r.Status == http.StatusOK || r.Status == http.StatusPartialContent) {
		if onHead != nil {
			onHead(&r)
		}
		into := c.Into
		if into == nil {
			into = io.Discard
		}
		if r.Bytes, err = io.Copy(into, resp.Body); errors.Is(err, io.ErrUnexpectedEOF) {
			err = store.Errorf(store.CodeShortRead, r.Status, "the answer ended after %d of %d bytes", r.Bytes, resp.ContentLength)
		}
	} else {
		r.http.document, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
		if len(r.http.document) > maxDocument {
			err = store.BadAnswer(r.Status, "the answer's document is longer than %d bytes", maxDocument)
		}
	}
	return r, asError(store.LimitError(ctx, err, r.Status), r.Status)
}

func asError(err error, status int) error {
	if err == nil {
		return nil
	}
	return store.AsError(err, status)
}

// send sends a request. If expect is set, it sends the payload only when the store asks for it.
func (h *httpCaller) send(ctx context.Context, c *lean.Call, address string, trusted, expect bool) (*http.Response, error) {
	var body io.Reader
	if c.Body != nil && c.Size > 0 {
		borrowed := &nethttp.BorrowedBody{Body: c.Body}
		defer borrowed.Release()
		body = io.NewSectionReader(borrowed, 0, c.Size)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, address, body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = c.Size
	req.Header.Set("User-Agent", h.agent)
	if expect {
		req.Header.Set("Expect", "100-continue")
	}
	if c.ContentType != "" {
		req.Header.Set("Content-Type", c.ContentType)
	}
	for _, x := range c.Headers {
		req.Header.Set(x.Name, x.Value)
	}
	if c.Length > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(c.Offset, 10)+"-"+strconv.FormatInt(c.Offset+c.Length-1, 10))
	}
	if trusted {
		for line := range strings.Lines(string(h.api.Authorize(nil, c))) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
			req.Header.Set(name, value)
		}
	}
	resp, err := h.transport.RoundTrip(req)
	if err != nil && h.limit > 0 {
		err = nethttp.NeedsTLS(req, err)
	}
	return resp, err
}
