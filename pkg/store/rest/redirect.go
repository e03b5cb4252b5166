package rest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/nethttp"
)

// follow sends a request, and once more to where the store redirects it.
func (h *httpCaller) follow(ctx context.Context, c *lean.Call) (*http.Response, error) {
	redirected := nethttp.ExpectRedirect(ctx)
	resp, err := h.send(ctx, c, h.base+string(c.Target), true, c.Redirects && c.Size > lean.ExpectAbove)
	if err != nil || !c.Redirects || !lean.IsMoved(resp.StatusCode) || resp.Header.Get("Location") == "" {
		return resp, err
	}
	to, trusted, err := h.target(ctx, resp)
	if err != nil {
		return nil, err
	}
	redirected()
	if resp, err = h.send(ctx, c, to.String(), trusted, false); err != nil {
		return nil, err
	}
	if next := resp.Header.Get("Location"); lean.IsMoved(resp.StatusCode) && next != "" {
		resp.Body.Close()
		return nil, store.RedirectedAgain(to, next, resp.StatusCode)
	}
	return resp, nil
}

// maxRedirect bounds what is read of a redirect, so that its connection can be used again.
const maxRedirect = 64 << 10

// target is where a redirect leads, and whether the host there may know who sends the request.
func (h *httpCaller) target(ctx context.Context, resp *http.Response) (to *url.URL, trusted bool, err error) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxRedirect)
	resp.Body.Close()
	var known func(string) bool
	if h.api.Hosts != nil {
		known = func(host string) bool { return h.api.knows(ctx, host) }
	}
	return h.redirects.TargetIn(resp.Request.URL, resp.Header.Get("Location"), resp.StatusCode, known)
}

// A cluster has the hosts that a store names as its own.
type cluster struct {
	mu    sync.Mutex
	hosts map[string]bool
	asked time.Time // when the store was asked last
}

// askPause is how long the store is not asked again for its hosts, however many it redirects to.
const askPause = time.Second

// knows reports whether the store names a host as its own.
func (api *API) knows(ctx context.Context, host string) bool {
	c := &api.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts[host] || time.Since(c.asked) < askPause {
		return c.hosts[host]
	}
	hosts, err := api.Hosts(ctx)
	if err != nil {
		return false
	}
	c.hosts, c.asked = make(map[string]bool, len(hosts)), time.Now()
	for _, name := range hosts {
		c.hosts[strings.ToLower(name)] = true
	}
	return c.hosts[host]
}
