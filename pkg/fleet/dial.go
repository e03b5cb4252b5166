package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
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

// dial connects to a member and proves to it who we are, which takes as long as most.
func (f *Fleet) dial(ctx context.Context, m Member, most time.Duration) (*channel, error) {
	config := tlsFor(m, f.options.Roots)
	scheme := "ws://"
	if config != nil {
		scheme = "wss://"
	}
	hangUp := func() bool { return true }
	defer func() { hangUp() }()
	dialer := websocket.Dialer{
		// Of the end of a context the library takes note while it connects, and not while it waits for an answer.
		NetDialContext: func(dialing context.Context, network, addr string) (net.Conn, error) {
			conn, err := f.options.Dial(dialing, network, addr)
			if err == nil {
				hangUp = context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		},
		TLSClientConfig:  config,
		HandshakeTimeout: handshakeTime,
		ReadBufferSize:   8 << 10,
		WriteBufferSize:  4 << 10,
	}
	// Who is silent is not waited for longer than for somebody who is not there.
	limited, cancel := context.WithTimeout(ctx, min(handshakeTime, f.options.ConnectPatience, most))
	defer cancel()
	ws, answer, err := dialer.DialContext(limited, scheme+m.Addr+Path, nil)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), explainDial(err, answer))
	}
	ch, err := handshakeAsCoordinator(limited, ws, identity{warp: f.options.Warp, token: f.options.Token})
	if err != nil {
		_ = ws.Close()
		if isTimeout(limited.Err()) {
			err = errSilent
		}
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return ch, nil
}

// What answers, if it is no warp client that is reached in this way.
var (
	errSpeaksTLS = errors.New("it talks TLS: give its fingerprint after the address, as it shows it at its start, or --warp-ca")
	errPlain     = errors.New("it does not talk TLS: leave out --warp-ca and the fingerprint, or start it with --tls-self-signed or --tls-cert")
	errRefused   = errors.New("connection refused, so no warp client listens there")
	errSilent    = errors.New("something listens there and does not answer as warp client does")
	errNotWarp   = errors.New("no warp client answers there, but something")
	errHangsUp   = errors.New("no warp client answers there, but something that hangs up") // as what stands before one that starts does
)

// explainDial says in words of this program why there is no connection.
func explainDial(err error, answer *http.Response) error {
	var record tls.RecordHeaderError
	var cert *tls.CertificateVerificationError
	var name *net.DNSError
	var op *net.OpError
	switch {
	case answer != nil:
		return explainAnswer(answer)
	case errors.As(err, &record):
		return errPlain
	case errors.As(err, &cert) && !errors.Is(err, errPin):
		return fmt.Errorf("%w: start it with a certificate for this address from an authority in --warp-ca, or give its fingerprint after the address", err)
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Errorf("there is no such name: %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errRefused
	case errors.As(err, &op) && op.Op == "dial":
		return err // the system's words are as good as any
	case isTimeout(err):
		return errSilent
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		return fmt.Errorf("%w that does not speak HTTP", errNotWarp)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return errHangsUp
	}
	return err
}

// explainAnswer is about an answer that is no way to a websocket.
func explainAnswer(answer *http.Response) error {
	if answer.StatusCode == http.StatusServiceUnavailable {
		return errors.New("it has too many connections of strangers; try again")
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // what there is of it helps; the rest does not matter
	if answer.StatusCode == http.StatusBadRequest && strings.Contains(string(text), "HTTP request to an HTTPS server") {
		return errSpeaksTLS
	}
	return fmt.Errorf("%w that says %q", errNotWarp, printable(answer.Status))
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// hopeless says that a second attempt would fail in the same way.
func hopeless(err error) bool {
	var version *VersionError
	var cert *tls.CertificateVerificationError
	if errors.As(err, &version) || errors.As(err, &cert) {
		return true
	}
	for _, final := range []error{errPin, errPlain, errSpeaksTLS, ErrTokenMissing, ErrTokenNeeded, ErrTokenWrong} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// hopelessFirst says so of an attempt to reach a client that was not reached yet. Who waits for clients that are being
// started may find something else at their address until then.
func (o *Options) hopelessFirst(err error) bool {
	return hopeless(err) || !o.Starting && errors.Is(err, errNotWarp)
}

// defaultDial connects by TCP.
func defaultDial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	return d.DialContext(ctx, network, addr)
}
