package transport

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

// A Dialer connects a coordinator to clients.
type Dialer struct {
	Identity
	// Roots are the authorities that certificates without a pin are checked by;
	// nil = they are not, and the token decides.
	Roots *x509.CertPool
	// Dial makes a connection; nil = by TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// errPin says that another machine answers.
var errPin = errors.New("its certificate does not have the fingerprint in the list of clients: another machine answers, or warp client was restarted with another certificate")

// config says how to talk TLS to a client, and how much its certificate has to
// say. Where that is nothing, the proof of the token shows that nothing is in
// between, since it covers the secret of the connection.
func (d *Dialer) config(addr string, pin []byte) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	switch {
	case pin != nil:
		c.InsecureSkipVerify = true // the pin says more than any authority could
		c.VerifyConnection = func(s tls.ConnectionState) error {
			sum := sha256.Sum256(s.PeerCertificates[0].Raw)
			if !bytes.Equal(sum[:], pin) {
				return fmt.Errorf("%w (sha256=%s)", errPin, hex.EncodeToString(sum[:]))
			}
			return nil
		}
	case d.Roots != nil:
		c.RootCAs = d.Roots
		c.ServerName, _, _ = net.SplitHostPort(addr) // it always has a port
	default:
		c.InsecureSkipVerify = true
	}
	return c
}

// Connect connects to the client at addr, whose certificate has the pin unless
// that is nil, within the timeout. What goes wrong is said in words for users.
func (d *Dialer) Connect(ctx context.Context, addr string, pin []byte, timeout time.Duration) (*Conn, error) {
	// A silent server is not waited for longer than one that is not there.
	limited, cancel := context.WithTimeout(ctx, min(timeout, handshakeTime))
	defer cancel()
	var conn *tls.Conn
	dialer := websocket.Dialer{
		HandshakeTimeout: handshakeTime,
		ReadBufferSize:   8 << 10,
		WriteBufferSize:  4 << 10,
	}
	// The library heeds the end of a context while it connects, and not while it waits for an answer.
	hangUp := func() bool { return true }
	defer func() { hangUp() }()
	dialer.NetDialTLSContext = func(dialing context.Context, network, _ string) (net.Conn, error) {
		var err error
		if conn, err = d.dialTLS(dialing, network, addr, pin); err != nil {
			return nil, err
		}
		hangUp = context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
		return conn, nil
	}
	ws, answer, err := dialer.DialContext(limited, "wss://"+addr+socketPath, nil)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), explainDial(err, answer))
	}
	state := conn.ConnectionState()
	if err := d.greetAgent(limited, ws, &state); err != nil {
		_ = ws.Close()
		if isTimeout(limited.Err()) {
			err = errSilent
		}
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return newConn(ws), nil
}

func (d *Dialer) dialTLS(ctx context.Context, network, addr string, pin []byte) (*tls.Conn, error) {
	dial := d.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	raw, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, d.config(addr, pin))
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return conn, nil
}

// What may answer instead of a warp client.
var (
	errRefused = errors.New("connection refused, so no warp client listens there")
	errSilent  = errors.New("something listens there, but does not answer as warp client does")
	ErrNotWarp = errors.New("something other than a warp client answers there")
	errOldWarp = fmt.Errorf("%w: it speaks HTTP without TLS; if it is a warp client, it is an older version, so use the same version on all machines", ErrNotWarp)
	errHangsUp = errors.New("something other than a warp client answers there: it hangs up") // as a proxy does whose client is not up yet
)

// explainDial explains to users of warp why there is no connection.
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
		return fmt.Errorf("%w: it does not speak TLS", ErrNotWarp)
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
		return fmt.Errorf("%w: it does not speak TLS as warp does: %w", ErrNotWarp, err)
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		return fmt.Errorf("%w: it does not speak HTTP", ErrNotWarp)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return errHangsUp
	}
	return err
}

// explainAnswer explains an answer that does not open a websocket.
func explainAnswer(answer *http.Response) error {
	return fmt.Errorf("%w: it says %.64q", ErrNotWarp, answer.Status)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// Final says that a second attempt would fail in the same way.
func Final(err error) bool {
	var version *versionError
	var cert *tls.CertificateVerificationError
	if errors.As(err, &version) || errors.As(err, &cert) {
		return true
	}
	for _, final := range []error{errPin, errTokenMissing, errTokenNeeded, errTokenWrong} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
