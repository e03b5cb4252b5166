package engines

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

	"warp/internal/check"
	"warp/pkg/store"
)

// oddStore passes every new connection to serve.
func oddStore(t testing.TB, serve func(c *net.TCPConn, br *bufio.Reader)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
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

// readRequest reads the head of a request. It returns false at the end.
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

// says answers every request with the same text.
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

// leanHost returns a host with a lean engine that has the given timeout.
func leanHost(t testing.TB, addr string, timeout time.Duration) *store.Host {
	t.Helper()
	cfg := store.Config{Engine: "lean", Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}
	cfg.Timeout = timeout
	return oneHost(t, cfg, addr)
}

var oddGet = store.Get{Ref: store.Ref{Bucket: "bucket", Key: "k"}}

// An oddAnswer is a store's behaviour on each connection, and the expected result.
type oddAnswer struct {
	serve func(*net.TCPConn, *bufio.Reader)
	code  string // "" = the request succeeds
}

// oddHeads are heads that are invalid, endless or unusual.
func oddHeads() map[string]oddAnswer {
	return map[string]oddAnswer{
		"nothing, and hangs up":      {once(""), store.CodeClosed},
		"reset at once":              {func(c *net.TCPConn, br *bufio.Reader) { readRequest(br); c.SetLinger(0) }, store.CodeReset},
		"silence":                    {func(c *net.TCPConn, br *bufio.Reader) { io.Copy(io.Discard, br) }, store.CodeAnswerTimeout},
		"garbage":                    {once("SSH-2.0-OpenSSH_9.2\r\n\r\n"), store.CodeBadAnswer},
		"binary":                     {once("\x00\x01\x02\xff\n\n\n"), store.CodeBadAnswer},
		"TLS alert":                  {once("\x15\x03\x01\x00\x02\x02\x46"), store.CodeClosed},
		"HTTP/2":                     {once("HTTP/2 200\r\n\r\n"), store.CodeBadAnswer},
		"HTTP/1.1 with a word":       {once("HTTP/1.1 OK\r\n\r\n"), store.CodeBadAnswer},
		"status 99":                  {once("HTTP/1.1 099 OK\r\n\r\n"), store.CodeBadAnswer},
		"half a status line":         {once("HTTP/1.1 2"), store.CodeClosed},
		"half a head":                {once(goodHead), store.CodeClosed},
		"switching protocols":        {once("HTTP/1.1 101 Go\r\n\r\n"), store.CodeBadAnswer},
		"interim answers for ever":   {once(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 10_000)), store.CodeBadAnswer},
		"interim, then good":         {says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + goodHead + "Content-Length: 2\r\n\r\nok"), ""},
		"one long line":              {once("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 20<<10) + "\r\n\r\n"), store.CodeBadAnswer},
		"headers beyond measure":     {endlessHeaders, store.CodeBadAnswer},
		"a line without end":         {endlessLine, store.CodeBadAnswer},
		"no colon":                   {once("HTTP/1.1 200 OK\r\nNonsense\r\n\r\n"), store.CodeBadAnswer},
		"folded line":                {once("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"), store.CodeBadAnswer},
		"HTTP/1.0":                   {once(strings.Replace(goodHead, "1.1", "1.0", 1) + "Content-Length: 5\r\n\r\nhello"), ""},
		"bare line feeds":            {says(strings.ReplaceAll(goodHead+"Content-Length: 5\r\n\r\nhello", "\r", "")), ""},
		"drip of a head":             {drip(goodHead), store.CodeAnswerTimeout},
		"connection close":           {once(goodHead + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"), ""},
		"closes without saying so":   {once(goodHead + "Content-Length: 5\r\n\r\nhello"), ""},
		"half-closes without saying": {halfClose, ""},
	}
}

// oddLengths are bodies of the wrong length, or with an invalid length.
func oddLengths() map[string]oddAnswer {
	return map[string]oddAnswer{
		"negative length":       {once(goodHead + "Content-Length: -5\r\n\r\n"), store.CodeBadAnswer},
		"signed length":         {once(goodHead + "Content-Length: +5\r\n\r\nhello"), store.CodeBadAnswer},
		"huge length":           {once(goodHead + "Content-Length: 99999999999999999999\r\n\r\n"), store.CodeBadAnswer},
		"two lengths":           {once(goodHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), store.CodeBadAnswer},
		"the same length twice": {says(goodHead + "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello"), ""},
		"empty length":          {once(goodHead + "Content-Length: \r\n\r\n"), store.CodeBadAnswer},
		"no length":             {once(goodHead + "\r\nhello"), ""},
		"short body":            {once(goodHead + "Content-Length: 50\r\n\r\nhello"), store.CodeShortRead},
		"short large body":      {once(goodHead + "Content-Length: 5000000\r\n\r\n" + strings.Repeat("x", 1_000_000)), store.CodeShortRead},
		"long body":             {says(goodHead + "Content-Length: 5\r\n\r\nhello, world"), ""},
		"long large body":       {says(goodHead + "Content-Length: 200000\r\n\r\n" + strings.Repeat("x", 200_010)), ""},
		"stalled body": {func(c *net.TCPConn, br *bufio.Reader) {
			once(goodHead+"Content-Length: 5\r\n\r\nhe")(c, br)
			io.Copy(io.Discard, br)
		}, store.CodeStallTimeout},
	}
}

// oddChunks are bodies without a Content-Length.
func oddChunks() map[string]oddAnswer {
	return map[string]oddAnswer{
		"chunks":                   {says(goodHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"), ""},
		"chunks that end early":    {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"), store.CodeShortRead},
		"chunks without an end":    {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), store.CodeShortRead},
		"a chunk longer than said": {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n"), store.CodeBadAnswer},
		"a chunk of size -1":       {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n-1\r\n"), store.CodeBadAnswer},
		"a chunk of size huge":     {once(goodHead + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"), store.CodeBadAnswer},
		"a chunk of 2^59":          {once(goodHead + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx"), store.CodeShortRead},
		"a long chunk line":        {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 40<<10)), store.CodeBadAnswer},
		"trailers beyond measure":  {once(goodHead + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", 100_000)), store.CodeBadAnswer},
		"gzip":                     {once(goodHead + "Transfer-Encoding: gzip\r\n\r\n"), store.CodeBadAnswer},
	}
}

// oddErrors are error answers.
func oddErrors() map[string]oddAnswer {
	return map[string]oddAnswer{
		"an error of 10 MB":        {once("HTTP/1.1 500 Oh\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 10_000_000)), "HTTP500"},
		"an error that breaks off": {once("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n<Error>"), store.CodeClosed},
		"drip of an error's head":  {drip("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100)), store.CodeAnswerTimeout},
		"drip of an error": {func(c *net.TCPConn, br *bufio.Reader) {
			once("HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n")(c, br)
			drip(strings.Repeat("x", 100))(c, bufio.NewReader(strings.NewReader("\r\n")))
		}, store.CodeStallTimeout},
		"no end of an error's body": {func(c *net.TCPConn, br *bufio.Reader) {
			once("HTTP/1.1 500 Oh\r\n\r\noh")(c, br)
			io.Copy(io.Discard, br)
		}, store.CodeStallTimeout},
	}
}

// drip sends one byte after another.
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
				limit := 15 * time.Second // far more than a busy machine needs
				if test.code == store.CodeAnswerTimeout || test.code == store.CodeStallTimeout {
					limit = time.Second
				}
				survive(t, leanHost(t, oddStore(t, test.serve), limit), test.code)
			})
		}
	}
}

// survive downloads several times, because the first request may leave something behind.
func survive(t *testing.T, h *store.Host, code string) {
	for i := range 4 {
		start := time.Now()
		_, err := h.Get(context.Background(), oddGet, store.NewTrace(start))
		if store.CodeOf(err) != code || err != nil && code == "" {
			t.Errorf("request %d: %v, want code %q", i, err, code)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("request %d took %v", i, d)
		}
		if store.IsTimeout(err) {
			break // waiting once is enough
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

// halfClose answers one request, closes only its own side, and continues to read.
func halfClose(c *net.TCPConn, br *bufio.Reader) {
	readRequest(br)
	io.WriteString(c, goodHead+"Content-Length: 5\r\n\r\nhello")
	c.CloseWrite()
	io.Copy(io.Discard, br)
}

// Endless headers do not fill the memory.
func TestLeanMemoryIsBounded(t *testing.T) {
	h := leanHost(t, oddStore(t, endlessHeaders), 5*time.Second)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if _, err := h.Get(context.Background(), oddGet, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeBadAnswer {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d bytes for 10 answers", grown)
	}
}

// A request ends at once when its context does, whatever it waits for.
func TestLeanIsInterrupted(t *testing.T) {
	t.Parallel()
	silent := func(c *net.TCPConn, br *bufio.Reader) { io.Copy(io.Discard, br) }
	deaf := func(c *net.TCPConn, _ *bufio.Reader) { time.Sleep(20 * time.Second) }
	half := func(c *net.TCPConn, br *bufio.Reader) {
		once(goodHead+"Content-Length: 5000000\r\n\r\nhe")(c, br)
		io.Copy(io.Discard, br)
	}
	get := func(ctx context.Context, h *store.Host, tr *store.Trace) error {
		_, err := h.Get(ctx, oddGet, tr)
		return err
	}
	put := func(ctx context.Context, h *store.Host, tr *store.Trace) error {
		_, err := h.Put(ctx, store.Put{Ref: oddGet.Ref, Body: payload(16 << 20), Size: 16 << 20}, tr)
		return err
	}
	for name, test := range map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		do    func(context.Context, *store.Host, *store.Trace) error
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
			err := test.do(ctx, h, store.NewTrace(start))
			if store.CodeOf(err) != store.CodeCanceled || time.Since(start) > time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			if err = test.do(ctx, h, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeCanceled {
				t.Errorf("with a context that has ended: %v", err)
			}
		})
	}
}

// Uploads end if the store reads nothing, or answers before it has read everything.
func TestLeanUploadsToOddStores(t *testing.T) {
	t.Parallel()
	const denied = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
	refusal := fmt.Sprintf("HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s", len(denied), denied)
	tests := map[string]struct {
		serve func(*net.TCPConn, *bufio.Reader)
		code  string
	}{
		"deaf":                    {func(c *net.TCPConn, _ *bufio.Reader) { time.Sleep(10 * time.Second) }, store.CodeStallTimeout},
		"refuses, and stays":      {func(c *net.TCPConn, br *bufio.Reader) { once(refusal)(c, br); time.Sleep(10 * time.Second) }, "AccessDenied"},
		"refuses, and listens on": {func(c *net.TCPConn, br *bufio.Reader) { once(refusal)(c, br); io.Copy(io.Discard, br) }, "AccessDenied"},
		"hangs up in the middle":  {func(c *net.TCPConn, br *bufio.Reader) { io.CopyN(io.Discard, br, 100_000) }, store.CodeReset},
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
			limit := time.Minute
			if test.code == store.CodeStallTimeout {
				limit = 2 * time.Second
			}
			h := leanHost(t, oddStore(t, test.serve), limit)
			_, err := h.Put(context.Background(), store.Put{Ref: oddGet.Ref, Body: payload(16 << 20), Size: 16 << 20}, store.NewTrace(time.Now()))
			if store.CodeOf(err) != test.code || err != nil && test.code == "" {
				t.Errorf("%v, want code %q", err, test.code)
			}
		})
	}
}

// An upload on a connection that the store has closed meanwhile is sent on another one, and never
// twice.
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
		tr := store.NewTrace(time.Now())
		_, err := h.Put(context.Background(), store.Put{Ref: oddGet.Ref, Body: payload(10), Size: 10}, tr)
		if err != nil || tr.Requests() != 1 || len(puts) != i+1 {
			t.Fatalf("upload %d: %v, %d requests, the store saw %d", i, err, tr.Requests(), len(puts))
		}
		time.Sleep(5 * time.Millisecond) // for the close to arrive
	}
}

// An upload right after an answer is sent without checking the connection, and repeated if it was
// closed. Later uploads, and requests that must not happen twice, check the connection and are
// never repeated.
func TestLeanRepeatsUploadsCutOffEarly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pause    time.Duration
		headers  []store.Header
		size     int64
		requests uint16 // requests of the second upload, which the store does not answer
		code     string
	}{
		"right behind":              {size: 10, requests: 2},
		"later":                     {pause: 10 * time.Millisecond, size: 10, requests: 1, code: store.CodeClosed},
		"with a condition":          {size: 10, headers: []store.Header{{Name: "if-none-match", Value: "*"}}, requests: 1, code: store.CodeClosed},
		"large, which takes longer": {size: 100 << 10, requests: 1, code: store.CodeClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int64
			addr := oddStore(t, func(c *net.TCPConn, br *bufio.Reader) {
				for readRequest(br) {
					if served.Add(1) == 2 {
						c.CloseWrite()
						io.Copy(io.Discard, br)
						return
					}
					io.CopyN(io.Discard, br, test.size)
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			})
			cfg := store.Config{Engine: "lean", UnsignedPayload: true} // the body is as long as the payload
			cfg.Timeout, cfg.Credentials = 20*time.Second, store.Keys{AccessKey: "key", SecretKey: "secret"}
			h := oneHost(t, cfg, addr)
			put := func(base time.Time) (*store.Trace, error) {
				tr := store.NewTrace(base)
				_, err := h.Put(context.Background(), store.Put{Ref: oddGet.Ref, Body: payload(int(test.size)), Size: test.size, Headers: test.headers}, tr)
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
			if store.CodeOf(err) != test.code || tr.Requests() != test.requests {
				t.Errorf("%v after %d requests, want code %q after %d", err, tr.Requests(), test.code, test.requests)
			}
		})
	}
}

// Every request ends, whatever the store sends.
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
	}), 2*time.Minute)
	f.Fuzz(func(t *testing.T, data []byte) {
		answers <- data
		start := time.Now()
		_, err := h.Get(context.Background(), oddGet, store.NewTrace(start))
		if err != nil && store.CodeOf(err) == "" {
			t.Errorf("an error without a code: %v", err)
		}
		if time.Since(start) > time.Minute {
			t.Errorf("took %v", time.Since(start))
		}
		select { // remains if the connection was replaced or never used
		case <-answers:
		default:
		}
	})
}
