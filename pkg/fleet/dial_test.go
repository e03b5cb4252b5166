package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answering listens and does with each connection as it is told.
func answering(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go do(c)
		}
	}()
	return l.Addr().String()
}

// Whoever answers in place of a client is told from it in words that say what to do, and within the time that clients have.
func TestNoClient(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = discardLog()
	read := func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)) }
	silent := answering(t, func(c net.Conn) {
		read(c)
		<-t.Context().Done()
		_ = c.Close()
	})
	garbage := answering(t, func(c net.Conn) {
		read(c)
		_, _ = c.Write([]byte("\x00\x01\x02 220 mail.example ready\r\n\r\n"))
		_ = c.Close()
	})
	closes := answering(t, func(c net.Conn) { _ = c.Close() })
	client := startMachine(t, nil).addr
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
	old.Config.ErrorLog = discardLog()
	old.StartTLS()
	t.Cleanup(old.Close)
	for name, test := range map[string]struct {
		addr   string
		change func(*Options)
		want   string
	}{
		"nobody":                {"127.0.0.1:1", nil, "connection refused, so no warp client listens there"},
		"no such name":          {"nobody.invalid:7761", func(o *Options) { o.Dial = noSuchName }, "there is no such name"},
		"a web server":          {secure.Listener.Addr().String(), nil, `no warp client answers there, but something that says "404 Not Found"`},
		"a server without TLS":  {web.Listener.Addr().String(), nil, "something that speaks HTTP without TLS; where that is a warp client, it is an older version: use the same version on all machines"},
		"a server of old TLS":   {old.Listener.Addr().String(), nil, "no warp client answers there, but something that does not speak TLS as warp does: "},
		"another protocol":      {garbage, nil, "no warp client answers there, but something that does not speak TLS"},
		"hangs up":              {closes, nil, "no warp client answers there, but something that hangs up"},
		"silent":                {silent, nil, "something listens there and does not answer as warp client does"},
		"an unknown authority":  {secure.Listener.Addr().String(), func(o *Options) { o.Roots = emptyRoots() }, "from an authority in --warp-ca"},
		"its own certificate":   {client, func(o *Options) { o.Roots = emptyRoots() }, "from an authority in --warp-ca"},
		"another's certificate": {secure.Listener.Addr().String(), func(o *Options) { o.Members[0].Pin = make([]byte, 32) }, "its certificate is not the one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := lead(t, func(o *Options) {
				o.ConnectPatience = time.Second
				o.Members = []Member{{Addr: test.addr}}
				if test.change != nil {
					test.change(o)
				}
			})
			err := f.Connect(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "client "+test.addr+": ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			must(t, f.Abort(t.Context(), err))
		})
	}
}

// A web server's answer is the last word, unless clients are still being started.
func TestAnswerOfNoClient(t *testing.T) {
	t.Parallel()
	for name, starting := range map[string]bool{"clients are there": false, "clients are being started": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked atomic.Int32
			web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				if asked.Add(1) == 3 {
					cancel()
				}
			}))
			t.Cleanup(web.Close)
			f := lead(t, func(o *Options) {
				o.ConnectPatience, o.Starting = time.Hour, starting
				o.Members = []Member{{Addr: web.Listener.Addr().String()}}
			})
			err := f.Connect(ctx)
			if final := errors.Is(err, errNotWarp) && asked.Load() == 1; final == starting {
				t.Errorf("%v after %d answers", err, asked.Load())
			}
			must(t, f.Abort(t.Context(), err))
			_, err = lead(t, func(o *Options) {
				o.ConnectPatience, o.Starting = time.Hour, starting
				o.Members = []Member{{Addr: web.Listener.Addr().String()}}
			}).Collect(ctx, "", nil)
			if final := errors.Is(err, errNotWarp) && asked.Load() == 2; final == starting {
				t.Errorf("collect: %v after %d answers", err, asked.Load())
			}
		})
	}
}

// A clock is ahead or behind by a time, which has no sign.
func TestOffsetInWords(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		-9 * time.Microsecond: "behind by 9µs (round trip 1ms)", 0: "ahead by 0s (round trip 1ms)", 2 * time.Second: "ahead by 2s (round trip 1ms)",
	} {
		if got := (Offset{Ahead: ahead, RoundTrip: time.Millisecond}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func emptyRoots() *x509.CertPool { return x509.NewCertPool() }

func noSuchName(ctx context.Context, network, addr string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}}
}

// A machine that is listed by two of its names has one share only.
func TestTwoNamesOfOneClient(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	_, port, err := net.SplitHostPort(m.addr)
	must(t, err)
	f := lead(t, func(o *Options) { o.Members = []Member{{Addr: m.addr}, {Addr: "localhost:" + port}} })
	err = f.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it is part of this run already") {
		t.Errorf("%v", err)
	}
	must(t, f.Abort(t.Context(), err))
	m.waitUntilFree(t)
}

// The answer to the first message of a run may get lost; the run is the coordinator's all the same.
func TestLostAdmission(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	f := lead(t, nil, m)
	ch, err := f.dial(t.Context(), Member{Addr: m.addr}, handshakeTime)
	must(t, err)
	_, err = introduce(ch, attach{Purpose: forRun, Run: f.options.Run, Client: f.links[0].id, Key: f.key})
	must(t, err)
	ch.close() // before the link has heard of it
	must(t, f.Connect(t.Context()))
	must(t, f.Abort(t.Context(), nil))
	m.waitUntilFree(t)
}
