package credentials

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/pkg/store"
)

const (
	configText = `# AWS config
[default]
region = us-east-1
[profile both]
aws_access_key_id = overridden
aws_secret_access_key = overridden
aws_session_token = from-config
[ profile   spaced ]
aws_access_key_id=SPACED
aws_secret_access_key=p%(x)s;#'"` + "`" + `=\
s3 =
  max_concurrent_requests = 20
  aws_access_key_id = nested
[profile sso]
sso_session = corp
[profile empty]
region = x
`
	credentialsText = "\r\n; keys\r\n[default]\r\naws_access_key_id = DEFAULT\r\naws_secret_access_key = default-secret\r\n" +
		"[both]\nAWS_Access_Key_Id = BOTH\naws_secret_access_key = both-secret\n" +
		"[half]\naws_access_key_id = HALF\n[half2]\naws_secret_access_key = half-secret\n"
)

// fakeEnv is an environment with a home directory that contains both AWS files.
func fakeEnv(t *testing.T, variables map[string]string) Options {
	t.Helper()
	home := t.TempDir()
	check.OK(t, os.Mkdir(filepath.Join(home, ".aws"), 0o700))
	for name, text := range map[string]string{"config": configText, "credentials": credentialsText} {
		check.OK(t, os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600))
	}
	return Options{Home: home, Getenv: func(name string) string { return variables[name] }}
}

