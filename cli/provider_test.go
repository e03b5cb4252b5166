package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What Google Cloud Storage refuses is one line that says what to look at, and shows no token.
func TestFirstAnswersOfGCS(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "Unauthorized: Invalid Credentials; check the credentials, of which --debug shows the source, and what they may do\n",
		403: "AccessDenied: Invalid Credentials; check the credentials, of which --debug shows the source, and what they may do\n",
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
