package store

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// tlsProbe bounds how long it takes to find out that a host talks TLS.
const tlsProbe = 2 * time.Second

// needsTLS explains a plain request that was cut off by a host that talks TLS.
// Other errors stay as they are.
func needsTLS(req *http.Request, err error) error {
	if code := netCode(err); req.URL.Scheme != "http" || code != CodeClosed && code != CodeReset {
		return err
	}
	ctx, cancel := context.WithTimeout(req.Context(), tlsProbe)
	defer cancel()
	host := req.URL.Host
	if req.URL.Port() == "" {
		host = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	// Nothing is sent over this connection, so it does not matter who is there.
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, failed := d.DialContext(ctx, "tcp", host)
	if failed != nil {
		return err
	}
	conn.Close()
	return errorf(CodeNeedsTLS, 0, "%s talks TLS, and the request was plain HTTP", req.URL.Host)
}

// redirected says where a store sends whoever asks. minio-go follows a region by itself.
func redirected(resp *http.Response) error {
	to := resp.Header.Get("Location")
	if resp.StatusCode/100 != 3 || to == "" || resp.Header.Get("x-amz-bucket-region") != "" {
		return nil
	}
	return errorf(CodeRedirect, resp.StatusCode, "the store sends this request to %s, and warp does not follow", oneLine(to))
}
