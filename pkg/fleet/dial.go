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

// tlsFor says how to talk to the member, and how much its certificate has to
// say. Where that is nothing, the proof of the token, which covers the secret
// of the connection, says that nobody is in between.
func tlsFor(m Member, roots *x509.CertPool) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	switch {
	case m.Pin != nil:
		c.InsecureSkipVerify = true // the pin says more than any authority could
		c.VerifyConnection = func(s tls.ConnectionState) error {
			sum := sha256.Sum256(s.PeerCertificates[0].Raw)
			if !bytes.Equal(sum[:], m.Pin) {
				return fmt.Errorf("%w (sha256=%s)", errPin, hex.EncodeToString(sum[:]))
			}
			return nil
		}
	case roots != nil:
		c.RootCAs = roots
		c.ServerName, _, _ = net.SplitHostPort(m.Addr) // it always has a port
	default:
		c.InsecureSkipVerify = true
	}
	return c
}

// dial connects to a member and proves to it who we are, which takes as long as most.
func (f *Fleet) dial(ctx context.Context, m Member, most time.Duration) (*channel, error) {
	hangUp := func() bool { return true }
	defer func() { hangUp() }()
	var state tls.ConnectionState
	dialer := websocket.Dialer{
		NetDialTLSContext: func(dialing context.Context, network, addr string) (net.Conn, error) {
			raw, err := f.options.Dial(dialing, network, addr)
			if err != nil {
				return nil, err
			}
			conn := tls.Client(raw, tlsFor(m, f.options.Roots))
			if err := conn.HandshakeContext(dialing); err != nil {
				_ = raw.Close()
				return nil, err
			}
			// The library heeds the end of a context while it connects, and not while it waits for an answer.
			hangUp = context.AfterFunc(ctx, func() { _ = raw.Close() })
			state = conn.ConnectionState()
			return conn, nil
		},
		HandshakeTimeout: handshakeTime,
		ReadBufferSize:   8 << 10,
		WriteBufferSize:  4 << 10,
	}
	// Who is silent is not waited for longer than for somebody who is not there.
	limited, cancel := context.WithTimeout(ctx, min(handshakeTime, f.options.ConnectPatience, most))
	defer cancel()
	ws, answer, err := dialer.DialContext(limited, "wss://"+m.Addr+Path, nil)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), explainDial(err, answer))
	}
	ch, err := handshakeAsCoordinator(limited, ws, &state, identity{warp: f.options.Warp, token: f.options.Token})
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
	errRefused = errors.New("connection refused, so no warp client listens there")
	errSilent  = errors.New("something listens there and does not answer as warp client does")
	errNotWarp = errors.New("no warp client answers there, but something")
	errOldWarp = fmt.Errorf("%w that speaks HTTP without TLS; where that is a warp client, it is an older version: use the same version on all machines", errNotWarp)
	errHangsUp = errors.New("no warp client answers there, but something that hangs up") // as what stands before one that starts does
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
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return errOldWarp
	case errors.As(err, &record):
		return fmt.Errorf("%w that does not speak TLS", errNotWarp)
	case errors.As(err, &cert) && !errors.Is(err, errPin):
		return fmt.Errorf("%w: start it with a certificate for this address from an authority in --warp-ca, or give its fingerprint after the address", err)
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Errorf("there is no such name: %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errRefused
	case errors.Is(err, errPin):
		return err
	case errors.As(err, &op) && op.Op == "dial":
		return err // the system's words are as good as any
	case isTimeout(err):
		return errSilent
	case strings.Contains(err.Error(), "tls: "): // crypto/tls has no type for most of them
		return fmt.Errorf("%w that does not speak TLS as warp does: %w", errNotWarp, err)
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		return fmt.Errorf("%w that does not speak HTTP", errNotWarp)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return errHangsUp
	}
	return err
}

// explainAnswer is about an answer that is no way to a websocket.
func explainAnswer(answer *http.Response) error {
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
	for _, final := range []error{errPin, ErrTokenMissing, ErrTokenNeeded, ErrTokenWrong} {
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
