package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

// Whoever meets an expired certificate hears that it has expired, and not of private ones.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check.OK(t, err)
	front := httptest.NewUnstartedServer(http.NotFoundHandler())
	front.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	r := runWarp(t, nil, "get", "--tls", "--access-key=a", "--secret-key=bbbbbbbb", "--host="+front.Listener.Addr().String())
	for _, says := range []string{"certificate has expired", "renew the store's certificate", "--insecure"} {
		if r.code != 1 || !strings.Contains(r.err, says) || strings.Contains(r.err, "private") {
			t.Errorf("code %d, want 1 and %q in:\n%s", r.code, says, r.err)
		}
	}
}
