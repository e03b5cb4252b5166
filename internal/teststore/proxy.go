package teststore

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Fault is something that goes wrong with some requests. The first fault that matches a request
// applies to it. The matching requests to hit are counted, not random, so that a test knows their
// exact number: with Every 50 and Of 2, two out of every fifty.
type Fault struct {
	Match func(*http.Request) bool // nil matches every request
	Every int                      // the length of the cycle; 0 means 1
	Of    int                      // number of hits at the end of each cycle; 0 means 1
	Times int                      // max number of hits; 0 means no limit

	// The effects; several may be set.
	Status      int           // answered with an S3 error, unless 2xx, instead of asking the store
	Code        string        // code of that error; "" means SlowDown
	Delay       time.Duration // before the answer
	ResetAfter  int64         // reset the connection after this many bytes of the answer's body, if above 0
	Reset       bool          // reset the connection instead of answering; with ResetAfter, after that
	Truncate    int64         // end the answer's body this many bytes early and close the connection
	Corrupt     bool          // change the first byte of the answer's body
	Flip        bool          // flip one bit of the answer's body
	FlipAt      int64         // in the byte at this offset
	ETag        string        // replaces the store's ETag
	ExtraLength int64         // added to the announced Content-Length, and sent as zero bytes

	seen, hit int
}

// A Seen is a request that went through a proxy.
type Seen struct {
	Method, Path, Query string // as sent, still escaped
	Header              http.Header
	BytesIn, BytesOut   int64 // bodies of request and answer
	Status              int   // 0 if the connection was reset before an answer
	Fault               *Fault
	Start               time.Time
	Duration            time.Duration
}

// A Proxy is in front of a store, records requests, and injects faults. It does not change host and
// path, so that signatures stay valid.
type Proxy struct {
	Endpoint string // host:port to connect to

	target    string
	server    *http.Server
	transport *http.Transport
	frozen    atomic.Int64

	mu       sync.Mutex
	faults   []*Fault
	requests []*Seen
	inFlight int
}

// NewProxy starts a proxy in front of an endpoint (host:port, plain HTTP) for the duration of a
// test.
func NewProxy(t testing.TB, endpoint string, faults ...*Fault) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Endpoint: l.Addr().String(), target: endpoint, faults: faults,
		transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}
	p.server = &http.Server{Handler: p}
	done := make(chan struct{})
	go func() { p.server.Serve(l); close(done) }()
	t.Cleanup(func() {
		p.server.Close()
		<-done
		p.transport.CloseIdleConnections()
	})
	return p
}

// Inject replaces the faults.
func (p *Proxy) Inject(faults ...*Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
}

// Freeze delays every answer until d from now, including answers to requests that arrive meanwhile.
func (p *Proxy) Freeze(d time.Duration) { p.frozen.Store(time.Now().Add(d).UnixNano()) }

// Requests returns the requests so far in order of arrival, filtered by keep (nil keeps all). It
// briefly waits for handlers, because a client may call it before the handler of its last request
// has ended.
func (p *Proxy) Requests(keep func(*Seen) bool) []Seen {
	for deadline := time.Now().Add(time.Second); p.busy() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Seen
	for _, s := range p.requests {
		if keep == nil || keep(s) {
			out = append(out, *s)
		}
	}
	return out
}

func (p *Proxy) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inFlight > 0
}

// Count returns the number of requests of a method.
func (p *Proxy) Count(method string) int {
	return len(p.Requests(func(s *Seen) bool { return s.Method == method }))
}

// Hits returns the number of requests with a fault.
func (p *Proxy) Hits() int {
	return len(p.Requests(func(s *Seen) bool { return s.Fault != nil }))
}

// Forget drops the recorded requests.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// OnObject matches requests of a method about an object rather than a bucket.
func OnObject(method string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		return r.Method == method && key != ""
	}
}

// fault selects the fault for a request.
func (p *Proxy) fault(r *http.Request) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if f.Match != nil && !f.Match(r) {
			continue
		}
		every, of := max(f.Every, 1), max(f.Of, 1)
		f.seen++
		if (f.seen-1)%every < every-of || f.Times > 0 && f.hit >= f.Times {
			continue
		}
		f.hit++
		return f
	}
	return nil
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &Seen{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header.Clone(),
		Start: time.Now(), Fault: p.fault(r)}
	end := *seen // a copy, because others may read seen meanwhile
	p.begin(seen)
	body := &counter{r: r.Body}
	r.Body = io.NopCloser(body)
	// Also if the handler panics, which is how it breaks a connection.
	defer func() {
		end.BytesIn, end.Duration = body.n.Load(), time.Since(seen.Start)
		p.end(seen, end)
	}()
	p.handle(w, r, &end)
}

