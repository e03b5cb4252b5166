package engines

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/pkg/store"
)

// tlsStore is an oddStore with TLS up to maxVersion. serve also gets the TCP connection.
func tlsStore(t testing.TB, maxVersion uint16, serve func(tcp *net.TCPConn, c *tls.Conn, br *bufio.Reader)) (addr string) {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	t.Cleanup(srv.Close)
	cfg := &tls.Config{Certificates: srv.TLS.Certificates, MaxVersion: maxVersion}
	return oddStore(t, func(tcp *net.TCPConn, _ *bufio.Reader) {
		c := tls.Server(tcp, cfg)
		serve(tcp, c, bufio.NewReader(c))
	})
}

// tlsHost returns a host with TLS and a lean engine with a short timeout.
func tlsHost(t testing.TB, addr string, timeout time.Duration) *store.Host {
	t.Helper()
	cfg := store.Config{Engine: "lean", TLS: true, Insecure: true, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}
	cfg.Timeout = timeout
	return oneHost(t, cfg, addr)
}

func putPayload(ctx context.Context, h *store.Host, size int, tr *store.Trace) error {
	_, err := h.Put(ctx, store.Put{Ref: oddGet.Ref, Body: payload(size), Size: int64(size)}, tr)
	return err
}

const goodAnswer = goodHead + "Content-Length: 5\r\n\r\nhello"

// Whatever happens to a TLS connection, the request ends, and the error says why.
func TestLeanSurvivesOddTLS(t *testing.T) {
	t.Parallel()
	const put = 16 << 20
	tests := map[string]struct {
		serve func(tcp *net.TCPConn, c *tls.Conn, br *bufio.Reader)
		size  int // of an upload; 0 = download
		code  string
	}{
		"stops reading":            {func(_ *net.TCPConn, c *tls.Conn, _ *bufio.Reader) { c.Handshake(); <-t.Context().Done() }, put, store.CodeStallTimeout},
		"stops reading at the end": {func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) { readRequest(br); io.Copy(io.Discard, br) }, 1000, store.CodeAnswerTimeout},
		"hangs up in the middle":   {func(_ *net.TCPConn, _ *tls.Conn, br *bufio.Reader) { io.CopyN(io.Discard, br, 100_000) }, put, store.CodeReset},
		"refuses, and listens on": {func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
			readRequest(br)
			io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			io.Copy(io.Discard, br)
		}, put, "AccessDenied"},
		"a record that is cut off": {func(tcp *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
			readRequest(br)
			tcp.Write([]byte("\x17\x03\x03\x01\x00half"))
		}, 0, store.CodeClosed},
		"a record that is another's": {func(tcp *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
			readRequest(br)
			tcp.Write([]byte("\x17\x03\x03\x00\x20" + strings.Repeat("x", 32)))
		}, 0, store.CodeTLS},
		"an answer that is cut off": {func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
			readRequest(br)
			io.WriteString(c, goodHead+"Content-Length: 50\r\n\r\nhello")
		}, 0, store.CodeShortRead},
		"silence": {func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) { io.Copy(io.Discard, br) }, 0, store.CodeAnswerTimeout},
		"hangs up after each answer": {func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
			readRequest(br)
			io.WriteString(c, goodAnswer)
			c.Close()
		}, 0, ""},
	}
	for name, test := range tests {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(name+"/"+tls.VersionName(version), func(t *testing.T) {
				t.Parallel()
				limit := time.Minute
				if test.code == store.CodeAnswerTimeout || test.code == store.CodeStallTimeout {
					limit = 4 * time.Second // in which a busy machine agrees on TLS
				}
				h := tlsHost(t, tlsStore(t, version, test.serve), limit)
				if test.size == 0 {
					survive(t, h, test.code)
					return
				}
				start := time.Now()
				err := putPayload(t.Context(), h, test.size, store.NewTrace(start))
				if store.CodeOf(err) != test.code || time.Since(start) > time.Minute {
					t.Errorf("%v after %v, want code %q", err, time.Since(start), test.code)
				}
			})
		}
	}
}

