package httpclient

import (
	"bytes"
	"cmp"
	"context"
	"net/url"
	"time"

	"warp/pkg/store"
)

// IsMoved reports whether a status redirects a request of an API whose stores also answer 301, for
// every method.
func IsMoved(status int) bool { return status == 301 || store.IsRedirect(status) }

// A route is where redirects to a host lead.
type route struct {
	*Client
	trusted bool // it may get credentials
}

// maxPeers limits the number of hosts to which one host may redirect.
const maxPeers = 4096

// Peer returns the client for another host.
func (c *Client) Peer(a store.Address) (*Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.peers[a.Name]; found != nil {
		return found, nil
	}
	if len(c.peers) == maxPeers {
		return nil, store.Errorf(store.CodeRedirect, 0, "the store redirects to more than %d hosts", maxPeers)
	}
	found, err := c.open(a)
	if err != nil {
		return nil, err
	}
	if c.peers == nil {
		c.peers = make(map[string]*Client)
	}
	if c.peers[a.Name] = found; c.over {
		found.Close()
	}
	return found, nil
}

// follow sends r to where the store has redirected it, with its payload. seen is the first byte that
// tr had before.
func (c *Client) follow(ctx context.Context, r *Request, seen time.Duration, tr *store.Trace) error {
	if len(r.reply.head.Location) == 0 {
		return nil
	}
	peer, wrong := c.sameRoute(r), error(nil)
	if peer == nil {
		peer, wrong = c.newRoute(ctx, r)
	}
	if wrong != nil && len(r.reply.head.Region) > 0 {
		return nil // the region differs, not the host
	}
	if wrong != nil {
		_, err := c.transport.receive(ctx, r, sink{keep: maxErrorDocument}, tr)
		return cmp.Or(err, wrong)
	}
	if err := c.transport.redirected(ctx, r, seen, tr); err != nil {
		return err
	}
	r.transport = nil
	if err := peer.send(ctx, r, tr); err != nil {
		return err
	}
	if r.Follows(r.reply.Status) && len(r.reply.head.Location) > 0 {
		at, err := url.Parse(peer.base)
		if err != nil {
			return store.AsError(err, r.reply.Status)
		}
		return store.RedirectedAgain(at, r.reply.Location(), r.reply.Status)
	}
	return nil
}

// sameRoute returns the client to which an earlier request was redirected, or nil if there was none.
// Some stores redirect every request, so this is kept cheap.
func (c *Client) sameRoute(r *Request) *Client {
	if r.Writer != nil { // it needs the address in parts
		return nil
	}
	scheme := c.base[:len(c.base)-len(c.address.Name)]
	rest, ok := bytes.CutPrefix(r.reply.head.Location, []byte(scheme))
	slash := bytes.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return nil
	}
	host, target := rest[:slash], rest[slash:]
	c.mu.Lock()
	found, ok := c.routes[string(host)]
	c.mu.Unlock()
	if !ok || bytes.ContainsFunc(target, notInTarget) {
		return nil
	}
	r.moved = append(r.target, target...)[len(r.target):]
	r.anonymous = !found.trusted
	return found.Client
}

// notInTarget reports whether r must not occur in a request target.
func notInTarget(r rune) bool { return r <= ' ' || r > '~' || r == '#' }

// newRoute checks where a redirect leads and keeps the route. Path and parameters stay unchanged.
func (c *Client) newRoute(ctx context.Context, r *Request) (*Client, error) {
	head := &r.reply.head
	from, err := url.Parse(c.base)
	if err == nil {
		from, err = from.Parse(string(r.target))
	}
	if err != nil {
		return nil, store.AsError(err, head.Status)
	}
	var known func(string) bool
	if c.api.Hosts != nil {
		known = func(host string) bool { return c.api.knows(ctx, host) }
	}
	to, trusted, err := c.redirects.TargetIn(from, string(head.Location), head.Status, known)
	if err != nil {
		return nil, err
	}
	r.to, r.anonymous, r.moved = to, !trusted, []byte(to.RequestURI())
	if to.Host == c.address.Name {
		return c, nil
	}
	peer, err := c.Peer(store.Address{Name: to.Host})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.routes == nil {
		c.routes = make(map[string]route)
	}
	c.routes[to.Host] = route{peer, trusted}
	return peer, nil
}