func (p *Proxy) begin(s *Seen) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, s)
	p.inFlight++
}

func (p *Proxy) end(s *Seen, final Seen) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*s = final
	p.inFlight--
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request, seen *Seen) {
	f := seen.Fault
	if f == nil {
		f = &Fault{}
	}
	if f.Status != 0 {
		io.Copy(io.Discard, r.Body)
		p.wait(f)
		seen.Status = f.Status
		seen.BytesOut = f.answer(w, r)
		return
	}
	resp, err := p.forward(r)
	if err != nil {
		seen.Status = http.StatusBadGateway
		http.Error(w, "proxy: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	p.wait(f)
	if f.Reset && f.ResetAfter == 0 {
		reset(w)
	}
	seen.Status = resp.StatusCode
	f.pass(w, r, resp, &seen.BytesOut)
}

// forward sends a request to the store unchanged.
func (p *Proxy) forward(r *http.Request) (*http.Response, error) {
	out := &http.Request{
		Method: r.Method, Host: r.Host, ContentLength: r.ContentLength, Body: r.Body,
		// Opaque keeps the path as the client escaped and signed it.
		URL:    &url.URL{Scheme: "http", Host: p.target, Opaque: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery},
		Header: maps.Clone(r.Header), TransferEncoding: slices.Clone(r.TransferEncoding),
	}
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = []string{""} // otherwise the transport adds its own
	}
	return p.transport.RoundTrip(out.WithContext(r.Context()))
}

func (p *Proxy) wait(f *Fault) {
	time.Sleep(f.Delay)
	for until := p.frozen.Load(); until != 0; until = p.frozen.Load() {
		d := time.Until(time.Unix(0, until))
		if d <= 0 {
			return
		}
		time.Sleep(d)
	}
}

// answer answers in place of the store.
func (f *Fault) answer(w http.ResponseWriter, r *http.Request) int64 {
	if f.Status < 300 {
		if f.ETag != "" {
			w.Header().Set("ETag", f.ETag)
		}
		w.WriteHeader(f.Status)
		return 0
	}
	code := f.Code
	if code == "" {
		code = "SlowDown"
	}
	body := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>injected by the test</Message><Resource>%s</Resource></Error>`,
		code, r.URL.Path)
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	if r.Method == http.MethodHead {
		return 0
	}
	n, _ := io.WriteString(w, body)
	return int64(n)
}

// pass forwards the store's answer, changed by the fault.
func (f *Fault) pass(w http.ResponseWriter, r *http.Request, resp *http.Response, sent *int64) {
	h := w.Header()
	maps.Copy(h, resp.Header)
	if f.ETag != "" {
		h.Set("ETag", f.ETag)
	}
	length := resp.ContentLength
	if length >= 0 {
		h.Set("Content-Length", strconv.FormatInt(length+f.ExtraLength, 10))
	}
	w.WriteHeader(resp.StatusCode)
	if r.Method == http.MethodHead {
		return
	}
	stop := int64(-1) // the connection ends after so many bytes
	switch {
	case f.ResetAfter > 0:
		stop = f.ResetAfter
	case f.Truncate > 0:
		stop = max(length-f.Truncate, 0)
	}
	body := io.MultiReader(resp.Body, io.LimitReader(zeros{}, f.ExtraLength))
	if stop >= 0 {
		body = io.LimitReader(body, stop)
	}
	if f.Corrupt {
		body = corrupted(body)
	}
	if f.Flip {
		body = &flipper{r: body, at: f.FlipAt}
	}
	*sent, _ = io.Copy(w, body)
	if stop >= 0 {
		http.NewResponseController(w).Flush() // otherwise a short answer would not arrive at all
	}
	switch {
	case f.ResetAfter > 0:
		reset(w)
	case stop >= 0:
		panic(http.ErrAbortHandler) // closes the connection
	}
}

// reset ends the connection with an RST instead of an orderly end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
	panic(http.ErrAbortHandler)
}

type counter struct {
	r io.Reader
	n atomic.Int64 // the transport may still read after the answer has arrived
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func corrupted(r io.Reader) io.Reader {
	br := bufio.NewReader(r)
	b, err := br.ReadByte()
	if err != nil {
		return br
	}
	return io.MultiReader(strings.NewReader(string([]byte{b ^ 0xff})), br)
}

// A flipper flips the lowest bit of the byte at an offset.
type flipper struct {
	r  io.Reader
	at int64 // relative to the unread part
}

func (f *flipper) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if f.at >= 0 && f.at < int64(n) {
		p[f.at] ^= 1
	}
	f.at -= int64(n)
	return n, err
}
