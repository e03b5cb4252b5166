package s3mem

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"warp/internal/check"
)

// The null store answers Azure Blob Storage: its listing, and requests about a container and a
// blob, as with S3.
func TestNullAzure(t *testing.T) {
	t.Parallel()
	n, err := StartNull(NullOptions{Size: 5})
	check.OK(t, err)
	defer n.Close()
	for _, c := range []struct{ method, target, body, want string }{
		{"HEAD", "/demo?restype=container", "", ""},
		{"PUT", "/demo?restype=container", "", ""},
		{"GET", "/demo?restype=container&comp=list&prefix=x", "", azureListing},
		{"PUT", "/demo/a/b", "1234567", ""},
		{"GET", "/demo/a/b", "", "xxxxx"},
	} {
		req, err := http.NewRequest(c.method, "http://"+n.Addr()+c.target, strings.NewReader(c.body))
		check.OK(t, err)
		resp, err := http.DefaultClient.Do(req)
		check.OK(t, err)
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode/100 != 2 || string(text) != c.want {
			t.Errorf("%s %s: status %d, %q", c.method, c.target, resp.StatusCode, text)
		}
		if c.method == "HEAD" && resp.Header.Get("X-Ms-Version") == "" {
			t.Errorf("%s %s: no x-ms-version, so a client takes it for another web server", c.method, c.target)
		}
	}
}
