package httpclient

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// A request goes out as it was built, with the authorization of its API, and the reply contains the
// answer. Both transports do the same.
func TestRequests(t *testing.T) {
	t.Parallel()
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Range"), r.Header.Get("X-Own"),
			r.Header.Get("Authorization"), r.Header.Get("Content-Length"), string(body)}, "|")
		w.Header().Set("X-Goog-Generation", "17")
		w.Header().Add("X-Goog-Hash", "crc32c=AAAAAA==")
		w.Header().Add("X-Goog-Hash", "md5=XrY7u+Ae7tCTyyK7j1rNww==")
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		if r.URL.Path == "/none" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "hello")
	}))
	defer server.Close()
	type request struct {
		Request
		target   string
		download bool
	}
	var into bytes.Buffer
	tests := []struct {
		request         request
		into            io.Writer
		seen, doc, read string
		status          int
		bytes           int64
	}{
		{request{Request{Method: "GET"}, "/a%2Fb?c=d", true}, nil, "GET|/a%2Fb?c=d||||Bearer of GET||", "", "", 200, 5},
		{request{Request{Method: "GET", Offset: 3, Length: 4}, "/x", true}, &into, "GET|/x||bytes=3-6||Bearer of GET||", "", "hello", 200, 5},
		{request{Request{Method: "GET"}, "/none", true}, &into, "GET|/none||||Bearer of GET||", "hello", "", 404, 0},
		{request{Request{Method: "POST", ContentType: "text/plain", Body: strings.NewReader("body"), Size: 4, Payload: true,
			Headers: []store.Header{{Name: "x-own", Value: "v"}}}, "/p", false}, nil, "POST|/p|text/plain||v|Bearer of POST|4|body", "hello", "", 200, 0},
		{request{Request{Method: "POST"}, "/p", false}, nil, "POST|/p||||Bearer of POST|0|", "hello", "", 200, 0},
		{request{Request{Method: "DELETE"}, "/p", false}, nil, "DELETE|/p||||Bearer of DELETE||", "hello", "", 200, 0},
	}
	auth := &methodAuth{}
	api := API{Keeps: "x-goog-", Auth: auth}
	cfg := &store.Config{AppVersion: "1", Concurrency: 1}
	at := store.Address{Name: server.Listener.Addr().String()}
	for _, open := range []func(*store.Counters) (*Client, error){
		func(n *store.Counters) (*Client, error) { return api.NewOwn(cfg, at, n) },
		func(n *store.Counters) (*Client, error) { return api.NewHTTP(cfg, at, n, time.Minute) },
	} {
		var counters store.Counters
		client, err := open(&counters)
		check.OK(t, err)
		auth.calls = 0
		for _, test := range tests {
			into.Reset()
			tr := store.NewTrace(time.Now())
			r := test.request.Request
			r.Headers = slices.Clone(r.Headers)
			r.Begin(r.Method, test.request.target)
			send, doc, n := client.Do, "", int64(0)
			if test.request.download {
				send = client.Open
			}
			reply, err := send(t.Context(), &r, tr)
			if err == nil && test.request.download && reply.Status == 200 {
				n, err = reply.Receive(t.Context(), test.into, tr)
			} else if err == nil {
				doc = string(reply.Document())
			}
			if err != nil {
				t.Fatalf("%s: %v", test.seen, err)
			}
			if seen != test.seen || reply.Status != test.status || n != test.bytes || doc != test.doc || into.String() != test.read {
				t.Errorf("sent %s, want %s; status %d, %d bytes, document %q, written %q", seen, test.seen, reply.Status, n, doc, into.String())
			}
			hashes := ""
			reply.EachHeader("x-goog-hash", func(v []byte) bool { hashes += string(v) + ";"; return true })
			if reply.Header("x-goog-generation") != "17" || hashes != "crc32c=AAAAAA==;md5=XrY7u+Ae7tCTyyK7j1rNww==;" || reply.LastModified().Unix() != 1136214245 {
				t.Errorf("headers: %s, %s, %v", reply.Header("x-goog-generation"), hashes, reply.LastModified())
			}
			if tr.Status() != uint16(test.status) || tr.Requests() != 1 || (tr.LastByte() > 0) != test.request.Payload {
				t.Errorf("%s: traced status %d, %d requests, last byte %v", test.seen, tr.Status(), tr.Requests(), tr.LastByte())
			}
			r.Release()
		}
		if n := counters.Connections.Load(); n != 1 || auth.calls != 6 {
			t.Errorf("%d connections, %d authorizations", n, auth.calls)
		}
		client.Close()
	}
}

// A methodAuth authorizes a request with its method, and counts the calls.
type methodAuth struct{ calls int }

func (a *methodAuth) Ready(context.Context) error { return nil }
func (a *methodAuth) Refused()                    {}
func (a *methodAuth) Append(head []byte, r *Request) []byte {
	a.calls++
	return append(head, "Authorization: Bearer of "+r.Method+"\r\n"...)
}
