// Package web shows pages over HTTP: the page of a run while it lasts, updated by server-sent
// events, and pages of recorded runs.
//
// A slow reader costs others nothing: it gets the newest state when it is ready, and the server
// keeps no queue for it.
package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"warp/internal/connlimit"
	"warp/pkg/report/page"
)

// Limits on what strangers can use of the server, because the benchmark needs the file descriptors.
const (
	maxConnections = 64
	grace          = 250 * time.Millisecond
)

const (
	writeWait = 10 * time.Second // max time to write a part of an answer
	beat      = 2 * time.Second  // interval of keepalive events
	interest  = 5 * time.Second  // how long a reader counts as interested after a request
)

// Options are the actions that a page offers.
type Options struct {
	Stop func()                  // stops the run; nil = there is nothing to stop
	Mark func(text string) error // sets a mark; nil = there is no run
	Log  func() string           // returns the file name of the op log so far; "" = there is none
}

// A Server shows a page until Close.
type Server struct {
	options  Options
	token    string
	loopback bool
	addr     netip.AddrPort
	http     *http.Server
	done     chan struct{}
	close    func()

	mu      sync.Mutex
	once    string    // what the next GET /open has to know; "" = nothing is right
	until   time.Time // when once expires
	state   state
	shown   *content
	changed chan struct{} // closed at each change
	viewers int
	asked   time.Time
}

// A state is the state of the run.
type state struct {
	Text string `json:"text"`
	Over bool   `json:"over"`
}

// A content is a page with the forms that its viewers get.
type content struct {
	page      *page.Page
	at        time.Time
	fragments []byte
}

// Listen serves at HOST:PORT. If other machines can reach that address, every request needs the
// token in the URL; otherwise only requests that change the run do.
func Listen(addr string, o Options) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, token: rand.Text(), done: make(chan struct{}), changed: make(chan struct{}), state: state{Text: "getting ready"}}
	s.close = sync.OnceFunc(func() { close(s.done) })
	s.addr = l.Addr().(*net.TCPAddr).AddrPort()
	s.loopback = s.addr.Addr().Unmap().IsLoopback()
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	total := connlimit.Share(maxConnections)
	limited := connlimit.Listen(l, connlimit.Limits{Total: total, PerAddress: total * 3 / 4, Grace: grace})
	go func() { _ = s.http.Serve(limited) }()
	return s, nil
}

// URL returns the URL of the page, with the token.
func (s *Server) URL() string { return s.base() + "/?token=" + s.token }

// openPath needs no token: it gives one to who knows the rest of the URL.
const openPath = "/open"

// openTime is how long a browser may take to start.
const openTime = time.Minute

// OpenURL returns a URL that redirects to the page, once and within a minute. Unlike a token it may be an
// argument of a program, which other users can see.
func (s *Server) OpenURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once, s.until = rand.Text(), time.Now().Add(openTime)
	return s.base() + openPath + "?once=" + s.once
}

// open redirects to the page.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	right := s.once != "" && time.Now().Before(s.until) && subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("once")), []byte(s.once)) == 1
	if right {
		s.once = ""
	}
	s.mu.Unlock()
	if !right {
		http.Error(w, "this link works once: open the URL that warp printed", http.StatusForbidden)
		return
	}
	http.Redirect(w, r, "/?token="+s.token, http.StatusSeeOther)
}

// base returns the URL of the server.
func (s *Server) base() string {
	host := s.addr.Addr().Unmap().String()
	if s.addr.Addr().IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(int(s.addr.Port())))
}

// Wanted reports whether somebody is viewing the page, so that a newer one is worth its cost.
func (s *Server) Wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.state.Over && (s.viewers > 0 || time.Since(s.asked) < interest)
}

// Show replaces the page. It renders everything that viewers get before it returns.
func (s *Server) Show(p *page.Page) {
	c := &content{page: p, at: time.Now()}
	if fragments, err := p.Fragments(); err == nil { // tests cover the templates
		c.fragments = fragments
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = c
	s.tell()
}

// Say changes the state, in a few words. After End it does nothing.
func (s *Server) Say(text string) { s.become(state{Text: text}) }

// End says that the run is over, and why or how.
func (s *Server) End(text string) { s.become(state{text, true}) }

func (s *Server) become(now state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == now || s.state.Over {
		return
	}
	s.state = now
	s.tell()
}

// tell wakes all that wait for a change. The caller holds the lock.
func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Close closes all connections, after viewers have got the final state.
func (s *Server) Close() {
	s.close()
	for range 20 { // wait until they have got it
		s.mu.Lock()
		left := s.viewers
		s.mu.Unlock()
		if left == 0 {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = s.http.Close()
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", s.guard(s.showPage, false))
	mux.Handle("GET "+openPath, s.guard(s.open, false))
	mux.Handle("GET /events", s.guard(s.events, false))
	mux.Handle("GET /report.html", s.guard(s.savePage, false))
	mux.Handle("GET /report.json", s.guard(s.saveData, false))
	mux.Handle("GET /log", s.guard(s.saveLog, false))
	mux.Handle("POST /stop", s.guard(s.stop, true))
	mux.Handle("POST /mark", s.guard(s.mark, true))
	return mux
}

// guard checks whether a request is allowed. A page of another site that makes a browser send
// requests, perhaps through a host name that resolves to this machine, has another Host or Origin
// and no token.
func (s *Server) guard(next http.HandlerFunc, changes bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case s.loopback && !s.ownHost(r.Host):
			http.Error(w, "this page is at "+s.addr.String()+" only", http.StatusMisdirectedRequest)
		case (changes || !s.loopback) && r.URL.Path != openPath && !s.knows(r):
			http.Error(w, "the token of the URL that warp printed is missing or wrong", http.StatusForbidden)
		case foreign(r):
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		default:
			next(w, r)
		}
	})
}

// ownHost reports whether a Host header names this machine by an address, or as localhost.
func (s *Server) ownHost(name string) bool {
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		host, port = name, "80"
	}
	if port != strconv.Itoa(int(s.addr.Port())) {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// knows reports whether the request has the token.
func (s *Server) knows(r *http.Request) bool {
	token := r.Header.Get("X-Warp-Token")
	if token == "" {
		token = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// foreign reports whether the browser says that a page of another site sends the request.
func foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	// A link or a typed address may lead to the page, but to nothing else.
	return site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet && site != "" && site != "same-origin"
}

func (s *Server) stop(w http.ResponseWriter, _ *http.Request) {
	if s.options.Stop == nil || s.over() {
		http.Error(w, "there is no run to stop", http.StatusConflict)
		return
	}
	s.options.Stop()
	w.WriteHeader(http.StatusNoContent)
}

const maxBody = 4 << 10

func (s *Server) mark(w http.ResponseWriter, r *http.Request) {
	if s.options.Mark == nil || s.over() {
		http.Error(w, "there is no run to mark", http.StatusConflict)
		return
	}
	text, err := body(w, r)
	if err == nil {
		err = s.options.Mark(text)
	}
	if err != nil {
		http.Error(w, fmt.Sprint(err), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Over
}
