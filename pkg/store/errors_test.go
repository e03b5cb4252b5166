package store

import (
	"errors"
	"net/url"
	"testing"
)

func TestRepeatable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("something else"), false},
		{Errorf(CodeTimeout, 0, "no answer"), true},
		{Errorf("SlowDown", 503, "wait"), true},
		{Errorf("TooManyRequests", 429, "wait"), true},
		{Errorf("AccessDenied", 403, "no"), false},
		{Errorf(CodeShortRead, 200, "it broke off"), true},
		{Errorf(CodeCanceled, 0, "the run has ended"), false},
		{Errorf("MethodNotAllowed", 501, "no such function"), false},
		{Errorf("NotImplemented", 0, "the engine knows without a request"), false},
	} {
		if got := Repeatable(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// minio-go's text for a closed connection contains the URL, which may carry a signature.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	const address = "http://h/b?X-Amz-Signature=secret"
	err := AsError(&url.Error{Op: "Get", URL: address, Err: errors.New(minioClosed + " " + address + ". Retry again.")}, 0)
	want := Errorf(CodeClosed, 0, "the store closed the connection before it had answered")
	if err.Error() != want.Error() {
		t.Errorf("got %q, want %q", err, want)
	}
}
