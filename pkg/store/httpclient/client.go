// Package httpclient sends HTTP requests to stores. It builds requests, follows their redirects,
// and traces them. It sends them over connections of its own, which cost little more than their
// system calls, or through net/http, which supports proxies and HTTP/2.
package httpclient

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/dial"
)

// An API describes what the requests of an API have in common.
type API struct {
	Name  string     // name of the engine, for the User-Agent
	Keeps string     // prefix, in lower case, of the headers of replies to keep besides the usual ones
	Auth  Authorizer // nil = requests are anonymous, or have a [Writer]
	// Hosts returns the store's hosts, to which it may redirect requests. A host that is allowed
	// only because of this gets no credentials. nil = there are none.
	Hosts func(ctx context.Context) ([]string, error)
	// NewState returns the memory of a [Writer], which [Conn.State] returns; nil = none is needed.
	NewState func() any

	cluster cluster
}

// An Authorizer identifies the client in its requests.
type Authorizer interface {
	// Ready waits until there is something to identify the client with.
	Ready(ctx context.Context) error
	// Append appends the header lines of a request that identify the client, each with its line end.
	Append(head []byte, r *Request) []byte
	// Refused records that the store has answered 401.
	Refused()
}

// A Client sends requests to one host, and to the hosts to which it redirects them.
type Client struct {
	api       *API
	cfg       *store.Config
	address   store.Address
	base      string // of URLs: scheme and host
	redirects *store.Redirects
	transport transport
	open      func(a store.Address) (*Client, error) // opens a peer

	mu     sync.Mutex
	peers  map[string]*Client // by host
	routes map[string]route   // where redirects lead, by host
	over   bool
}

// A transport sends requests to one host.
type transport interface {
	// send sends a request and receives the head of the reply.
	send(ctx context.Context, r *Request, tr *store.Trace) error
	// receive receives the body of the reply.
	receive(ctx context.Context, r *Request, to sink, tr *store.Trace) (int64, error)
	documents() *store.Documents
	// release ends a request. Its connection is kept if it can be used again.
	release(r *Request)
	// redirected ends the reply to a request that is then sent to another host. seen is the first
	// byte that tr had before, because a redirect does not count as the first byte of the reply.
	redirected(ctx context.Context, r *Request, seen time.Duration, tr *store.Trace) error
	close()
}

// New returns a client for a host. It uses connections of its own if possible.
func (api *API) New(cfg *store.Config, a store.Address, n *store.Counters) (*Client, error) {
	if WhyNotOwn(cfg, a) != "" {
		return api.NewHTTP(cfg, a, n, 0)
	}
	return api.NewOwn(cfg, a, n)
}

// NewOwn returns a client that uses connections of its own.
func (api *API) NewOwn(cfg *store.Config, a store.Address, n *store.Counters) (*Client, error) {
	return api.client(cfg, a, func(c *Client) (transport, error) { return newPool(cfg, c.address, api, n) })
}

// NewHTTP returns a client that uses net/http. limit is the max time for a complete reply; 0 = none.
func (api *API) NewHTTP(cfg *store.Config, a store.Address, n *store.Counters, limit time.Duration) (*Client, error) {
	return api.client(cfg, a, func(c *Client) (transport, error) { return newHTTPTransport(cfg, c, n, limit) })
}

// NewAdmin returns a client for bookkeeping and its configuration. limit is the max time for a complete reply.
func (api *API) NewAdmin(cfg *store.Config, a store.Address, limit time.Duration) (*Client, *store.Config, error) {
	own := cfg.ForAdmin()
	own.Timeout = limit
	c, err := api.NewHTTP(own, a, new(store.Counters), limit)
	return c, own, err
}

func (api *API) client(cfg *store.Config, a store.Address, open func(*Client) (transport, error)) (*Client, error) {
	host := store.Address{Name: a.Name} // the path is part of the target
	c := &Client{api: api, cfg: cfg, address: a, base: host.URL(cfg.TLS), redirects: store.NewRedirects(cfg, &a)}
	c.open = func(a store.Address) (*Client, error) { return api.client(cfg, a, open) }
	var err error
	c.transport, err = open(c)
	return c, err
}

