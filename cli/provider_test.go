package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// What Google Cloud Storage refuses is one line that says what to look at, and shows no token.
func TestFirstAnswersOfGCS(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "Unauthorized: Invalid Credentials; check the credentials from --access-token, and what they may do\n",
		403: "AccessDenied: Invalid Credentials; check the credentials from --access-token, and what they may do\n",
		405: "there seems to be no Google Cloud Storage at ",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Authorization"); got != "Bearer very-secret" {
				t.Errorf("%s %s carries %q", r.Method, r.URL, got)
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"code":%d,"message":"Invalid Credentials"}}`, status)
		}))
		r := runWarp(t, nil, "put", "--obj.size=1KiB", "--stress", "--bucket=gs://demo", "--host="+server.URL, "--access-token=very-secret")
		server.Close()
		if r.code != 1 || !strings.Contains(r.err, want) || strings.Contains(r.out+r.err, "very-secret") {
			t.Errorf("status %d: code %d, %s%s", status, r.code, r.out, r.err)
		}
	}
}

// Whoever has no credentials, or none that can be used, reads in one line which ones they are and why.
func TestCredentialsOfGCS(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"code":401,"message":"Anonymous caller does not have storage.buckets.get access.","errors":[{"reason":"required"}]}}`)
	}))
	t.Cleanup(server.Close)
	garbage := t.TempDir() + "/key.json"
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		code int
		want string
	}{
		{"none", nil, nil, 1, "Anonymous caller does not have storage.buckets.get access; requests are anonymous: give --access-token, --credentials-file, or a pair of keys\n"},
		{"garbage", []string{"--credentials-file=" + garbage}, nil, 2, "credentials from --credentials-file: " + garbage + ": it is no JSON of Google's credentials\n"},
		{"garbage in the environment", nil, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": garbage}, 1,
			"credentials from GOOGLE_APPLICATION_CREDENTIALS: " + garbage + ": it is no JSON of Google's credentials\n"},
	} {
		r := runWarp(t, c.env, append([]string{"put", "--obj.size=1KiB", "--stress", "--bucket=gs://demo", "--host=" + server.URL}, c.args...)...)
		if r.code != c.code || !strings.HasSuffix(r.err, c.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", c.name, r.code, r.out, r.err)
		}
	}
}

// A server that is no store of the kind that is meant is said to be none. Its answer is no reason to look at a region.
func TestFirstAnswersOfOthers(t *testing.T) {
	t.Parallel()
	for bucket, c := range map[string]struct {
		status int
		want   string
	}{
		"az://demo":   {400, "there seems to be no Azure Blob Storage at "},
		"abfs://demo": {400, "there seems to be no Azure Data Lake Storage Gen2 at "},
		"ais://demo":  {400, "there seems to be no AIStore at "},
		"s3://demo":   {400, "; check --region\n"},
		"az://keys":   {403, "give --access-token, or --access-key and --secret-key\n"},
		"ais://keys":  {401, "give --access-token or --credentials-file\n"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }))
		host := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
		r := runWarp(t, nil, "put", "--obj.size=1KiB", "--stress", "--bucket="+bucket, "--host="+host)
		server.Close()
		if r.code != 1 || !strings.Contains(r.err, c.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: code %d, %s%s", bucket, r.code, r.out, r.err)
		}
	}
}