// A request over TLS ends at once when its context does, even while it is being sent.
func TestLeanIsInterruptedUnderTLS(t *testing.T) {
	t.Parallel()
	deaf := func(_ *net.TCPConn, c *tls.Conn, _ *bufio.Reader) { c.Handshake(); <-t.Context().Done() }
	for _, size := range []int{10, 16 << 20} {
		h := tlsHost(t, tlsStore(t, 0, deaf), time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		start := time.Now()
		if err := putPayload(ctx, h, size, store.NewTrace(start)); store.CodeOf(err) != store.CodeCanceled || time.Since(start) > time.Minute {
			t.Errorf("%d bytes: %v after %v", size, err, time.Since(start))
		}
	}
}

// A store learns when a connection ends, and why none is made.
func TestLeanSaysGoodByeUnderTLS(t *testing.T) {
	t.Parallel()
	ends := make(chan error, 1)
	srv := func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) {
		for {
			if err := c.Handshake(); err != nil {
				ends <- err
				return
			}
			if _, err := br.Peek(1); err != nil {
				ends <- err
				return
			}
			readRequest(br)
			io.WriteString(c, goodAnswer)
		}
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		addr := tlsStore(t, version, srv)
		h := tlsHost(t, addr, time.Minute)
		if _, err := h.Get(t.Context(), oddGet, store.NewTrace(time.Now())); err != nil {
			t.Fatal(err)
		}
		h.Close()
		if err := <-ends; err != io.EOF { // unexpected EOF without a TLS alert
			t.Errorf("%s: the connection ended with %v", tls.VersionName(version), err)
		}
		strict := oneHost(t, store.Config{Engine: "lean", TLS: true, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, addr)
		if _, err := strict.Get(t.Context(), oddGet, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeTLS {
			t.Errorf("an unknown authority: %v", err)
		}
		var alert tls.AlertError
		if err := <-ends; !errors.As(err, &alert) && !strings.Contains(err.Error(), "bad certificate") {
			t.Errorf("%s: the store heard %v", tls.VersionName(version), err)
		}
	}
}

// The last byte of an upload counts as sent before the store can have it, however busy the client
// is. So the time to first byte is never shorter than the store's.
func TestLastByteIsNotedBeforeItArrives(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	serve := func(c net.Conn, br *bufio.Reader) {
		for {
			n, ok := requestBody(br)
			if !ok {
				return
			}
			io.CopyN(io.Discard, br, n)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nETag: \"%d\"\r\nContent-Length: 0\r\n\r\n", time.Since(begin))
		}
	}
	for name, cfg := range map[string]store.Config{
		"lean": {Engine: "lean"}, "minio": {Engine: "minio"},
		"lean, TLS": {Engine: "lean", TLS: true}, "minio, TLS": {Engine: "minio", TLS: true},
		"lean, unsigned": {Engine: "lean", UnsignedPayload: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := oddStore(t, func(c *net.TCPConn, br *bufio.Reader) { serve(c, br) })
			if cfg.TLS {
				addr = tlsStore(t, 0, func(_ *net.TCPConn, c *tls.Conn, br *bufio.Reader) { serve(c, br) })
			}
			cfg.Insecure, cfg.Credentials = true, store.Keys{AccessKey: "key", SecretKey: "secret"}
			h := oneHost(t, cfg, addr)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					for _, size := range []int{1000, 300_000, 60_000, 1000, 1000, 1000} {
						tr := store.NewTrace(begin)
						o, err := h.Put(t.Context(), store.Put{Ref: oddGet.Ref, Body: payload(size), Size: int64(size)}, tr)
						arrived, _ := strconv.ParseInt(o.ETag, 10, 64)
						if err != nil || tr.LastByte() == 0 || tr.LastByte() > time.Duration(arrived) {
							t.Errorf("%d bytes: sent at %v, arrived at %v: %v", size, tr.LastByte(), time.Duration(arrived), err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// requestBody reads the head of a request and returns the length of its body. It returns false at
// the end.
func requestBody(br *bufio.Reader) (n int64, ok bool) {
	for {
		line, err := br.ReadSlice('\n')
		if err != nil {
			return 0, false
		}
		if value, found := strings.CutPrefix(string(line), "Content-Length: "); found {
			n, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
		if len(line) <= 2 {
			return n, true
		}
	}
}
