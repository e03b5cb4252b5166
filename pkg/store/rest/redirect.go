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

// follow sends a request, and follows one redirect.
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

// maxRedirect limits how much of a redirect's body is read, so that its connection can be reused.
const maxRedirect = 64 << 10

// target returns where a redirect leads, and whether that host may get the credentials.
func (h *httpCaller) target(ctx context.Context, resp *http.Response) (to *url.URL, trusted bool, err error) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxRedirect)
	resp.Body.Close()
	var known func(string) bool
	if h.api.Hosts != nil {
		known = func(host string) bool { return h.api.knows(ctx, host) }
	}
	return h.redirects.TargetIn(resp.Request.URL, resp.Header.Get("Location"), resp.StatusCode, known)
}

// A cluster contains the hosts that a store names as its own.
type cluster struct {
	mu    sync.Mutex
	hosts map[string]bool
	asked time.Time // when the store was last asked
}

// askPause is the min time between two requests for the store's hosts, however often it redirects.
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
