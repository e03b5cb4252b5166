package fleet

import (
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

// Protocol is the version of the language between coordinator and agent.
// Whoever changes a message or what it means makes it one higher.
const Protocol = 2

// MinToken is the fewest characters of a token. What is proven with it could
// be tried out offline by somebody who plays an agent, so it must not be a word.
const MinToken = 16

const (
	nonceSize     = 32
	maxHandshake  = 4 << 10 // bytes of a message before anybody has proven anything
	handshakeTime = 10 * time.Second
)

// The roles go into what is proven, so that a proof cannot be sent back to its
// maker as one's own.
const (
	roleCoordinator = "coordinator"
	roleAgent       = "agent"
)

// A hello is the first message of either side. It is not secret; the proofs
// cover every byte of both.
type hello struct {
	Protocol int    `json:"protocol"`
	Warp     string `json:"warp"`
	Role     string `json:"role"`
	Token    bool   `json:"token"` // the sender has one and asks for the proof
	Nonce    []byte `json:"nonce"`
	Key      []byte `json:"key"` // ephemeral, X25519
}

// An identity is what one side brings into a handshake.
type identity struct {
	warp  string
	token string
	role  string
}

// A handshake is one side's state until both have proven themselves.
type handshake struct {
	self    identity
	private *ecdh.PrivateKey
	own     []byte // the hellos as they were sent
	theirs  []byte
	peer    hello
}

func newHandshake(self identity) (*handshake, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	h := &handshake{self: self, private: private}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	h.own, err = json.Marshal(hello{
		Protocol: Protocol, Warp: self.warp, Role: self.role, Token: self.token != "",
		Nonce: nonce, Key: private.PublicKey().Bytes(),
	})
	return h, err
}

// take reads the other side's hello and says why the two do not go together.
func (h *handshake) take(message []byte) error {
	h.theirs = message
	if err := json.Unmarshal(message, &h.peer); err != nil {
		return fmt.Errorf("its first message is not of warp's protocol: %w", err)
	}
	p := &h.peer
	switch {
	case p.Protocol != Protocol || p.Warp != h.self.warp:
		return &VersionError{Own: h.self.warp, OwnProtocol: Protocol, Their: p.Warp, TheirProtocol: p.Protocol, Role: h.self.role}
	case p.Role == h.self.role:
		return fmt.Errorf("it is a second %s", p.Role)
	case len(p.Nonce) != nonceSize:
		return errors.New("its first message is not of warp's protocol: the nonce has the wrong length")
	case p.Token && h.self.token == "":
		return ErrTokenNeeded
	case !p.Token && h.self.token != "":
		return ErrTokenMissing
	}
	return nil
}

// A VersionError says that coordinator and agent are different builds.
type VersionError struct {
	Own, Their                 string
	OwnProtocol, TheirProtocol int
	Role                       string // of the one who says so
}

func (e *VersionError) Error() string {
	here, there := roleCoordinator, "client"
	if e.Role == roleAgent {
		here, there = there, here
	}
	return fmt.Sprintf("the %s is warp %s (protocol %d) and the %s is warp %s (protocol %d): use the same version on all machines",
		there, printable(e.Their), e.TheirProtocol, here, e.Own, e.OwnProtocol)
}

// printable shortens what a stranger has sent, for a message.
func printable(s string) string {
	return fmt.Sprintf("%.64s", s)
}

// What goes wrong between two that do not share a token.
var (
	ErrTokenNeeded  = errors.New("the other side asks for a token: set WARP_CLIENT_TOKEN or --token-file to the token of the clients")
	ErrTokenMissing = errors.New("the other side has no token: start it with the same WARP_CLIENT_TOKEN or --token-file")
	ErrTokenWrong   = errors.New("the other side has another token: give the coordinator and all clients the same WARP_CLIENT_TOKEN or --token-file")
)

// keys are what both sides work out of the two hellos.
type keys struct {
	toAgent, toCoordinator []byte // AES-256
	proofKey               []byte
	transcript             []byte
}

// keys mixes the agreed secret, the token and everything that was said.
func (h *handshake) keys() (*keys, error) {
	public, err := ecdh.X25519().NewPublicKey(h.peer.Key)
	if err != nil {
		return nil, fmt.Errorf("its key is not one: %w", err)
	}
	secret, err := h.private.ECDH(public) // refuses the points that give everybody the same secret
	if err != nil {
		return nil, fmt.Errorf("its key is not one: %w", err)
	}
	transcript := sha256.New()
	first, second := h.own, h.theirs
	if h.self.role == roleAgent {
		first, second = second, first
	}
	for _, m := range [][]byte{first, second} {
		_ = binary.Write(transcript, binary.BigEndian, uint64(len(m))) // a hash takes everything
		transcript.Write(m)
	}
	k := &keys{transcript: transcript.Sum(nil)}
	token := sha256.Sum256([]byte("warp fleet token\x00" + h.self.token))
	material := append(secret, token[:]...)
	for info, dst := range map[string]*[]byte{"to agent": &k.toAgent, "to coordinator": &k.toCoordinator} {
		if *dst, err = hkdf.Key(sha256.New, material, k.transcript, "warp fleet "+info, 32); err != nil {
			return nil, err
		}
	}
	k.proofKey, err = hkdf.Key(sha256.New, token[:], k.transcript, "warp fleet proof", 32)
	return k, err
}

// proof is what only somebody with the token can say about this conversation.
func (k *keys) proof(role string) []byte {
	mac := hmac.New(sha256.New, k.proofKey)
	mac.Write([]byte(role))
	mac.Write(k.transcript)
	return mac.Sum(nil)
}

func (k *keys) check(proof []byte, role string) error {
	if subtle.ConstantTimeCompare(proof, k.proof(role)) != 1 {
		return ErrTokenWrong
	}
	return nil
}

// handshakeAsCoordinator speaks first, and proves itself first: a stranger that
// knocks at the port of an agent learns nothing that depends on the token.
func handshakeAsCoordinator(ctx context.Context, ws *websocket.Conn, self identity) (*channel, error) {
	stop := closeOn(ctx, ws)
	defer stop()
	self.role = roleCoordinator
	h, err := newHandshake(self)
	if err != nil {
		return nil, err
	}
	if err := sendPlain(ws, h.own); err != nil {
		return nil, err
	}
	answer, err := receivePlain(ws)
	if err != nil {
		return nil, err
	}
	if err := h.take(answer); err != nil {
		return nil, err
	}
	k, err := h.keys()
	if err != nil {
		return nil, err
	}
	if err := sendPlain(ws, k.proof(roleCoordinator)); err != nil {
		return nil, err
	}
	proof, err := receivePlain(ws)
	if err != nil {
		if websocket.IsCloseError(err, closeToken) {
			return nil, ErrTokenWrong
		}
		return nil, err
	}
	if err := k.check(proof, roleAgent); err != nil {
		return nil, err
	}
	return newChannel(ws, k.toAgent, k.toCoordinator)
}

// closeToken is the code with which an agent ends a connection whose proof was wrong.
const closeToken = 4001

func handshakeAsAgent(ctx context.Context, ws *websocket.Conn, self identity) (*channel, error) {
	stop := closeOn(ctx, ws)
	defer stop()
	self.role = roleAgent
	h, err := newHandshake(self)
	if err != nil {
		return nil, err
	}
	first, err := receivePlain(ws)
	if err != nil {
		return nil, err
	}
	// The answer goes out whether or not the two go together: the coordinator
	// has a person who wants to know both versions.
	fits := h.take(first)
	if err := sendPlain(ws, h.own); err != nil {
		return nil, err
	}
	if fits != nil {
		return nil, fits
	}
	k, err := h.keys()
	if err != nil {
		return nil, err
	}
	proof, err := receivePlain(ws)
	if err != nil {
		return nil, err
	}
	if err := k.check(proof, roleCoordinator); err != nil {
		closeWith(ws, closeToken)
		return nil, err
	}
	if err := sendPlain(ws, k.proof(roleAgent)); err != nil {
		return nil, err
	}
	return newChannel(ws, k.toCoordinator, k.toAgent)
}

// closeOn closes ws when ctx ends, which is what ends a read that is waiting.
func closeOn(ctx context.Context, ws *websocket.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = ws.Close() })
}

func closeWith(ws *websocket.Conn, code int) {
	_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
}

func sendPlain(ws *websocket.Conn, message []byte) error {
	if err := ws.SetWriteDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.BinaryMessage, message)
}

func receivePlain(ws *websocket.Conn) ([]byte, error) {
	ws.SetReadLimit(maxHandshake)
	if err := ws.SetReadDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	kind, message, err := ws.ReadMessage()
	if err == nil && kind != websocket.BinaryMessage {
		err = errors.New("its message is not of warp's protocol")
	}
	return message, err
}
