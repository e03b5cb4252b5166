package agent

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/fleet"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/store"
)

// Connections to the store come from the address that the client listens at.
func TestSourceAddress(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8 as its own")
	}
	var from atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		from.Store(host)
	}))
	defer server.Close()
	st := protocol.Store{Config: store.Config{Hosts: []store.Address{{Name: server.Listener.Addr().String()}}, Region: "us-east-1"}, Keys: []store.Keys{{AccessKey: "key", SecretKey: "secretsecret"}}}
	c, err := connect(&st, &Options{Warp: "test", SourceIP: netip.MustParseAddr("127.0.0.77")})
	check.OK(t, err)
	_, _ = c.BucketExists(t.Context(), "bucket")
	if from.Load() != "127.0.0.77" {
		t.Errorf("the store was asked from %v", from.Load())
	}
}

// A store of another kind travels with what makes its tokens, unless that is of one machine.
func TestDescribeBearer(t *testing.T) {
	t.Parallel()
	cfg := store.Config{Provider: "gcs", Credentials: store.Keys{}, Hosts: []store.Address{{Name: "127.0.0.1:1"}},
		Bearer: store.Bearer{File: []byte(`{"type":"service_account","private_key":"k"}`)}}
	s, err := fleet.DescribeStore(cfg)
	check.OK(t, err)
	text, err := json.Marshal(s)
	check.OK(t, err)
	var there protocol.Store
	check.OK(t, json.Unmarshal(text, &there))
	c, err := connect(&there, &Options{Warp: "1"})
	if err != nil || c.EngineName() != "gcs" || string(there.Config.Bearer.File) != string(cfg.Bearer.File) {
		t.Errorf("there it is %+v: %v", there.Config, err)
	}
	for _, b := range []store.Bearer{{Metadata: true}, {File: []byte(`{"type":"external_account","credential_source":{"executable":{"command":"/bin/sh"}}}`)}} {
		cfg.Bearer = b
		if _, err := fleet.DescribeStore(cfg); err == nil || !strings.Contains(err.Error(), "this machine") {
			t.Errorf("sent %+v: %v", b, err)
		}
		there.Config.Bearer = b
		if _, err := connect(&there, &Options{Warp: "1"}); err == nil {
			t.Errorf("took %+v", b)
		}
	}
}

// Options of requests and connections reach the clients as they were given.
func TestStoreTravelsWithItsOptions(t *testing.T) {
	t.Parallel()
	want := store.Options{
		Encryption: store.Encryption{Kind: store.SSEC, Key: [32]byte{1, 2, 31: 9}}, StorageClass: "STANDARD_IA",
		Metadata: []store.Attribute{{Key: "k", Value: "v"}, {Key: "r", Random: 7}}, Tags: []store.Attribute{{Key: "t", Value: "w"}},
		Checksum: "CRC32C", MD5: true, DisableMultipart: true, PartSize: 5 << 20, Lookup: "path", Timeout: time.Minute,
		NoKeepAlive: true, SendBuffer: 1 << 16, ReceiveBuffer: 1 << 17, SourceIPs: []netip.Addr{netip.MustParseAddr("127.0.0.2")},
	}
	s, err := fleet.DescribeStore(store.Config{Credentials: store.Keys{AccessKey: "a", SecretKey: "b"}, Options: want})
	check.OK(t, err)
	text, err := json.Marshal(s)
	check.OK(t, err)
	var got protocol.Store
	check.OK(t, json.Unmarshal(text, &got))
	if !reflect.DeepEqual(got.Config.Options, want) {
		t.Errorf("got %+v\nof %s", got.Config.Options, text)
	}
}

// A client shows the store the certificate whose files only the coordinator has.
func TestClientCertificateTravels(t *testing.T) {
	t.Parallel()
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
	certFile, keyFile := file("cert", "CERTIFICATE", own.Certificate[0]), file("key", "PRIVATE KEY", key)
	var shown atomic.Value
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		shown.Store(r.TLS.PeerCertificates[0].Raw)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	for _, engine := range []string{"lean", "minio"} {
		shown.Store([]byte(nil))
		s, err := fleet.DescribeStore(store.Config{
			Hosts: []store.Address{{Name: server.Listener.Addr().String()}}, TLS: true, Insecure: true, Region: "us-east-1", Engine: engine,
			Credentials: store.Keys{AccessKey: "a", SecretKey: "b"}, Options: store.Options{ClientCert: certFile, ClientKey: keyFile},
		})
		check.OK(t, err)
		text, err := json.Marshal(s)
		check.OK(t, err)
		if strings.Contains(string(text), dir) {
			t.Errorf("a file of this machine is named: %s", text)
		}
		var got protocol.Store
		check.OK(t, json.Unmarshal(text, &got))
		c, err := connect(&got, &Options{Warp: "test"})
		check.OK(t, err)
		host := c.Acquire()
		_, err = host.Stat(t.Context(), store.Ref{Bucket: "bucket", Key: "key"}, store.NewTrace(time.Now()))
		check.OK(t, err)
		c.Release(host, nil)
		if raw, _ := shown.Load().([]byte); !bytes.Equal(raw, own.Certificate[0]) {
			t.Errorf("%s: the store was shown another certificate, or none", engine)
		}
	}
}
