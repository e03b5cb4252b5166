package lean

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/pkg/store"
)

// A call goes out as it was made, with the authorization of its caller, and the reply contains the
// answer.
func TestCalls(t *testing.T) {
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
	calls := 0
	p, err := NewCaller(&store.Config{AppVersion: "1", Concurrency: 1}, store.Address{Name: server.Listener.Addr().String()}, new(store.Counters), "x-goog-",
		func(head []byte, c *Call) []byte {
			calls++
			return append(head, "Authorization: Bearer of "+c.Method+"\r\n"...)
		})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var into bytes.Buffer
	for _, c := range []struct {
		call            Call
		seen, doc, into string
		status          int
		bytes           int64
	}{
		{Call{Method: "GET", Target: []byte("/a%2Fb?c=d"), Download: true}, "GET|/a%2Fb?c=d||||Bearer of GET||", "", "", 200, 5},
		{Call{Method: "GET", Target: []byte("/x"), Download: true, Into: &into, Offset: 3, Length: 4}, "GET|/x||bytes=3-6||Bearer of GET||", "", "hello", 200, 5},
		{Call{Method: "GET", Target: []byte("/none"), Download: true, Into: &into}, "GET|/none||||Bearer of GET||", "hello", "", 404, 0},
		{Call{Method: "POST", Target: []byte("/p"), ContentType: "text/plain", Body: strings.NewReader("body"), Size: 4, Payload: true,
			Headers: []store.Header{{Name: "x-own", Value: "v"}}}, "POST|/p|text/plain||v|Bearer of POST|4|body", "hello", "", 200, 0},
		{Call{Method: "POST", Target: []byte("/p")}, "POST|/p||||Bearer of POST|0|", "hello", "", 200, 0},
		{Call{Method: "DELETE", Target: []byte("/p")}, "DELETE|/p||||Bearer of DELETE||", "hello", "", 200, 0},
	} {
		into.Reset()
		tr := store.NewTrace(time.Now())
		r, err := p.Do(t.Context(), &c.call, tr)
		if err != nil {
			t.Fatalf("%s: %v", c.seen, err)
		}
		if seen != c.seen || r.Status != c.status || r.Bytes != c.bytes || string(r.Document()) != c.doc || into.String() != c.into {
			t.Errorf("sent %s, want %s; status %d, %d bytes, document %q, written %q", seen, c.seen, r.Status, r.Bytes, r.Document(), into.String())
		}
		hashes := ""
		r.EachHeader("x-goog-hash", func(v []byte) bool { hashes += string(v) + ";"; return true })
		if r.Header("x-goog-generation") != "17" || hashes != "crc32c=AAAAAA==;md5=XrY7u+Ae7tCTyyK7j1rNww==;" || r.LastModified().Unix() != 1136214245 {
			t.Errorf("headers: %s, %s, %v", r.Header("x-goog-generation"), hashes, r.LastModified())
		}
		if tr.Status() != uint16(c.status) || tr.Requests() != 1 || (tr.LastByte() > 0) != c.call.Payload {
			t.Errorf("%s: traced status %d, %d requests, last byte %v", c.seen, tr.Status(), tr.Requests(), tr.LastByte())
		}
		r.Release()
	}
	if n := p.e.counters.Connections.Load(); n != 1 || calls != 6 {
		t.Errorf("%d connections, %d authorizations", n, calls)
	}
}
