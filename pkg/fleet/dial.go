package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// A Member is a client as the user names it.
type Member struct {
	Addr string // host:port
	Pin  []byte // SHA-256 of its certificate; nil where none is given
}

// String is the member as messages name it.
func (m Member) String() string { return m.Addr }

// errPin says that somebody else answers.
var errPin = errors.New("its certificate is not the one that the list of clients pins: another machine answers, or warp client was started anew and made another certificate")

// tlsFor says how to talk to the member; nil is without TLS.
func tlsFor(m Member, roots *x509.CertPool) *tls.Config {
	switch {
	case m.Pin != nil:
		return &tls.Config{
			MinVersion: tls.VersionTLS13,
			// The pin says more than any authority could.
			InsecureSkipVerify: true,
			VerifyConnection: func(s tls.ConnectionState) error {
				sum := sha256.Sum256(s.PeerCertificates[0].Raw)
				if !bytes.Equal(sum[:], m.Pin) {
					return fmt.Errorf("%w (sha256=%s)", errPin, hex.EncodeToString(sum[:]))
				}
				return nil
			},
		}
	case roots != nil:
		return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	return nil
}

// dial connects to a member and proves to it who we are.
func (f *Fleet) dial(ctx context.Context, m Member) (*channel, error) {
	config := tlsFor(m, f.options.Roots)
	scheme := "ws://"
	if config != nil {
		scheme = "wss://"
	}
	dialer := websocket.Dialer{
		NetDialContext:   f.options.Dial,
		TLSClientConfig:  config,
		HandshakeTimeout: handshakeTime,
		ReadBufferSize:   8 << 10,
		WriteBufferSize:  4 << 10,
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	ws, answer, err := dialer.DialContext(ctx, scheme+m.Addr+Path, nil)
	if err != nil {
		return nil, explainDial(err, answer)
	}
	ch, err := handshakeAsCoordinator(ctx, ws, identity{warp: f.options.Warp, token: f.options.Token})
	if err != nil {
		_ = ws.Close()
		return nil, err
	}
	return ch, nil
}

func explainDial(err error, answer *http.Response) error {
	var record tls.RecordHeaderError
	switch {
	case answer != nil && answer.StatusCode == http.StatusServiceUnavailable:
		return errors.New("it has too many connections of strangers; try again")
	case answer != nil:
		return fmt.Errorf("no warp client answers there, but something that says %q", printable(answer.Status))
	case errors.As(err, &record):
		return errors.New("it does not talk TLS: leave out --warp-ca and the pin, or start it with --tls")
	}
	return err
}

// hopeless says that a second attempt would fail in the same way.
func hopeless(err error) bool {
	var version *VersionError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &version) || errors.As(err, &cert) || errors.Is(err, errPin) ||
		errors.Is(err, ErrTokenMissing) || errors.Is(err, ErrTokenNeeded) || errors.Is(err, ErrTokenWrong)
}

// defaultDial connects by TCP.
func defaultDial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	return d.DialContext(ctx, network, addr)
}
