package s3mem

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"warp/internal/check"
)

// The null store answers the JSON API of Google Cloud Storage: an upload with its own size,
// everything else with the size of the store's objects.
func TestNullGCS(t *testing.T) {
	t.Parallel()
	n, err := StartNull(NullOptions{Size: 5})
	check.OK(t, err)
	defer n.Close()
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", "/storage/v1/b/demo", "", `"kind":"storage#bucket"`},
		{"GET", "/storage/v1/b/demo/o?prefix=x", "", `"kind":"storage#objects"`},
		{"GET", "/storage/v1/b/demo/o/a%2Fb?fields=name", "", `"size":"5","md5Hash":"`},
		{"POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=a", "1234567", `"size":"7","md5Hash":"`},
		{"GET", "/storage/v1/b/demo/o/a%2Fb?alt=media", "", "xxxxx"},
		{"DELETE", "/storage/v1/b/demo/o/a%2Fb", "", ""},
	} {
		req, err := http.NewRequest(c.method, "http://"+n.Addr()+c.target, strings.NewReader(c.body))
		check.OK(t, err)
		resp, err := http.DefaultClient.Do(req)
		check.OK(t, err)
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode/100 != 2 || !strings.Contains(string(text), c.want) || c.want == "" && len(text) > 0 {
			t.Errorf("%s %s: status %d, %q", c.method, c.target, resp.StatusCode, text)
		}
		if strings.HasPrefix(c.want, `"`) && !json.Valid(text) {
			t.Errorf("%s %s: %q is no JSON", c.method, c.target, text)
		}
		if c.want == "xxxxx" && !strings.Contains(resp.Header.Get("X-Goog-Hash"), "md5="+n.gcsMD5) {
			t.Errorf("the hash is %q", resp.Header.Get("X-Goog-Hash"))
		}
	}
}
