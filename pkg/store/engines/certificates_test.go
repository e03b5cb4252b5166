package engines

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3provider"
)

// A secureStore keeps one object behind TLS and counts its connections.
type secureStore struct {
	*httptest.Server
	connections atomic.Int64
	before      func(*http.Request) // called before each answer; may be nil

	mu     sync.Mutex
	object []byte
}

// startSecure starts a store with its own certificate for 127.0.0.1, which is valid for an hour.
func startSecure(t *testing.T, key crypto.Signer, version uint16, before func(*http.Request)) *secureStore {
	t.Helper()
	s := &secureStore{before: before}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check.OK(t, err)
	s.Server = httptest.NewUnstartedServer(s)
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: version, MaxVersion: version,
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *secureStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.before != nil {
		s.before(r)
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	if r.Method == http.MethodPut {
		s.object = content
	}
	content = s.object
	s.mu.Unlock()
	w.Header().Set("ETag", `"abc"`)
	w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
	if r.Method == http.MethodGet {
		w.Write(content)
	}
}

// config returns the configuration of a client that trusts the store's certificate.
func (s *secureStore) config(engine string) store.Config {
	return store.Config{
		Engine: engine, TLS: true, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"},
		CAPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.TLS.Certificates[0].Certificate[0]}),
	}
}

func (s *secureStore) addr() string { return s.Listener.Addr().String() }

func ecKey(t *testing.T) crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	return key
}

func TestTLSVersionsAndKeys(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	check.OK(t, err)
	for name, key := range map[string]crypto.Signer{"ECDSA": ecKey(t), "RSA": rsaKey} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, engine := range []string{s3provider.Lean, s3provider.Minio} {
				t.Run(name+"/"+tls.VersionName(version)+"/"+engine, func(t *testing.T) {
					t.Parallel()
					s := startSecure(t, key, version, nil)
					h := oneHost(t, s.config(engine), s.addr())
					for _, size := range []int{0, 1000, 16<<10 + 1, 70_000, 3 << 20} {
						s.upAndDown(t, h, size)
					}
					if n := s.connections.Load(); n != 1 {
						t.Errorf("one request after the other took %d connections", n)
					}
				})
			}
		}
	}
}

// upAndDown uploads an object, and downloads it.
func (s *secureStore) upAndDown(t *testing.T, h *store.Host, size int) {
	t.Helper()
	want, err := io.ReadAll(payload(size))
	check.OK(t, err)
	check.OK(t, putPayload(t.Context(), h, size, store.NewTrace(time.Now())))
	if !bytes.Equal(s.object, want) {
		t.Errorf("of %d bytes something else arrived, %d bytes", size, len(s.object))
	}
	var got bytes.Buffer
	get := oddGet
	get.Into = &got
	d, err := h.Get(t.Context(), get, store.NewTrace(time.Now()))
	if err != nil || d.Bytes != int64(size) || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("of %d bytes something else came back, %d bytes: %v", size, d.Bytes, err)
	}
}

// A cutConn closes after a number of bytes have been written to it.
type cutConn struct {
	*net.TCPConn
	left int // negative = no limit yet
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.left < 0 {
		return c.TCPConn.Write(b)
	}
	n, err := c.TCPConn.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.CloseWrite()
		return n, io.ErrClosedPipe
	}
	return n, err
}

// A TLS connection that ends within an answer is an error, not a short object.
func TestAnswersAreCutInsideRecords(t *testing.T) {
	t.Parallel()
	const size = 40_000 // three records
	answer := goodHead + "Content-Length: 40000\r\n\r\n" + strings.Repeat("x", size)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		var after atomic.Int64
		srv := httptest.NewTLSServer(nil)
		t.Cleanup(srv.Close)
		cfg := &tls.Config{Certificates: srv.TLS.Certificates, MaxVersion: version, DynamicRecordSizingDisabled: true}
		addr := oddStore(t, func(tcp *net.TCPConn, _ *bufio.Reader) {
			cut := &cutConn{tcp, -1}
			c := tls.Server(cut, cfg)
			br := bufio.NewReader(c)
			readRequest(br)
			cut.left = int(after.Load())
			io.WriteString(c, answer)
			io.Copy(io.Discard, br)
		})
		for _, engine := range []string{s3provider.Lean, s3provider.Minio} {
			h := oneHost(t, store.Config{Engine: engine, TLS: true, Insecure: true, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, addr)
			for _, n := range []int{1, 4, 5, 6, 30, 150, 16_000, 16_405, 16_420, 17_000, 33_000, size + 100} {
				after.Store(int64(n))
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				d, err := h.Get(ctx, oddGet, store.NewTrace(time.Now()))
				cancel()
				want := store.CodeClosed
				if n > 16_410 { // the first record with the head has arrived
					want = store.CodeShortRead
				}
				if store.CodeOf(err) != want {
					t.Errorf("%s, %s, cut after %d bytes: %d bytes and %v, want %s", tls.VersionName(version), engine, n, d.Bytes, err, want)
				}
			}
		}
	}
}

// Of 16 hosts, a slow one gets less than its share, and none has more connections than concurrent
// requests.
func TestSlowHostUnderTLS(t *testing.T) {
	t.Parallel()
	const hosts, workers, requests, slow = 16, 32, 3000, 5
	stores := make([]*secureStore, hosts)
	key := ecKey(t)
	cfg := store.Config{Region: "us-east-1", Engine: s3provider.Lean, TLS: true, Insecure: true, Concurrency: workers, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}
	for i := range stores {
		var before func(*http.Request)
		if i == slow {
			before = func(*http.Request) { time.Sleep(200 * time.Millisecond) }
		}
		stores[i] = startSecure(t, key, tls.VersionTLS13, before)
		cfg.Hosts = append(cfg.Hosts, store.Address{Name: stores[i].addr()})
	}
	c, err := New(cfg)
	check.OK(t, err)
	t.Cleanup(c.Close)
	var inFlight, highest, count [hosts]atomic.Int64
	var left atomic.Int64
	left.Store(requests)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				h := c.Acquire()
				i := slices.Index(c.Endpoints(), h.Endpoint)
				now := inFlight[i].Add(1)
				for seen := highest[i].Load(); now > seen && !highest[i].CompareAndSwap(seen, now); seen = highest[i].Load() {
				}
				_, err := h.Get(t.Context(), oddGet, store.NewTrace(time.Now()))
				inFlight[i].Add(-1)
				count[i].Add(1)
				c.Release(h, err)
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	all := int64(0)
	for i, s := range stores {
		n := s.connections.Load()
		if all += n; n > highest[i].Load() {
			t.Errorf("host %d had %d connections for %d requests at a time", i, n, highest[i].Load())
		}
	}
	if n := count[slow].Load(); n == 0 || n >= requests/hosts {
		t.Errorf("the slow host had %d of %d requests", n, requests)
	}
	if n := c.Connections(); n != all {
		t.Errorf("the client counts %d connections, the stores %d", n, all)
	}
}
