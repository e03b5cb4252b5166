package rest

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"warp/pkg/store/lean"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// follow sends a request, and once more to where the store redirects it.
func (h *httpCaller) follow(ctx context.Context, c *lean.Call) (*http.Response, error) {
	redirected := nethttp.ExpectRedirect(ctx)
	resp, err := h.send(ctx, c, h.base+string(c.Target))
	if err != nil || !c.Redirects || !lean.IsMoved(resp.StatusCode) || resp.Header.Get("Location") == "" {
		return resp, err
	}
	to, err := h.target(resp)
	if err != nil {
		return nil, err
	}
	redirected()
	if resp, err = h.send(ctx, c, to.String()); err != nil {
		return nil, err
	}
	if next := resp.Header.Get("Location"); lean.IsMoved(resp.StatusCode) && next != "" {
		resp.Body.Close()
		return nil, s3.RedirectedAgain(to, next, resp.StatusCode)
	}
	return resp, nil
}

// maxRedirect bounds what is read of a redirect, so that its connection can be used again.
const maxRedirect = 64 << 10

// target is where a redirect leads.
func (h *httpCaller) target(resp *http.Response) (*url.URL, error) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxRedirect)
	resp.Body.Close()
	return h.redirects.Target(resp.Request.URL, resp.Header.Get("Location"), resp.StatusCode)
}
