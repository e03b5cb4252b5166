package lean

import (
	"bytes"
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// peers contains the engines for the hosts to which a store redirects, by address.
type peers struct {
	mu   sync.Mutex
	all  map[string]*Engine
	over bool
	last atomic.Pointer[bucketHost] // the host of the bucket that was used last

	routes map[string]route // where redirects of calls lead, by host
}

// A route is where redirects of calls to a host lead.
type route struct {
	*Engine
	trusted bool // it may get credentials
}

// maxPeers limits the number of hosts to which one host may redirect.
const maxPeers = 4096

// hostOf returns the engine for a bucket that has its own host.
func (e *Engine) hostOf(bucket string) (*Engine, error) {
	if last := e.peers.last.Load(); last != nil && last.bucket == bucket {
		return last.Engine, nil
	}
	if bucket == "" || strings.ContainsFunc(bucket, notInLabel) {
		return nil, store.ErrUnsupported // it would be another host
	}
	found, err := e.peer(store.Address{Name: bucket + "." + e.name, Dial: e.dialTo}, true)
	if err == nil {
		e.peers.last.Store(&bucketHost{found, bucket})
	}
	return found, err
}

// A bucketHost is the host of one bucket.
type bucketHost struct {
	*Engine
	bucket string
}

func notInLabel(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// peer returns the engine for another host, which may be a bucket's own.
func (e *Engine) peer(a store.Address, ownHost bool) (*Engine, error) {
	p := &e.peers
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.all[a.Name]; found != nil {
		return found, nil
	}
	if len(p.all) == maxPeers {
		return nil, store.Errorf(store.CodeRedirect, 0, "the store redirects to more than %d hosts", maxPeers)
	}
	found, err := New(e.cfg, a, e.regions, e.counters)
	if err != nil {
		return nil, err
	}
	found.sessions, found.ownHost = e.sessions, ownHost
	if p.all == nil {
		p.all = make(map[string]*Engine)
	}
	if p.all[a.Name] = found; p.over {
		found.Close()
	}
	return found, nil
}

func (p *peers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, peer := range p.all {
		peer.Close()
	}
}

// follow sends q to where the store has redirected it, with its payload and signed for that host.
// seen is the first byte that tr had before, because a redirect does not count as the first byte of
// the answer.
func (e *Engine) follow(ctx context.Context, c *conn, q *request, seen time.Duration, tr *store.Trace) (*conn, error) {
	if len(c.head.Location) == 0 {
		return c, nil
	}
	peer, wrong := e.sameRoute(c, q), error(nil)
	if peer == nil {
		peer, wrong = e.newRoute(ctx, c, q)
	}
	if wrong != nil && len(c.head.Region) > 0 {
		return c, nil // the region differs, not the host
	}
	if _, err := c.receiveBody(tr, q.method, sink{keep: s3.MaxErrorDocument}); err != nil {
		return nil, e.failed(ctx, c, err, tr)
	}
	c.release()
	if wrong != nil {
		return nil, wrong
	}
	tr.Redirected(seen)
	c, err := peer.send(ctx, q, tr)
	if err == nil && q.redirects(c.head.Status) && len(c.head.Location) > 0 {
		at, _ := url.Parse(peer.url)
		err = store.RedirectedAgain(at, string(c.head.Location), c.head.Status)
		c.abandon()
		return nil, err
	}
	return c, err
}

// sameRoute returns the engine to which an earlier call to the host was redirected, or nil if there
// was none. Some stores redirect every request, so this is kept cheap.
func (e *Engine) sameRoute(c *conn, q *request) *Engine {
	if q.call == nil {
		return nil
	}
	scheme := "http://"
	if e.tls != nil {
		scheme = "https://"
	}
	rest, ok := bytes.CutPrefix(c.head.Location, []byte(scheme))
	slash := bytes.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return nil
	}
	host, target := rest[:slash], rest[slash:]
	e.peers.mu.Lock()
	found, ok := e.peers.routes[string(host)]
	e.peers.mu.Unlock()
	if !ok || bytes.ContainsFunc(target, notInTarget) {
		return nil
	}
	q.moved = append(q.call.Target, target...)[len(q.call.Target):]
	q.anonymous = !found.trusted
	return found.Engine
}

// notInTarget reports whether r must not occur in a request target.
func notInTarget(r rune) bool { return r <= ' ' || r > '~' || r == '#' }

// newRoute checks where a redirect leads and keeps the route.
func (e *Engine) newRoute(ctx context.Context, c *conn, q *request) (*Engine, error) {
	to, err := e.redirectTarget(ctx, q, string(c.head.Location), c.head.Status)
	if err != nil {
		return nil, err
	}
	peer, err := e.peer(store.Address{Name: to.Host}, false)
	if err != nil {
		return nil, err
	}
	q.redirected = to
	if q.call != nil && to.Host != e.name { // redirects to the same host are not kept
		e.peers.mu.Lock()
		defer e.peers.mu.Unlock()
		if e.peers.routes == nil {
			e.peers.routes = make(map[string]route)
		}
		e.peers.routes[to.Host] = route{peer, !q.anonymous}
	}
	return peer, nil
}

// redirectTarget returns where a redirect leads. Its path and parameters are in the form in which
// they are signed; a path from a call stays unchanged.
func (e *Engine) redirectTarget(ctx context.Context, q *request, location string, status int) (*url.URL, error) {
	var target []byte
	if q.call != nil {
		target = q.call.Target
	} else {
		target, _ = e.appendTarget(nil, q)
	}
	from, err := url.Parse(e.url)
	if err == nil {
		from, err = from.Parse(string(target))
	}
	if err != nil {
		return nil, store.AsError(err, status)
	}
	if q.call != nil {
		return e.callTarget(ctx, q, from, location, status)
	}
	to, err := e.redirects.Target(from, location, status)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(to.RawQuery)
	if err != nil {
		return nil, store.Errorf(store.CodeRedirect, status, "the store redirects to parameters that cannot be read")
	}
	to.RawPath, to.RawQuery = string(appendEscaped(nil, to.Path, true)), canonicalQuery(values)
	return to, nil
}

// callTarget returns where the redirect of a call leads. Its path and parameters stay unchanged.
func (e *Engine) callTarget(ctx context.Context, q *request, from *url.URL, location string, status int) (*url.URL, error) {
	var known func(string) bool
	if hosts := q.call.caller.Known; hosts != nil {
		known = func(host string) bool { return hosts(ctx, host) }
	}
	to, trusted, err := e.redirects.TargetIn(from, location, status, known)
	if err != nil {
		return nil, err
	}
	q.anonymous, to.RawPath = !trusted, to.EscapedPath()
	return to, nil
}

// canonicalQuery returns all parameters, escaped and in the order in which they are signed.
func canonicalQuery(values url.Values) string {
	var all [][2]string
	for name, list := range values {
		for _, value := range list {
			all = append(all, [2]string{string(appendEscaped(nil, name, false)), string(appendEscaped(nil, value, false))})
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var text []byte
	for i, p := range all {
		if i > 0 {
			text = append(text, '&')
		}
		text = append(append(append(text, p[0]...), '='), p[1]...)
	}
	return string(text)
}
