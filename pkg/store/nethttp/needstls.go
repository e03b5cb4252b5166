package nethttp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"warp/pkg/store"
)

// tlsProbe limits the check whether a host expects TLS.
const tlsProbe = 2 * time.Second

// NeedsTLS returns a better error for a plain request that a host expecting TLS has cut off. It
// returns other errors unchanged.
func NeedsTLS(req *http.Request, err error) error {
	if code := store.CodeOf(store.AsError(err, 0)); req.URL.Scheme != "http" || code != store.CodeClosed && code != store.CodeReset {
		return err
	}
	ctx, cancel := context.WithTimeout(req.Context(), tlsProbe)
	defer cancel()
	host := req.URL.Host
	if req.URL.Port() == "" {
		host = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	// Nothing is sent over this connection, so the peer does not matter.
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, failed := d.DialContext(ctx, "tcp", host)
	if failed != nil {
		return err
	}
	conn.Close()
	return store.Errorf(store.CodeNeedsTLS, 0, "%s talks TLS, and the request was plain HTTP", req.URL.Host)
}
