package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// oddStore hands every connection to serve, of which nothing has been read yet.
func oddStore(t testing.TB, serve func(c *net.TCPConn, br *bufio.Reader)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c.(*net.TCPConn), bufio.NewReader(c))
			}()
		}
	}()
	return l.Addr().String()
}

// readRequest reads one request's head; false when there is none.
func readRequest(br *bufio.Reader) bool {
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return false
		}
		if line == "\r\n" {
			return true
		}
	}
}

// says answers each request with the same text, over and over.
func says(text string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, br *bufio.Reader) {
		for readRequest(br) {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}
}

// once answers one request and hangs up.
func once(text string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, br *bufio.Reader) {
		readRequest(br)
		io.WriteString(c, text)
	}
}

const goodHead = "HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nLast-Modified: Sat, 21 Nov 2026 00:00:00 GMT\r\n"

// leanHost is a host with the lean engine that loses patience soon.
func leanHost(t testing.TB, addr string, patience time.Duration) *Host {
	t.Helper()
	h := oneHost(t, Config{Engine: "lean", Credentials: credentials.NewStaticV4("key", "secret", "")}, addr)
	e := h.Engine.(*leanEngine)
	e.limits, e.tick = leanLimits{patience, patience, patience}, min(patience/4, e.tick)
	return h
}

var oddGet = Get{Ref: Ref{Bucket: "bucket", Key: "k"}}

// An oddAnswer is what a store makes of each connection, and what the client is to make of that.
type oddAnswer struct {
	serve func(*net.TCPConn, *bufio.Reader)
	code  string // "" = the request succeeds
}

