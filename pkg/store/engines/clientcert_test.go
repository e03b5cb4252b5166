package engines

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3provider"
)

// An issuer signs the certificates of a test.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "issuer"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check.OK(t, err)
	cert, err := x509.ParseCertificate(der)
	check.OK(t, err)
	return &issuer{cert, key}
}

// issue writes a certificate for 127.0.0.1 and its key, as PEM.
func (i *issuer) issue(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "client"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, i.cert, key.Public(), i.key)
	check.OK(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	check.OK(t, err)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		check.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", der)
}

func (i *issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw})
}

// demanding starts a store that accepts only clients with a certificate of the issuer.
func (i *issuer) demanding(t *testing.T) (addr string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"abc"`)
	}))
	cert, key := i.issue(t)
	own, err := tls.LoadX509KeyPair(cert, key)
	check.OK(t, err)
	known := x509.NewCertPool()
	known.AddCert(i.cert)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	ours := newIssuer(t)
	addr := ours.demanding(t)
	rightCert, rightKey := ours.issue(t)
	otherCert, otherKey := newIssuer(t).issue(t)
	for _, engine := range []string{s3provider.Lean, s3provider.Minio} {
		for name, c := range map[string]struct {
			cert, key string
			works     bool
		}{"right": {rightCert, rightKey, true}, "none": {}, "somebody else's": {otherCert, otherKey, false}} {
			cfg := store.Config{
				Hosts: []store.Address{{Name: addr}}, TLS: true, CAPEM: ours.pem(), Region: "us-east-1", Engine: engine,
				Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Options: store.Options{ClientCert: c.cert, ClientKey: c.key},
			}
			client, err := New(cfg)
			if err != nil {
				t.Fatalf("%s, %s: %v", engine, name, err)
			}
			h := client.Acquire()
			_, err = h.Put(t.Context(), store.Put{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Body: bytes.NewReader([]byte("x")), Size: 1}, store.NewTrace(time.Now()))
			client.Release(h, nil)
			switch {
			case c.works && err != nil:
				t.Errorf("%s, %s: %v", engine, name, err)
			case !c.works && (store.CodeOf(err) == store.CodeReset || store.CodeOf(err) == store.CodeClosed):
				// TLS 1.3 allows the store to close the connection before the client has read the
				// reason, because the request is sent before the certificate is checked.
			case !c.works && (store.CodeOf(err) != store.CodeTLS || strings.Contains(err.Error(), "\n")):
				t.Errorf("%s, %s: %v", engine, name, err)
			}
		}
	}
}

func TestClientCertificateThatIsNone(t *testing.T) {
	t.Parallel()
	cert, _ := newIssuer(t).issue(t)
	_, otherKey := newIssuer(t).issue(t)
	for _, key := range []string{otherKey, filepath.Join(t.TempDir(), "missing"), cert} {
		cfg := store.Config{Hosts: []store.Address{{Name: "127.0.0.1:1"}}, TLS: true, Options: store.Options{ClientCert: cert, ClientKey: key}}
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "read the client certificate: ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
