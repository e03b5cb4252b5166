package enginetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// An oddity is something that HTTP or S3's documentation does not forbid, or that stores do all the same, and that
// engines have to bear.
type oddity struct {
	name      string
	noExpect  bool   // the store does not answer Expect: 100-continue, and waits for the body
	continues int    // the number of interim answers before each answer
	version   string // of HTTP in answers; "" = 1.1
	hangsUp   bool   // after each answer
	announces bool   // it says so: Connection: close
	chunked   bool   // without Content-Length
	header    func(http.Header)
	named     func(string) string // changes the names of headers
	body      func([]byte) []byte
	lacks     Lacks // of the store with this oddity
}

func oddities() []oddity {
	return []oddity{
		{name: "drops Expect", noExpect: true},
		{name: "continues twice", continues: 2},
		{name: "closes each connection", hangsUp: true, announces: true},
		{name: "HTTP 1.0", version: "1.0", hangsUp: true},
		{name: "headers in odd case", named: oddCase},
		{name: "chunked without length", chunked: true},
		{name: "ETag without quotes", header: unquoteETag, body: unquoteETags},
		{name: "no Last-Modified", header: func(h http.Header) { h.Del("Last-Modified") }, lacks: Lacks{Times: true}},
	}
}

func oddCase(name string) string {
	runes := []rune(strings.ToLower(name))
	for i := range runes {
		if i%2 == 1 {
			runes[i] = unicode.ToUpper(runes[i])
		}
	}
	return string(runes)
}

func unquoteETag(h http.Header) {
	if tag := h.Get("ETag"); tag != "" {
		h.Set("ETag", strings.Trim(tag, `"`))
	}
}

var quotedETag = regexp.MustCompile(`(?i)(<ETag>)(?:&quot;|&#34;|")([^<]*?)(?:&quot;|&#34;|")(</ETag>)`)

func unquoteETags(body []byte) []byte { return quotedETag.ReplaceAll(body, []byte("$1$2$3")) }

// WithOddities calls run once for each oddity, in parallel. Through starts a proxy in front of a store, whose answers
// have the oddity.
func WithOddities(t *testing.T, run func(t *testing.T, through func(store string) (addr string), lacks Lacks)) {
	t.Helper()
	for _, o := range oddities() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			run(t, func(store string) string { return o.listen(t, store) }, o.lacks)
		})
	}
}

// listen starts the proxy.
func (o *oddity) listen(t *testing.T, store string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for br := bufio.NewReader(c); o.exchange(c, br, store, transport); {
				}
			}()
		}
	}()
	return l.Addr().String()
}

// exchange passes on a request and its answer. It returns false if the connection is over.
func (o *oddity) exchange(c net.Conn, br *bufio.Reader, store string, transport *http.Transport) bool {
	r, err := http.ReadRequest(br)
	if err != nil {
		return false
	}
	expects := strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	continues := o.continues
	if expects && !o.noExpect {
		continues = max(continues, 1)
	}
	_, _ = io.WriteString(c, strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", continues))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Header.Del("Expect")
	quoteConditions(r.Header)
	r.Body, r.ContentLength, r.TransferEncoding, r.RequestURI = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil, ""
	if len(body) == 0 {
		r.Body = http.NoBody // or it would be sent in chunks
	}
	r.URL.Scheme, r.URL.Host = "http", store
	a, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return false
	}
	return o.answer(c, r, a, text) == nil && !o.hangsUp && !r.Close
}

// quoteConditions gives tags of the store their quotes back.
func quoteConditions(h http.Header) {
	for _, name := range []string{"If-Match", "If-None-Match", "X-Amz-Copy-Source-If-Match", "X-Ms-Source-If-Match"} {
		if tag := h.Get(name); tag != "" && tag != "*" && !strings.HasPrefix(tag, `"`) && !strings.Contains(tag, "/") {
			h.Set(name, `"`+tag+`"`)
		}
	}
}

func (o *oddity) answer(c net.Conn, r *http.Request, a *http.Response, text []byte) error {
	bodiless := r.Method == http.MethodHead || a.StatusCode == http.StatusNoContent || a.StatusCode == http.StatusNotModified
	if o.header != nil {
		o.header(a.Header)
	}
	if o.body != nil && strings.Contains(a.Header.Get("Content-Type"), "xml") {
		text = o.body(text)
	}
	a.Header.Del("Connection")
	if o.announces {
		a.Header.Set("Connection", "close")
	}
	switch {
	case r.Method == http.MethodHead && a.ContentLength >= 0:
		a.Header.Set("Content-Length", fmt.Sprint(a.ContentLength))
	case bodiless:
	case o.chunked:
		a.Header.Del("Content-Length")
		a.Header.Set("Transfer-Encoding", "chunked")
	default:
		a.Header.Set("Content-Length", fmt.Sprint(len(text)))
	}
	version := o.version
	if version == "" {
		version = "1.1"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/%s %s\r\n", version, a.Status)
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		for _, value := range a.Header[name] {
			shown := name
			if o.named != nil {
				shown = o.named(name)
			}
			fmt.Fprintf(&b, "%s: %s\r\n", shown, value)
		}
	}
	b.WriteString("\r\n")
	switch {
	case bodiless:
	case o.chunked:
		for part := range slices.Chunk(text, 1000) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
		}
		b.WriteString("0\r\n\r\n")
	default:
		b.Write(text)
	}
	_, err := c.Write(b.Bytes())
	return err
}
