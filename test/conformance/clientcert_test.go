package conformance

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/fleet/transport"
)

// TestClientCertificates checks that a store that requires a certificate gets it from this process,
// and from clients of a fleet that do not have its file.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	config, _, err := transport.SelfSigned()
	check.OK(t, err)
	own := config.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	check.OK(t, err)
	dir := t.TempDir()
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		check.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	cert, keyFile := file("cert.pem", "CERTIFICATE", own.Certificate[0]), file("key.pem", "PRIVATE KEY", key)

	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: s.Endpoint})
		r.Out.Host = r.In.Host // the signature covers it
	}}
	front := httptest.NewUnstartedServer(pass)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, VerifyPeerCertificate: func(shown [][]byte, _ [][]*x509.Certificate) error {
		if !bytes.Equal(shown[0], own.Certificate[0]) {
			return errors.New("another certificate")
		}
		return nil
	}}
	front.StartTLS()
	t.Cleanup(front.Close)

	b := newBed(t, s)
	load := []string{"get", "--host=" + front.Listener.Addr().String(), "--tls", "--insecure", "--obj.size=4KiB", "--objects=10", "--concurrent=2", "--duration=500ms"}
	shown := append(load, "--client-cert="+cert, "--client-key="+keyFile)
	o, _ := b.run(load...)
	t.Log(o.want(t, 1).says(t, "certificate required", "--client-cert"))
	o, _ = b.run(shown...)
	o.want(t, 0)
	o, data := b.run(append(shown, "--warp-client="+strings.Join(startClients(t, 2), ","))...)
	o.want(t, 0)
	from := map[string]bool{}
	for _, r := range readLog(t, data).rows {
		if r.Err != "" {
			t.Fatalf("a row is %+v", r)
		}
		from[r.Client] = true
	}
	if len(from) != 2 {
		t.Errorf("rows are of the clients %v", from)
	}
	b.clean(t)
}
