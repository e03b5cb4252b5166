package fleet

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/pkg/s3"
)

// Connections to the store come from the address that the client was told to listen at.
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
	st := storeAt(server.Listener.Addr().String())
	c, err := st.connect(AgentOptions{Warp: "test", SourceIP: netip.MustParseAddr("127.0.0.77")})
	must(t, err)
	_, _ = c.BucketExists(t.Context(), "bucket")
	if from.Load() != "127.0.0.77" {
		t.Errorf("the store was asked from %v", from.Load())
	}
}

// What describes a store on another machine has no file of this one, and no keys that run out.
func TestDescribeStore(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca")
	must(t, os.WriteFile(ca, []byte("the certificates"), 0o644))
	static := credentials.NewStaticV4("a", "b", "c")
	s, err := DescribeStore(s3.Config{CAFile: ca, Credentials: static, Others: []*credentials.Credentials{static}})
	must(t, err)
	if s.Config.CAFile != "" || string(s.Config.CAPEM) != "the certificates" || len(s.Keys) != 2 || s.Keys[0].SecretKey != "b" || s.Keys[1].SessionToken != "c" {
		t.Errorf("%+v", s)
	}
	if _, err := DescribeStore(s3.Config{Credentials: credentials.New(&expiring{})}); err == nil {
		t.Error("keys that expire were accepted")
	}
	if _, err := DescribeStore(s3.Config{Credentials: static, Options: s3.Options{ClientCert: "x", ClientKey: "y"}}); err == nil {
		t.Error("a client certificate was left out in silence")
	}
	if _, err := DescribeStore(s3.Config{Credentials: static, CAFile: ca + "no"}); err == nil {
		t.Error("a CA file that is not there was left out in silence")
	}
}

type expiring struct{}

func (e *expiring) Retrieve() (credentials.Value, error) { return e.RetrieveWithCredContext(nil) }

func (*expiring) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return credentials.Value{AccessKeyID: "a", Expiration: time.Now().Add(time.Hour)}, nil
}

func (*expiring) IsExpired() bool { return false }

// Options of requests and connections reach the clients as they were given.
func TestStoreTravelsWithItsOptions(t *testing.T) {
	t.Parallel()
	want := s3.Options{
		Encryption: s3.Encryption{Kind: s3.SSEC, Key: [32]byte{1, 2, 31: 9}}, StorageClass: "STANDARD_IA",
		Metadata: []s3.Attribute{{Key: "k", Value: "v"}, {Key: "r", Random: 7}}, Tags: []s3.Attribute{{Key: "t", Value: "w"}},
		Checksum: "CRC32C", MD5: true, DisableMultipart: true, PartSize: 5 << 20, Lookup: "path", Timeout: time.Minute,
		NoKeepAlive: true, SendBuffer: 1 << 16, ReceiveBuffer: 1 << 17, SourceIPs: []netip.Addr{netip.MustParseAddr("127.0.0.2")},
	}
	s, err := DescribeStore(s3.Config{Credentials: credentials.NewStaticV4("a", "b", ""), Options: want})
	must(t, err)
	text, err := json.Marshal(s)
	must(t, err)
	var got Store
	must(t, json.Unmarshal(text, &got))
	if !reflect.DeepEqual(got.Config.Options, want) {
		t.Errorf("got %+v\nof %s", got.Config.Options, text)
	}
}
