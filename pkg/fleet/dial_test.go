package fleet

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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
	plain := startMachine(t, nil).addr
	for name, test := range map[string]struct {
		addr   string
		change func(*Options)
		want   string
	}{
		"nobody":                {"127.0.0.1:1", nil, "connection refused, so no warp client listens there"},
		"no such name":          {"nobody.invalid:7761", func(o *Options) { o.Dial = noSuchName }, "there is no such name"},
		"a web server":          {web.Listener.Addr().String(), nil, `no warp client answers there, but something that says "404 Not Found"`},
		"another protocol":      {garbage, nil, "no warp client answers there, but something that does not speak HTTP"},
		"hangs up":              {closes, nil, "no warp client answers there, but something that hangs up"},
		"silent":                {silent, nil, "something listens there and does not answer as warp client does"},
		"TLS for plain":         {secure.Listener.Addr().String(), nil, "it talks TLS: give its fingerprint"},
		"plain for TLS":         {plain, func(o *Options) { o.Members[0].Pin = make([]byte, 32) }, "it does not talk TLS: leave out --warp-ca and the fingerprint"},
		"an unknown authority":  {secure.Listener.Addr().String(), func(o *Options) { o.Roots = emptyRoots() }, "from an authority in --warp-ca"},
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