// WhyNotOwn returns why requests to a host cannot use connections of warp's own; "" = they can.
func WhyNotOwn(cfg *store.Config, a store.Address) string {
	host := store.Address{Name: a.Name}
	u, err := url.Parse(host.URL(cfg.TLS))
	switch {
	case err != nil:
		return err.Error()
	case proxied(u, a):
		return "the environment sets a proxy"
	case strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r <= ' ' || r > '~' }):
		return "its host name is not ASCII"
	}
	return unsupportedOptions(&cfg.Options)
}

// proxied reports whether the environment sets a proxy for a host, or an invalid one.
func proxied(u *url.URL, a store.Address) bool {
	find := dial.ProxyFor(a.Dial)
	if find == nil {
		return false
	}
	proxy, err := find(&http.Request{URL: u})
	return proxy != nil || err != nil
}

// unsupportedOptions returns the options that need net/http; "" = none.
func unsupportedOptions(o *store.Options) string {
	var all []string
	for _, option := range []struct {
		set  bool
		name string
	}{{o.Lookup == store.LookupHost, "bucket names in host names"}, {o.HTTP2, "HTTP/2"}, {o.KTLS, "kernel TLS"}} {
		if option.set {
			all = append(all, option.name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "it does not do " + strings.Join(all, ", ")
}

// Do sends a request and receives the reply, whatever its status. The reply's memory belongs to the
// request.
func (c *Client) Do(ctx context.Context, r *Request, tr *store.Trace) (*Reply, error) {
	if err := c.exchange(ctx, r, tr); err != nil {
		return nil, err
	}
	if err := r.receiveDocument(ctx, tr); err != nil {
		return nil, err
	}
	return &r.reply, nil
}

// Open is [Client.Do] for downloads. If the status is 200 or 206, the payload is left for
// [Reply.Receive].
func (c *Client) Open(ctx context.Context, r *Request, tr *store.Trace) (*Reply, error) {
	err := c.exchange(ctx, r, tr)
	if err == nil && r.reply.Status != http.StatusOK && r.reply.Status != http.StatusPartialContent {
		err = r.receiveDocument(ctx, tr)
	}
	if err != nil {
		return nil, err
	}
	return &r.reply, nil
}

// exchange sends a request and receives the head of the reply. It follows a redirect.
func (c *Client) exchange(ctx context.Context, r *Request, tr *store.Trace) error {
	if err := CheckHeaders(r.Headers); err != nil {
		return err
	}
	if c.api.Auth != nil {
		if err := c.api.Auth.Ready(ctx); err != nil {
			return err
		}
	}
	seen := tr.FirstByte()
	err := c.send(ctx, r, tr)
	if err == nil && r.Follows != nil && r.Follows(r.reply.Status) {
		err = c.follow(ctx, r, seen, tr)
	}
	if err == nil && r.reply.Status == http.StatusUnauthorized && c.api.Auth != nil {
		c.api.Auth.Refused()
	}
	return err
}

func (c *Client) send(ctx context.Context, r *Request, tr *store.Trace) error {
	if err := c.transport.send(ctx, r, tr); err != nil {
		return err
	}
	r.transport = c.transport
	return nil
}

// CheckHeaders rejects headers that would break a request or that warp sets: headers of HTTP, and own.
func CheckHeaders(headers []store.Header, own ...string) error {
	for _, h := range headers {
		for i := range len(h.Name) {
			if c := h.Name[i]; c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return store.Errorf("RequestFailed", 0, "%.60q is not a valid header name", h.Name)
			}
		}
		for i := range len(h.Value) {
			if c := h.Value[i]; c < ' ' && c != '\t' || c == 0x7f {
				return store.Errorf("RequestFailed", 0, "the value of header %s has a control character", h.Name)
			}
		}
		if own := slices.Contains(own, h.Name); own || slices.Contains(httpHeaders, h.Name) {
			return store.Errorf("RequestFailed", 0, "header %q is warp's own", h.Name)
		}
	}
	return nil
}

// httpHeaders are the headers of HTTP that warp sets.
var httpHeaders = []string{"", "authorization", "connection", "content-length", "host", "transfer-encoding"}

// Close closes idle connections now and the others when their requests end.
func (c *Client) Close() {
	c.transport.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, peer := range c.peers {
		peer.Close()
	}
}
