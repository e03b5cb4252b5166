package gcs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/nethttp"
)

// A caller sends requests of the JSON API.
type caller interface {
	// do sends a request. It calls onHead, unless that is nil, before the payload of a download comes.
	do(ctx context.Context, c *lean.Call, onHead func(*reply), tr *store.Trace) (reply, error)
	close()
}

// A reply is the answer to a request, of whatever status, and lasts until release.
type reply struct {
	lean.Reply
	http *httpReply // instead
}

type httpReply struct {
	header   http.Header
	document []byte
}

func (r *reply) document() []byte {
	if r.http != nil {
		return r.http.document
	}
	return r.Document()
}

func (r *reply) header(name string) string {
	if r.http != nil {
		return r.http.header.Get(name)
	}
	return r.Header(name)
}

// eachHash calls do for each hash of the content that the answer names, as in crc32c=n03x6A==.
func (r *reply) eachHash(do func(hash []byte)) {
	each := func(line []byte) bool {
		for hash := range bytes.SplitSeq(line, []byte(",")) {
			do(bytes.TrimSpace(hash))
		}
		return true
	}
	if r.http == nil {
		r.EachHeader("x-goog-hash", each)
		return
	}
	for _, line := range r.http.header["X-Goog-Hash"] {
		each([]byte(line))
	}
}

func (r *reply) lastModified() time.Time {
	if r.http == nil {
		return r.LastModified()
	}
	t, _ := http.ParseTime(r.http.header.Get("Last-Modified"))
	return t
}

func (r *reply) location() string {
	if r.http == nil {
		return r.Location()
	}
	return r.http.header.Get("Location")
}

func (r *reply) contentType() string {
	if r.http == nil {
		return r.ContentType()
	}
	return r.http.header.Get("Content-Type")
}

func (r *reply) received() string {
	if r.http == nil {
		return r.Range()
	}
	return r.http.header.Get("Range")
}

func (r *reply) length() int64 {
	if r.http == nil {
		return r.Length()
	}
	n, err := strconv.ParseInt(r.http.header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (r *reply) release() {
	if r.http == nil {
		r.Release()
	}
}

// A leanCaller sends requests over warp's own connections.
type leanCaller struct{ direct *lean.Caller }

func (l leanCaller) do(ctx context.Context, c *lean.Call, onHead func(*reply), tr *store.Trace) (r reply, err error) {
	if onHead != nil {
		c.OnHead = func(r *lean.Reply) { onHead(&reply{Reply: *r}) }
	}
	r.Reply, err = l.direct.Do(ctx, c, tr)
	return r, err
}

func (l leanCaller) close() { l.direct.Close() }

// An httpCaller sends requests through net/http.
type httpCaller struct {
	tokens    *tokens
	base      string // of URLs
	transport http.RoundTripper
	agent     string
	limit     time.Duration // for all of an answer; 0 = none
	closeIdle func()
}

func (h *httpCaller) close() { h.closeIdle() }

// maxDocument bounds what is kept of an answer.
const maxDocument = 64 << 20

func (h *httpCaller) do(ctx context.Context, c *lean.Call, onHead func(*reply), tr *store.Trace) (r reply, err error) {
	watch := nethttp.Watch
	if c.Payload {
		watch = nethttp.WatchPayload
	}
	ctx, cancel := store.WithLimit(ctx, h.limit)
	defer cancel()
	traced, seen := watch(ctx, tr)
	defer seen()
	resp, err := h.send(traced, c)
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

func (h *httpCaller) send(ctx context.Context, c *lean.Call) (*http.Response, error) {
	var body io.Reader
	if c.Body != nil && c.Size > 0 {
		borrowed := &nethttp.BorrowedBody{Body: c.Body}
		defer borrowed.Release()
		body = io.NewSectionReader(borrowed, 0, c.Size)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, h.base+string(c.Target), body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = c.Size
	req.Header.Set("User-Agent", h.agent)
	if c.ContentType != "" {
		req.Header.Set("Content-Type", c.ContentType)
	}
	for _, x := range c.Headers {
		req.Header.Set(x.Name, x.Value)
	}
	if c.Length > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(c.Offset, 10)+"-"+strconv.FormatInt(c.Offset+c.Length-1, 10))
	}
	if line := string(h.tokens.header()); line != "" {
		_, value, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
		req.Header.Set("Authorization", value)
	}
	resp, err := h.transport.RoundTrip(req)
	if err != nil && h.limit > 0 {
		err = nethttp.NeedsTLS(req, err)
	}
	return resp, err
}
