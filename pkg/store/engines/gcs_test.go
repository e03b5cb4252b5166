package engines

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/pkg/s3mem"
	"warp/pkg/store"
)

const googleHost = "storage.googleapis.com"

// interoperable is the documented S3 interface of Google Cloud Storage: buckets in host names or
// paths, V4 signatures without signed chunks, and no deletion of several objects with one request.
func interoperable(t *testing.T) (addr string) {
	t.Helper()
	s, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 64 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = s.Close() })
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.Addr()})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(code string) {
			t.Errorf("%s %s is not a request that the store accepts: %s", r.Method, r.URL, code)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("<?xml version='1.0' encoding='UTF-8'?><Error><Code>" + code + "</Code><Message>no</Message></Error>"))
		}
		switch sum := r.Header.Get("X-Amz-Content-Sha256"); {
		case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=GOOG1EXAMPLE/"):
			refuse("MissingSecurityHeader")
		case strings.HasPrefix(sum, "STREAMING-"), r.Header.Get("X-Amz-Trailer") != "":
			refuse("InvalidArgument")
		case r.Method == http.MethodPost && r.URL.Query().Has("delete"):
			refuse("InvalidArgument")
		case r.Method == http.MethodGet && r.URL.Query().Has("versioning"):
			state := ""
			for _, of := range []string{"Enabled", "Suspended"} {
				if strings.Contains(r.Host+r.URL.Path, strings.ToLower(of)) {
					state = "<Status>" + of + "</Status>"
				}
			}
			_, _ = w.Write([]byte("<VersioningConfiguration>" + state + "</VersioningConfiguration>"))
		default:
			if bucket, ok := strings.CutSuffix(r.Host, "."+googleHost); ok {
				r.URL.Path, r.URL.RawPath = "/"+bucket+r.URL.Path, ""
			}
			behind.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// With HMAC keys, Google's host and a gateway in front of it work like S3.
func TestGCSByS3(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, provider, host string
	}{
		{"provider gcs", "gcs", googleHost},
		{"provider gcs behind a proxy", "gcs", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			addr := interoperable(t)
			cfg := store.Config{Provider: c.provider, Region: "us-east-1", AppVersion: "1", Concurrency: 1,
				Credentials: store.Keys{AccessKey: "GOOG1EXAMPLE", SecretKey: "secret"}, Hosts: []store.Address{{Name: c.host, Dial: addr}}}
			if c.host == "" {
				cfg.Hosts[0] = store.Address{Name: addr}
			}
			client, err := New(cfg)
			check.OK(t, err)
			t.Cleanup(client.Close)
			check.OK(t, client.MakeBucket(t.Context(), "enginetest", false))
			enginetest.Run(t, client.Acquire())
		})
	}
}

// With HMAC keys, versions and keys of the key service are rejected before anything is written. A
// bucket that no longer makes versions works.
func TestGCSVersionsByS3(t *testing.T) {
	t.Parallel()
	client, err := New(store.Config{Provider: "gcs", Region: "us-east-1", AppVersion: "1", Concurrency: 1,
		Credentials: store.Keys{AccessKey: "GOOG1EXAMPLE", SecretKey: "secret"}, Hosts: store.Addresses([]string{interoperable(t)})})
	check.OK(t, err)
	t.Cleanup(client.Close)
	for _, bucket := range []string{"plain", "suspended"} {
		if state, err := client.Versioning(t.Context(), bucket); err != nil || state != "" {
			t.Errorf("bucket %s: %q, %v", bucket, state, err)
		}
	}
	const want = "use a token or --credentials-file"
	_, err = New(store.Config{Provider: "gcs", Credentials: store.Keys{AccessKey: "GOOG1EXAMPLE", SecretKey: "secret"}, Hosts: store.Addresses([]string{"h"}),
		Options: store.Options{Encryption: store.Encryption{Kind: store.SSEKMS, KeyID: "k"}}})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a key of the key service: %v", err)
	}
	if _, err := client.Versioning(t.Context(), "enabled"); store.CodeOf(err) != "NoVersions" || !strings.Contains(err.Error(), want) {
		t.Errorf("a bucket that keeps versions: %v", err)
	}
	if err := client.SetVersioning(t.Context(), "plain", true); store.CodeOf(err) != "NoVersions" || !strings.Contains(err.Error(), want) {
		t.Errorf("to keep versions: %v", err)
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"storage.googleapis.com": "gcs", "storage.googleapis.com:443": "gcs", "Storage.GoogleAPIs.com": "gcs",
		"storage.me-central2.rep.googleapis.com": "gcs", "storage-mine.p.googleapis.com": "gcs",
		"googleapis.com": "", "storage.googleapis.com.example.org": "", "mystorage.googleapis.com": "", "127.0.0.1:9000": "",
	} {
		got := ""
		if p := ProviderOfHost(host); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("%s is of provider %q, want %q", host, got, want)
		}
	}
	if _, err := New(store.Config{Provider: "tape"}); err == nil || !strings.Contains(err.Error(), `unknown provider "tape"`) {
		t.Errorf("an unknown provider: %v", err)
	}
	for _, p := range Providers() {
		for feature := range p.Lacks {
			err := p.Check("this", feature)
			if err == nil || !strings.Contains(err.Error(), string(feature)) || !strings.Contains(err.Error(), p.Title) {
				t.Errorf("%s: the lack of %s is said as %v", p.Name, feature, err)
			}
		}
	}
}
