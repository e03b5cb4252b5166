package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

// answering listens and calls do with each connection.
func answering(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
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

// An error about something that answers in place of a client says what to do, within the time that clients have.
func TestNoClient(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
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
	client, _ := serve(t, nil)
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	t.Cleanup(old.Close)
	for name, test := range map[string]struct {
		addr   string
		change func(*Dialer)
		want   string
	}{
		"nobody":               {"127.0.0.1:1", nil, "connection refused, so no warp client listens there"},
		"no such name":         {"nobody.invalid:7761", func(d *Dialer) { d.Dial = noSuchName }, "there is no such name"},
		"a web server":         {secure.Listener.Addr().String(), nil, `something other than a warp client answers there: it says "404 Not Found"`},
		"a server without TLS": {web.Listener.Addr().String(), nil, "something other than a warp client answers there: it speaks HTTP without TLS; if it is a warp client, it is an older version, so use the same version on all machines"},
		"a server of old TLS":  {old.Listener.Addr().String(), nil, "something other than a warp client answers there: it does not speak TLS as warp does: "},
		"another protocol":     {garbage, nil, "something other than a warp client answers there: it does not speak TLS"},
		"hangs up":             {closes, nil, "something other than a warp client answers there: it hangs up"},
		"silent":               {silent, nil, "something listens there, but does not answer as warp client does"},
		"an unknown authority": {secure.Listener.Addr().String(), func(d *Dialer) { d.Roots = x509.NewCertPool() }, "from an authority in --warp-ca"},
		"its own certificate":  {client, func(d *Dialer) { d.Roots = x509.NewCertPool() }, "from an authority in --warp-ca"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &Dialer{Identity: Identity{Protocol: testProtocol, Warp: "test", Token: testToken}}
			if test.change != nil {
				test.change(d)
			}
			timeout := time.Minute
			if test.addr == silent {
				timeout = 4 * time.Second // in which a busy machine connects
			}
			_, err := d.Connect(t.Context(), test.addr, nil, timeout)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func noSuchName(ctx context.Context, network, addr string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}}
}

// The certificate that is pinned is taken, and no other; one of an authority of --warp-ca is taken for its own address only.
func TestCertificates(t *testing.T) {
	t.Parallel()
	config, fingerprint, err := SelfSigned()
	check.OK(t, err)
	own, _ := serve(t, func(s *Server) { s.TLS = config })
	authority := httptest.NewUnstartedServer(nil)
	authority.StartTLS() // which has a certificate of 127.0.0.1 and example.com
	t.Cleanup(authority.Close)
	signed, _ := serve(t, func(s *Server) { s.TLS = &tls.Config{Certificates: authority.TLS.Certificates} })
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	pin, err := hex.DecodeString(fingerprint)
	check.OK(t, err)
	other := bytes.Clone(pin)
	other[31]++
	_, port, err := net.SplitHostPort(signed)
	check.OK(t, err)
	for name, test := range map[string]struct {
		addr  string
		pin   []byte
		roots *x509.CertPool
		want  string
	}{
		"pinned":                       {own, pin, nil, ""},
		"pinned, and no authority's":   {own, pin, roots, ""},
		"another one is pinned":        {own, other, nil, "its certificate does not have the fingerprint in the list of clients"},
		"no authority's":               {own, nil, roots, "start it with a certificate for this address from an authority in --warp-ca"},
		"an authority's":               {signed, nil, roots, ""},
		"an authority's, other's name": {"localhost:" + port, nil, roots, "start it with a certificate for this address"},
		"whatever it is":               {signed, nil, nil, ""},
	} {
		d := &Dialer{Identity: Identity{Protocol: testProtocol, Warp: "test", Token: testToken}, Roots: test.roots}
		c, err := d.Connect(t.Context(), test.addr, test.pin, time.Minute)
		if c != nil {
			c.Close()
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !Final(err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