func TestResolveCredentials(t *testing.T) {
	t.Parallel()
	aws := map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "env-secret", "AWS_SESSION_TOKEN": "env-token"}
	for name, c := range map[string]struct {
		options Options
		env     map[string]string
		want    store.Keys
		source  string
	}{
		"flags first": {Options{Access: "A", Secret: "S", Session: "T", Profile: "both"}, aws,
			store.Keys{AccessKey: "A", SecretKey: "S", SessionToken: "T"}, "flags or WARP_* variables"},
		"flags without the session of the environment": {Options{Access: "A", Secret: "S"}, aws,
			store.Keys{AccessKey: "A", SecretKey: "S"}, "flags or WARP_* variables"},
		"signature 2": {Options{Access: "A", Secret: "S", Signature: "s3v2"}, nil,
			store.Keys{AccessKey: "A", SecretKey: "S", Signature: "S3V2"}, "flags or WARP_* variables"},
		"then the environment": {Options{}, aws,
			store.Keys{AccessKey: "ENV", SecretKey: "env-secret", SessionToken: "env-token"}, "the AWS environment"},
		"a named profile before the environment": {Options{Profile: "both"}, aws,
			store.Keys{AccessKey: "BOTH", SecretKey: "both-secret"}, "AWS profile both"},
		"profile by variable": {Options{}, map[string]string{"AWS_PROFILE": "spaced"},
			store.Keys{AccessKey: "SPACED", SecretKey: `p%(x)s;#'"` + "`" + `=\`}, "AWS profile spaced"},
		"default profile": {Options{}, nil,
			store.Keys{AccessKey: "DEFAULT", SecretKey: "default-secret"}, "AWS profile default"},
		"nothing": {Options{}, map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "/no/such/file"},
			store.Keys{}, "nowhere (anonymous requests)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fakeEnv(t, c.env)
			c.options.Home, c.options.Getenv = o.Home, o.Getenv
			got, err := Resolve(t.Context(), c.options)
			check.OK(t, err)
			value, err := got.Keys(t.Context())
			if err != nil || value != c.want || got.Source != c.source {
				t.Errorf("got %+v from %q, %v, want %+v from %q", value, got.Source, err, c.want, c.source)
			}
		})
	}
}

func TestResolveCredentialsFilesByVariable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "elsewhere")
	check.OK(t, os.WriteFile(path, []byte("[profile x]\naws_access_key_id=A\naws_secret_access_key=S\n"), 0o600))
	o := fakeEnv(t, map[string]string{"AWS_CONFIG_FILE": path})
	o.Profile = "x"
	got, err := Resolve(t.Context(), o)
	check.OK(t, err)
	if value, err := got.Keys(t.Context()); err != nil || value.AccessKey != "A" {
		t.Errorf("got %v, %v", value, err)
	}
}

func TestResolveCredentialsErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options Options
		env     map[string]string
		want    string
	}{
		"access alone":       {Options{Access: "hush"}, nil, "--access-key (WARP_ACCESS_KEY) is given without --secret-key"},
		"secret alone":       {Options{Secret: "hush"}, nil, "--secret-key (WARP_SECRET_KEY) is given without --access-key"},
		"session alone":      {Options{Session: "hush"}, nil, "session token is given without"},
		"environment, half":  {Options{}, map[string]string{"AWS_SECRET_ACCESS_KEY": "hush"}, "given without AWS_ACCESS_KEY_ID"},
		"profile, half":      {Options{Profile: "half"}, nil, "aws_access_key_id is given without aws_secret_access_key"},
		"profile, half 2":    {Options{Profile: "half2"}, nil, "aws_secret_access_key is given without aws_access_key_id"},
		"profile, unknown":   {Options{Profile: "nobody"}, nil, "AWS profile nobody is neither in"},
		"AWS_PROFILE":        {Options{}, map[string]string{"AWS_PROFILE": "nobody"}, "AWS profile nobody is neither in"},
		"profile, sso":       {Options{Profile: "sso"}, nil, "export-credentials --profile sso"},
		"profile, empty":     {Options{Profile: "empty"}, nil, "no access key"},
		"signature":          {Options{Signature: "S3V5"}, nil, "unknown signature"},
		"web token, none":    {Options{Signature: "STS_WEB_TOKEN"}, nil, "needs --sts-web-token"},
		"unreadable":         {Options{Profile: "x"}, map[string]string{"AWS_CONFIG_FILE": "."}, "credentials of AWS profile x"},
		"web token, no file": {Options{Signature: "STS_WEB_TOKEN", WebToken: "file:/no/such", STSEndpoint: "http://127.0.0.1:1"}, nil, "/no/such"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fakeEnv(t, c.env)
			c.options.Home, c.options.Getenv = o.Home, o.Getenv
			_, err := Resolve(t.Context(), c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "half-secret") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestBrokenFilesDoNotShowSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[default]\naws_secret_access_key: hush\n": "line 2",
		"hush":                       "line 1",
		"[hush\naws_access_key_id=x": "line 1",
	} {
		path := filepath.Join(t.TempDir(), "credentials")
		check.OK(t, os.WriteFile(path, []byte(text), 0o600))
		o := fakeEnv(t, map[string]string{"AWS_SHARED_CREDENTIALS_FILE": path})
		_, err := Resolve(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want one with the file and %s", text, err, want)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func FuzzReadSections(f *testing.F) {
	f.Add(configText)
	f.Add(credentialsText)
	f.Add("[default]\n=\n[")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readSections(text, []string{"default", "profile both"})
		if err != nil && found != nil {
			t.Fatal("both settings and an error")
		}
	})
}

// fakeMetadata is an instance metadata service, version 2 only. Each answer is a new key that has
// already expired.
func fakeMetadata(t *testing.T) (url string) {
	t.Helper()
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(credentials.TokenRequestTTLHeader) == "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte("session"))
	})
	withToken := func(answer func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(credentials.TokenRequestHeader) != "session" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = w.Write([]byte(answer()))
		}
	}
	mux.HandleFunc("GET "+credentials.DefaultIAMSecurityCredsPath, withToken(func() string { return "role" }))
	mux.HandleFunc("GET "+credentials.DefaultIAMSecurityCredsPath+"role", withToken(func() string {
		return roleAnswer(asked.Add(1))
	}))
	mux.HandleFunc("GET /task", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(roleAnswer(7))) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func roleAnswer(n int32) string {
	answer, _ := json.Marshal(map[string]string{
		"Code": "Success", "AccessKeyID": "KEY" + string('0'+n), "SecretAccessKey": "secret", "Token": "token",
		"Expiration": time.Now().Add(-time.Minute).Format(time.RFC3339),
	})
	return string(answer)
}

func TestInstanceMetadata(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		variable string // set to value, in which "URL" is replaced by the URL of the service
		value    string
		keys     []string
	}{
		"by option":   {"", "", []string{"KEY2", "KEY3"}},
		"by variable": {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "URL/", []string{"KEY2", "KEY3"}},
		"of a task":   {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/task", []string{"KEY7", "KEY7"}},
		"of a pod":    {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "URL/task", []string{"KEY7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := fakeMetadata(t)
			o := fakeEnv(t, map[string]string{c.variable: strings.Replace(c.value, "URL", url, 1)})
			o.Signature, o.Access, o.Secret = "IAM", "ignored", "ignored"
			if !strings.Contains(c.value, "URL") {
				o.MetadataEndpoint = url
			}
			got, err := Resolve(t.Context(), o)
			check.OK(t, err)
			// The first key was fetched while resolving. One that has expired is replaced.
			for _, want := range c.keys {
				if value, err := got.Keys(t.Context()); err != nil || value.AccessKey != want || value.SessionToken != "token" {
					t.Errorf("got %+v, %v, want key %s", value, err, want)
				}
			}
		})
	}
}

func TestInstanceMetadataIsNotAskedOtherwise(t *testing.T) {
	t.Parallel()
	for _, signature := range []string{"", "S3V4", "S3V2"} {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Errorf("signature %q asks for instance metadata", signature)
		}))
		o := fakeEnv(t, map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL, "AWS_SHARED_CREDENTIALS_FILE": "none"})
		o.Signature, o.MetadataEndpoint = signature, server.URL
		got, err := Resolve(t.Context(), o)
		if err == nil {
			_, err = got.Keys(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
		server.Close()
	}
}

func TestInstanceMetadataErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := fakeEnv(t, nil)
	o.Signature, o.MetadataEndpoint = "IAM", server.URL
	if _, err := Resolve(t.Context(), o); err == nil || !strings.Contains(err.Error(), "credentials from instance metadata: 404") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Resolve(ctx, o); err == nil {
		t.Error("no error though the run was cancelled")
	}
}

// No answer of a token service can keep a run waiting.
func TestExchangesAreLimited(t *testing.T) {
	t.Parallel()
	for _, client := range []*http.Client{nil, {Transport: http.DefaultTransport}} {
		p, err := Options{WebToken: "token", Client: client}.webToken()
		check.OK(t, err)
		if sts := p.(*credentials.STSWebIdentity); sts.Client.Timeout <= 0 {
			t.Errorf("with client %v, an exchange has no limit", client)
		}
	}
}

func TestWebToken(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := r.FormValue("WebIdentityToken"); token != "the token" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		var answer credentials.AssumeRoleWithWebIdentityResponse
		answer.Result.Credentials.AccessKey = "WEB"
		answer.Result.Credentials.Expiration = time.Now().Add(time.Hour)
		_ = xml.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "token")
	check.OK(t, os.WriteFile(path, []byte("the token\n"), 0o600))
	for _, token := range []string{"the token", "file:" + path} {
		o := fakeEnv(t, nil)
		o.Signature, o.WebToken, o.STSEndpoint = "STS_WEB_TOKEN", token, server.URL
		got, err := Resolve(t.Context(), o)
		check.OK(t, err)
		if value, err := got.Keys(t.Context()); err != nil || value.AccessKey != "WEB" {
			t.Errorf("got %+v, %v", value, err)
		}
	}
	o := fakeEnv(t, nil)
	o.Signature, o.WebToken, o.STSEndpoint = "STS_WEB_TOKEN", "hush", server.URL
	if _, err := Resolve(t.Context(), o); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v", err)
	}
}

// No other host gets the token or the keys of an instance, even if a service redirects warp there.
func TestCredentialsFollowNoRedirect(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	for _, status := range []int{302, 307, 308} {
		service := httptest.NewServer(http.RedirectHandler(other.URL, status))
		for _, signature := range []string{"STS_WEB_TOKEN", "IAM"} {
			for _, client := range []*http.Client{nil, {}} {
				o := fakeEnv(t, nil)
				o.Signature, o.WebToken, o.STSEndpoint, o.MetadataEndpoint, o.Client = signature, "hush", service.URL, service.URL, client
				if signature == "IAM" {
					o.WebToken, o.STSEndpoint = "", ""
				}
				if _, err := Resolve(t.Context(), o); err == nil {
					t.Errorf("%s: %d is taken for credentials", signature, status)
				}
			}
		}
		service.Close()
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}
