package standin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"warp/pkg/s3mem"
)

// A Gateway is an S3 store below a path that checks signatures and may redirect.
type Gateway struct {
	URL  string // with the path
	Addr string
	Key  Key

	path   string
	mem    http.Handler
	answer func(w http.ResponseWriter, r *http.Request) bool // if it returns true, it has answered instead of the store; nil = never
	server *httptest.Server

	journal

	mu       sync.Mutex
	redirect func(r *http.Request) string
}

// StartGateway starts a gateway below path. A store may have several.
func StartGateway(t testing.TB, path string, store *s3mem.Embedded) *Gateway {
	t.Helper()
	g := &Gateway{path: path, mem: store, Key: Key{Access: "gatewayaccess", Secret: "gatewaysecret"}}
	g.server = httptest.NewServer(g)
	t.Cleanup(g.server.Close)
	g.Addr = g.server.Listener.Addr().String()
	g.URL = g.server.URL + path
	return g
}

// Redirect redirects requests to the URL that to returns; "" = no redirect.
func (g *Gateway) Redirect(to func(r *http.Request) string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.redirect = to
}

// To redirects to the same path at another host, with an additional parameter, as AIStore does.
func To(base string) func(*http.Request) string {
	return func(r *http.Request) string {
		query := r.URL.RawQuery
		if query != "" {
			query += "&"
		}
		return base + r.URL.EscapedPath() + "?" + query + "pid=a%2Bb%20c"
	}
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.note(r) {
		return
	}
	g.mu.Lock()
	redirect := g.redirect
	g.mu.Unlock()
	if redirect != nil {
		if to := redirect(r); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			fmt.Fprint(w, "<Error><Code>TemporaryRedirect</Code><Message>Redirect</Message></Error>")
			return
		}
	}
	rest, below := strings.CutPrefix(r.URL.Path, g.path+"/")
	if !below {
		g.refuse(w, r, fmt.Errorf("%s is not below %s", r.URL.Path, g.path))
		return
	}
	if err := g.verify(r); err != nil {
		g.refuse(w, r, err)
		return
	}
	query := r.URL.Query()
	query.Del("pid")
	inner := r.Clone(r.Context())
	inner.Body = r.Body
	inner.URL = &url.URL{Path: "/" + rest, RawQuery: query.Encode()}
	inner.RequestURI = inner.URL.RequestURI()
	if g.answer == nil || !g.answer(w, inner) {
		g.mem.ServeHTTP(w, inner)
	}
}

func (g *Gateway) verify(r *http.Request) error {
	s, err := ParseSignature(r)
	switch {
	case err != nil:
		return err
	case s.Access != g.Key.Access || s.Service != "s3":
		return fmt.Errorf("signed by %q for %q", s.Access, s.Service)
	}
	return s.Verify(r, g.Key.Secret)
}

func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, err error) {
	g.blame(r, err)
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprint(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>see the test</Message></Error>")
}
