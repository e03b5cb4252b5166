package minio

import (
	"context"
	"net/http"
	"testing"

	"warp/internal/check"
)

// Requests to directory buckets go to the right host, signed with the right keys.
func TestExpressAddress(t *testing.T) {
	t.Parallel()
	const bucket = "b--use1-az4--x-s3"
	amazon, other := &express{host: "s3express-use1-az4.us-east-1.amazonaws.com"}, &express{host: "127.0.0.1:9000"}
	control := context.WithValue(t.Context(), controlKey{}, true)
	for _, test := range []struct {
		express           *express
		ctx               context.Context
		method, path      string
		copies, user      bool
		wantHost, wantURL string
	}{
		{amazon, t.Context(), "GET", "/" + bucket + "/a/b", false, false, bucket + "." + amazon.host, "/a/b"},
		{amazon, t.Context(), "GET", "/" + bucket + "/?list-type=2", false, false, bucket + "." + amazon.host, "/"},
		{amazon, t.Context(), "HEAD", "/" + bucket + "/", false, true, bucket + "." + amazon.host, "/"},
		{amazon, t.Context(), "HEAD", "/" + bucket + "/k", false, false, bucket + "." + amazon.host, "/k"},
		{amazon, t.Context(), "PUT", "/" + bucket + "/k", true, true, bucket + "." + amazon.host, "/k"},
		{amazon, t.Context(), "GET", "/" + bucket + "/?session=", false, true, bucket + "." + amazon.host, "/"},
		{amazon, control, "PUT", "/" + bucket + "/", false, true, "s3express-control.us-east-1.amazonaws.com", "/" + bucket + "/"},
		{other, t.Context(), "GET", "/" + bucket + "/a", false, false, placeholder, "/" + bucket + "/a"},
		{other, control, "PUT", "/" + bucket + "/", false, true, placeholder, "/" + bucket + "/"},
	} {
		req, err := http.NewRequestWithContext(test.ctx, test.method, "https://"+placeholder+test.path, nil)
		check.OK(t, err)
		if test.copies {
			req.Header.Set("X-Amz-Copy-Source", "/x/y")
		}
		to := *req.URL
		test.express.address(req, &to)
		if to.Host != test.wantHost || to.Path != test.wantURL || ofUser(req) != test.user {
			t.Errorf("%s %s goes to %s%s, by the user: %t", test.method, test.path, to.Host, to.Path, ofUser(req))
		}
	}
}