// oddHeads are heads that are none, never end, or are unusual.
func oddHeads() map[string]oddAnswer {
	return map[string]oddAnswer{
		"nothing, and hangs up":      {once(""), CodeClosed},
		"reset at once":              {func(c *net.TCPConn, br *bufio.Reader) { readRequest(br); c.SetLinger(0) }, CodeReset},
		"silence":                    {func(c *net.TCPConn, br *bufio.Reader) { io.Copy(io.Discard, br) }, CodeAnswerTimeout},
		"garbage":                    {once("SSH-2.0-OpenSSH_9.2\r\n\r\n"), CodeBadAnswer},
		"binary":                     {once("\x00\x01\x02\xff\n\n\n"), CodeBadAnswer},
		"TLS alert":                  {once("\x15\x03\x01\x00\x02\x02\x46"), CodeClosed},
		"HTTP/2":                     {once("HTTP/2 200\r\n\r\n"), CodeBadAnswer},
		"HTTP/1.1 with a word":       {once("HTTP/1.1 OK\r\n\r\n"), CodeBadAnswer},
		"status 99":                  {once("HTTP/1.1 099 OK\r\n\r\n"), CodeBadAnswer},
		"half a status line":         {once("HTTP/1.1 2"), CodeClosed},
		"half a head":                {once(goodHead), CodeClosed},
		"switching protocols":        {once("HTTP/1.1 101 Go\r\n\r\n"), CodeBadAnswer},
		"interim answers for ever":   {once(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 10_000)), CodeBadAnswer},
		"interim, then good":         {says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + goodHead + "Content-Length: 2\r\n\r\nok"), ""},
		"one long line":              {once("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 20<<10) + "\r\n\r\n"), CodeBadAnswer},
		"headers beyond measure":     {endlessHeaders, CodeBadAnswer},
		"a line without end":         {endlessLine, CodeBadAnswer},
		"no colon":                   {once("HTTP/1.1 200 OK\r\nNonsense\r\n\r\n"), CodeBadAnswer},
		"folded line":                {once("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"), CodeBadAnswer},
		"HTTP/1.0":                   {once(strings.Replace(goodHead, "1.1", "1.0", 1) + "Content-Length: 5\r\n\r\nhello"), ""},
		"bare line feeds":            {says(strings.ReplaceAll(goodHead+"Content-Length: 5\r\n\r\nhello", "\r", "")), ""},
		"drip of a head":             {drip(goodHead), CodeAnswerTimeout},
		"connection close":           {once(goodHead + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"), ""},
		"closes without saying so":   {once(goodHead + "Content-Length: 5\r\n\r\nhello"), ""},
		"half-closes without saying": {halfClose, ""},
	}
}

// oddLengths are bodies that are not as long as they should be, or that say so.
func oddLengths() map[string]oddAnswer {
	return map[string]oddAnswer{
		"negative length":       {once(goodHead + "Content-Length: -5\r\n\r\n"), CodeBadAnswer},
		"signed length":         {once(goodHead + "Content-Length: +5\r\n\r\nhello"), CodeBadAnswer},
		"huge length":           {once(goodHead + "Content-Length: 99999999999999999999\r\n\r\n"), CodeBadAnswer},
		"two lengths":           {once(goodHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), CodeBadAnswer},
		"the same length twice": {says(goodHead + "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello"), ""},
		"empty length":          {once(goodHead + "Content-Length: \r\n\r\n"), CodeBadAnswer},
		"no length":             {once(goodHead + "\r\nhello"), ""},
		"short body":            {once(goodHead + "Content-Length: 50\r\n\r\nhello"), CodeShortRead},
		"short large body":      {once(goodHead + "Content-Length: 5000000\r\n\r\n" + strings.Repeat("x", 1_000_000)), CodeShortRead},
		"long body":             {says(goodHead + "Content-Length: 5\r\n\r\nhello, world"), ""},
		"long large body":       {says(goodHead + "Content-Length: 200000\r\n\r\n" + strings.Repeat("x", 200_010)), ""},
		"stalled body": {func(c *net.TCPConn, br *bufio.Reader) {
			once(goodHead+"Content-Length: 5\r\n\r\nhe")(c, br)
			io.Copy(io.Discard, br)
		}, CodeStallTimeout},
	}
}

// oddChunks are bodies of which the length is not known ahead.
func oddChunks() map[string]oddAnswer {
	return map[string]oddAnswer{
		"chunks":                   {says(goodHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"), ""},
		"chunks that end early":    {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"), CodeShortRead},
		"chunks without an end":    {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), CodeShortRead},
		"a chunk longer than said": {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n"), CodeBadAnswer},
		"a chunk of size -1":       {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n-1\r\n"), CodeBadAnswer},
		"a chunk of size huge":     {once(goodHead + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), CodeBadAnswer},
		"a chunk of 2^59":          {once(goodHead + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx"), CodeShortRead},
		"a long chunk line":        {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 40<<10)), CodeBadAnswer},
		"trailers beyond measure":  {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", 100_000)), CodeBadAnswer},
		"gzip":                     {once(goodHead + "Transfer-Encoding: gzip\r\n\r\n"), CodeBadAnswer},
	}
}

// oddErrors are refusals.
func oddErrors() map[string]oddAnswer {
	return map[string]oddAnswer{
		"an error of 10 MB":        {once("HTTP/1.1 500 Oh\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 10_000_000)), "HTTP500"},
		"an error that breaks off": {once("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n<Error>"), CodeClosed},
		"drip of an error's head":  {drip("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100)), CodeAnswerTimeout},
		"drip of an error": {func(c *net.TCPConn, br *bufio.Reader) {
			once("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n")(c, br)
			drip(strings.Repeat("x", 100))(c, bufio.NewReader(strings.NewReader("\r\n")))
		}, CodeStallTimeout},
		"no end of an error's body": {func(c *net.TCPConn, br *bufio.Reader) {
			once("HTTP/1.1 500 Oh\r\n\r\noh")(c, br)
			io.Copy(io.Discard, br)
		}, CodeStallTimeout},
	}
}

// drip sends byte after byte.
func drip(text string) func(*net.TCPConn, *bufio.Reader) {
	return func(c *net.TCPConn, br *bufio.Reader) {
		readRequest(br)
		for i := range len(text) {
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func TestLeanSurvivesOddStores(t *testing.T) {
	t.Parallel()
	for _, tests := range []map[string]oddAnswer{oddHeads(), oddLengths(), oddChunks(), oddErrors()} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				survive(t, leanHost(t, oddStore(t, test.serve), time.Second), test.code)
			})
		}
	}
}

// survive downloads more than once, since the first time may leave something behind.
func survive(t *testing.T, h *Host, code string) {
	for i := range 4 {
		start := time.Now()
		_, err := h.Get(context.Background(), oddGet, NewTrace(start))
		if CodeOf(err) != code || err != nil && code == "" {
			t.Errorf("request %d: %v, want code %q", i, err, code)
		}
		if d := time.Since(start); d > 4*time.Second {
			t.Errorf("request %d took %v", i, d)
		}
		if IsTimeout(err) {
			break // one is enough to wait for
		}
	}
}

func endlessHeaders(c *net.TCPConn, br *bufio.Reader) {
	readRequest(br)
	io.WriteString(c, "HTTP/1.1 200 OK\r\n")
	line := []byte("X-Header: " + strings.Repeat("a", 1000) + "\r\n")
	for range 1 << 20 { // 1 GiB
		if _, err := c.Write(line); err != nil {
			return
		}
	}
}

func endlessLine(c *net.TCPConn, br *bufio.Reader) {
	readRequest(br)
	io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Header: ")
	some := make([]byte, 64<<10)
	for {
		if _, err := c.Write(some); err != nil {
			return
		}
	}
}

// halfClose answers one request, ends its own side only, and goes on reading.
func halfClose(c *net.TCPConn, br *bufio.Reader) {
	readRequest(br)
	io.WriteString(c, goodHead+"Content-Length: 5\r\n\r\nhello")
	c.CloseWrite()
	io.Copy(io.Discard, br)
}

// Headers without end must not fill the memory.
func TestLeanMemoryIsBounded(t *testing.T) {
	h := leanHost(t, oddStore(t, endlessHeaders), 5*time.Second)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if _, err := h.Get(context.Background(), oddGet, NewTrace(time.Now())); CodeOf(err) != CodeBadAnswer {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d bytes for 10 answers", grown)
	}
}

// A request that is cut off ends at once, whatever it waits for.
func TestLeanIsInterrupted(t *testing.T) {
	t.Parallel()
	silent := func(c *net.TCPConn, br *bufio.Reader) { io.Copy(io.Discard, br) }
	deaf := func(c *net.TCPConn, _ *bufio.Reader) { time.Sleep(20 * time.Second) }
	half := func(c *net.TCPConn, br *bufio.Reader) {
		once(goodHead+"Content-Length: 5000000\r\n\r\nhe")(c, br)
		io.Copy(io.Discard, br)
	}
	get := func(ctx context.Context, h *Host, tr *Trace) error { _, err := h.Get(ctx, oddGet, tr); return err }
	put := func(ctx context.Context, h *Host, tr *Trace) error {
		_, err := h.Put(ctx, Put{Ref: oddGet.Ref, Body: payload(16 << 20), Size: 16 << 20}, tr)
		return err
	}
	for name, test := range map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		do    func(context.Context, *Host, *Trace) error
	}{
		"waiting for an answer": {silent, get},
		"receiving":             {half, get},
		"sending":               {deaf, put},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := leanHost(t, oddStore(t, test.serve), time.Minute)
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(200*time.Millisecond, cancel)
			start := time.Now()
			err := test.do(ctx, h, NewTrace(start))
			if CodeOf(err) != CodeCanceled || time.Since(start) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			if err = test.do(ctx, h, NewTrace(time.Now())); CodeOf(err) != CodeCanceled {
				t.Errorf("with a context that has ended: %v", err)
			}
		})
	}
}

// A store that takes nothing, and one that answers before it has taken all.
func TestLeanUploadsToOddStores(t *testing.T) {
	t.Parallel()
	const denied = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
	refusal := fmt.Sprintf("HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s", len(denied), denied)
	tests := map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		code  string
	}{
		"deaf":                    {func(c *net.TCPConn, _ *bufio.Reader) { time.Sleep(10 * time.Second) }, CodeStallTimeout},
		"refuses, and stays":      {func(c *net.TCPConn, br *bufio.Reader) { once(refusal)(c, br); time.Sleep(10 * time.Second) }, "AccessDenied"},
		"refuses, and listens on": {func(c *net.TCPConn, br *bufio.Reader) { once(refusal)(c, br); io.Copy(io.Discard, br) }, "AccessDenied"},
		"hangs up in the middle":  {func(c *net.TCPConn, br *bufio.Reader) { io.CopyN(io.Discard, br, 100_000) }, CodeReset},
		"answers when all is read": {func(c *net.TCPConn, br *bufio.Reader) {
			readRequest(br)
			io.CopyN(io.Discard, br, 16<<20)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			io.Copy(io.Discard, br)
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := leanHost(t, oddStore(t, test.serve), 2*time.Second)
			_, err := h.Put(context.Background(), Put{Ref: oddGet.Ref, Body: payload(16 << 20), Size: 16 << 20}, NewTrace(time.Now()))
			if CodeOf(err) != test.code || err != nil && test.code == "" {
				t.Errorf("%v, want code %q", err, test.code)
			}
		})
	}
}

// An upload on a connection that the store has closed meanwhile is sent on
// another one, and never twice.
func TestLeanReplacesDeadConnections(t *testing.T) {
	t.Parallel()
	puts := make(chan int, 100)
	h := leanHost(t, oddStore(t, func(c *net.TCPConn, br *bufio.Reader) {
		readRequest(br)
		io.CopyN(io.Discard, br, 10)
		puts <- 1
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}), time.Second)
	for i := range 20 {
		tr := NewTrace(time.Now())
		_, err := h.Put(context.Background(), Put{Ref: oddGet.Ref, Body: payload(10), Size: 10}, tr)
		if err != nil || tr.Requests() != 1 || len(puts) != i+1 {
			t.Fatalf("upload %d: %v, %d requests, the store saw %d", i, err, tr.Requests(), len(puts))
		}
		time.Sleep(5 * time.Millisecond) // for the end to arrive
	}
}

// An upload right behind an answer goes out without a look at the connection, and once more where that had been
// closed. Later ones, and those that are not the same when they are done twice, are looked at, and never repeated.
func TestLeanRepeatsHastyUploads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pause    time.Duration
		headers  []Header
		size     int64
		requests uint16 // of the second upload, which the store does not answer
		code     string
	}{
		"right behind":              {size: 10, requests: 2},
		"later":                     {pause: 2 * leanHaste, size: 10, requests: 1, code: CodeClosed},
		"with a condition":          {size: 10, headers: []Header{{"if-none-match", "*"}}, requests: 1, code: CodeClosed},
		"large, which takes longer": {size: 100 << 10, requests: 1, code: CodeClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int64
			h := leanHost(t, oddStore(t, func(c *net.TCPConn, br *bufio.Reader) {
				for readRequest(br) {
					if served.Add(1) == 2 {
						c.CloseWrite()
						io.Copy(io.Discard, br)
						return
					}
					io.CopyN(io.Discard, br, test.size)
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}), time.Second)
			h.Engine.(*leanEngine).unsigned = true // the body is as long as the payload
			put := func(base time.Time) (*Trace, error) {
				tr := NewTrace(base)
				_, err := h.Put(context.Background(), Put{Ref: oddGet.Ref, Body: payload(int(test.size)), Size: test.size, Headers: test.headers}, tr)
				return tr, err
			}
			start := time.Now()
			if tr, err := put(start); err != nil || tr.Requests() != 1 {
				t.Fatal(tr.Requests(), err)
			}
			if test.pause > 0 {
				time.Sleep(test.pause)
				start = time.Now()
			}
			tr, err := put(start)
			if CodeOf(err) != test.code || tr.Requests() != test.requests {
				t.Errorf("%v after %d requests, want code %q after %d", err, tr.Requests(), test.code, test.requests)
			}
		})
	}
}

func FuzzLeanHead(f *testing.F) {
	f.Add([]byte(goodHead+"Content-Length: 5\r\n\r\n"), 7)
	f.Add([]byte("HTTP/1.0 404 Not Found\r\nConnection: keep-alive, close\r\nx-amz-bucket-region: eu\r\n\r\n"), 1)
	f.Add([]byte("HTTP/1.1 200\nTransfer-Encoding: chunked\nETag: \"\"\n\n"), 3)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\n"), 20)
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), 0)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole, pieces := &leanHead{}, &leanHead{}
		whole.reset(true)
		pieces.reset(true)
		used, done, err := whole.feed(data)
		if used > len(data) || whole.length < -1 || err == nil && done && whole.status < 100 {
			t.Fatalf("used %d of %d, %+v", used, len(data), whole)
		}
		if len(data) == 0 {
			return
		}
		cut = max(cut, -cut, 0) % len(data)
		// The same bytes in two pieces mean the same.
		n, over, err2 := pieces.feed(data[:cut])
		if !over && err2 == nil {
			var m int
			m, over, err2 = pieces.feed(data[n:])
			n += m
		}
		if n != used || over != done || fmt.Sprint(err2) != fmt.Sprint(err) || fmt.Sprintf("%+v", pieces) != fmt.Sprintf("%+v", whole) {
			t.Errorf("in one piece %d %t %v %+v\nin two %d %t %v %+v", used, done, err, whole, n, over, err2, pieces)
		}
	})
}

// Whatever a store sends, a request ends.
func FuzzLeanAnswer(f *testing.F) {
	for _, body := range []string{"Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n", "\r\nhello"} {
		f.Add([]byte(goodHead + body))
	}
	f.Add([]byte("HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\n<Error>"))
	answers := make(chan []byte, 1)
	h := leanHost(f, oddStore(f, func(c *net.TCPConn, br *bufio.Reader) {
		if readRequest(br) {
			c.Write(<-answers)
		}
	}), 5*time.Second)
	f.Fuzz(func(t *testing.T, data []byte) {
		answers <- data
		start := time.Now()
		_, err := h.Get(context.Background(), oddGet, NewTrace(start))
		if err != nil && CodeOf(err) == "" {
			t.Errorf("an error without a code: %v", err)
		}
		if time.Since(start) > 4*time.Second {
			t.Errorf("took %v", time.Since(start))
		}
		select { // left where the connection was replaced or never used
		case <-answers:
		default:
		}
	})
}
