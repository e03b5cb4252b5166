package transport

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// socketPath is where a server answers requests for a websocket.
const socketPath = "/warp/fleet"

// A Server accepts coordinators.
type Server struct {
	Identity
	// TLS has the certificate; nil = one is made.
	TLS  *tls.Config
	Logf func(format string, args ...any)
	// Handle talks to a coordinator that has proven itself, until it returns.
	Handle func(ctx context.Context, c *Conn) error

	refusals refusals
}

// Serve serves connections to l until ctx ends, and closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	config, err := s.config()
	if err != nil {
		_ = l.Close()
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+socketPath, func(w http.ResponseWriter, r *http.Request) { s.accept(ctx, w, r) })
	server := &http.Server{
		Handler: mux, TLSConfig: config, ReadHeaderTimeout: strangerTime, MaxHeaderBytes: 8 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
		// HTTP/2 has no upgrade to a websocket that this library knows.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	server.SetKeepAlivesEnabled(false)
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	return server.ServeTLS(s.limitStrangers(l), "", "")
}

func (s *Server) config() (*tls.Config, error) {
	config := s.TLS
	if config == nil {
		var err error
		if config, _, err = SelfSigned(); err != nil {
			return nil, err
		}
	}
	config = config.Clone()
	config.MinVersion = tls.VersionTLS13 // its exported secrets bind a proof to the connection
	config.SessionTicketsDisabled = true // connections are too few to resume any
	return config, nil
}

// accept lets a coordinator in, or a stranger out.
func (s *Server) accept(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{
		HandshakeTimeout: strangerTime,
		// A browser always says which page it acts for, and no page has
		// business here.
		CheckOrigin: func(r *http.Request) bool { return r.Header.Get("Origin") == "" },
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the answer is sent
	}
	defer ws.Close()
	if err := s.greetCoordinator(ctx, ws, r.TLS); err != nil {
		s.refused(ws.RemoteAddr(), err)
		return
	}
	if !admit(ws) {
		return
	}
	defer closeOn(ctx, ws)()
	if err := s.Handle(ctx, newConn(ws)); err != nil && ctx.Err() == nil && !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		s.Logf("the connection from %s ended: %v", r.RemoteAddr, err)
	}
}
