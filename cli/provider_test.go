package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
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
	check.OK(t, os.WriteFile(garbage, []byte("garbage"), 0o600))
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		code int
		want string
	}{
		{"none", nil, nil, 1, "Anonymous caller does not have storage.buckets.get access; requests are anonymous: give --access-token, --credentials-file, or a pair of keys\n"},
		{"garbage", []string{"--credentials-file=" + garbage}, nil, 2, "credentials from --credentials-file: " + garbage + ": it is not valid JSON of Google's credentials\n"},
		{"garbage in the environment", nil, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": garbage}, 1,
			"credentials from GOOGLE_APPLICATION_CREDENTIALS: " + garbage + ": it is not valid JSON of Google's credentials\n"},
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
		"az://none":   {404, "there seems to be no Azure Blob Storage at "},
		"abfs://none": {404, "there seems to be no Azure Data Lake Storage Gen2 at "},
		"az://all":    {200, "there seems to be no Azure Blob Storage at "},
		"abfs://all":  {200, "there seems to be no Azure Data Lake Storage Gen2 at "},
		"gs://all":    {200, "there seems to be no Google Cloud Storage at "},
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

// What names a store in a way that cannot be meant is refused in one line, in the words of the command line.
func TestMisnamedStores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--bucket=gs://demo", "--host=acc.blob.core.windows.net"},
			"--host: acc.blob.core.windows.net is Azure Blob Storage, but --bucket=gs://demo is Google Cloud Storage; name only one of them"},
		{[]string{"--provider=gcs", "--host=acc.blob.core.windows.net"},
			"--host: acc.blob.core.windows.net is Azure Blob Storage, but --provider=gcs is Google Cloud Storage; name only one of them"},
		{[]string{"--host=gs://demo"}, `--host: "gs://demo" is a bucket, not a host: write --bucket=gs://demo`},
		{[]string{"--bucket=abfss://fs@acc.dfs.core.windows.net"},
			"--bucket: the container has its host in it: write --bucket=abfs://fs --host=acc.dfs.core.windows.net"},
		{[]string{"--bucket=gs://demo", "--http2"}, "--http2 needs an engine with HTTP/2, which Google Cloud Storage lacks; leave it out"},
	} {
		r := runWarp(t, nil, append([]string{"put", "--obj.size=1KiB", "--stress"}, c.args...)...)
		if r.code != 2 || r.err != "warp: error: "+c.want+"\n" {
			t.Errorf("%q: code %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// A hint is about the address that was given: one without TLS, one of an emulator without its account, one where nothing is.
func TestHintsAboutAddresses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	addr := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--bucket=gs://demo", "--host=https://" + addr}, "; the store answers without TLS: write http:// instead of https:// in --host\n"},
		{[]string{"--bucket=demo", "--host=https://" + addr}, "; the store answers without TLS: write http:// instead of https:// in --host\n"},
		{[]string{"--bucket=gs://demo", "--host=" + addr, "--tls"}, "; the store answers without TLS: leave out --tls\n"},
		{[]string{"--bucket=az://demo", "--host=http://" + addr},
			"; there seems to be no Azure Blob Storage at http://" + addr + ": the address of an emulator ends with the account, as in --host=http://" + addr + "/devstoreaccount1\n"},
		{[]string{"--bucket=az://demo", "--host=http://" + addr + "/account"},
			"; there seems to be no Azure Blob Storage at http://" + addr + "/account: check --host and its port\n"},
		{[]string{"--bucket=gs://demo", "--host=" + gone.URL}, "; start a store there, or name another with --host\n"},
	} {
		r := runWarp(t, nil, append([]string{"put", "--obj.size=1KiB", "--stress"}, c.args...)...)
		if r.code != 1 || !strings.HasSuffix(r.err, c.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q: code %d, %s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// A server that answers more than it was asked is reported by warp alone, in one line.
func TestUnsolicitedAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			time.Sleep(100 * time.Millisecond) // in which the client looks at the connection that it has put aside
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\npage!")
	}))
	t.Cleanup(server.Close)
	out, err := exec.CommandContext(t.Context(), "warp", "put", "--obj.size=1KiB", "--stress", "--bucket=az://demo", "--host="+server.URL+"/account").CombinedOutput()
	if text := string(out); err == nil || !strings.HasPrefix(text, "warp: error: ") || strings.Count(text, "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
