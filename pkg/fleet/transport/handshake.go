package transport

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxGreeting   = 4 << 10 // bytes
	handshakeTime = 10 * time.Second
)

// The roles are part of the proofs, so that neither side can send the other
// one's proof back as its own.
const (
	roleCoordinator = "coordinator"
	roleAgent       = "agent"
)

// A greeting is the first message of either side. The fields but the proof are
// the same in every version of warp, so that different versions can name each other.
type greeting struct {
	Protocol int    `json:"protocol"`
	Warp     string `json:"warp"`
	Role     string `json:"role"`
	Token    bool   `json:"token"`           // the sender has one
	Proof    []byte `json:"proof,omitempty"` // that it does
}

// An Identity is what one side brings into a handshake.
type Identity struct {
	Protocol int    // version of the messages
	Warp     string // version
	Token    string // "" = anybody may connect
}

func (i Identity) greeting(role string) *greeting {
	return &greeting{Protocol: i.Protocol, Warp: i.Warp, Role: role, Token: i.Token != ""}
}

// check says why the other side cannot be talked to, whether or not it knows the token.
func (i Identity) check(role string, their *greeting) error {
	switch {
	case their.Protocol != i.Protocol || their.Warp != i.Warp:
		return &versionError{own: i.Warp, ownProtocol: i.Protocol, their: their.Warp, theirProtocol: their.Protocol, role: role}
	case their.Role == role:
		return fmt.Errorf("it is a second %s", role)
	case their.Token && i.Token == "":
		return errTokenNeeded
	case !their.Token && i.Token != "":
		return errTokenMissing
	}
	return nil
}

// A versionError says that coordinator and agent are different builds.
type versionError struct {
	own, their                 string
	ownProtocol, theirProtocol int
	role                       string // of the side that reports it
}

func (e *versionError) Error() string {
	here, there := roleCoordinator, "client"
	if e.role == roleAgent {
		here, there = there, here
	}
	return fmt.Sprintf("the %s is warp %.64s (protocol %d) and the %s is warp %s (protocol %d): use the same version on all machines",
		there, e.their, e.theirProtocol, here, e.own, e.ownProtocol)
}

// What goes wrong between two that do not share a token.
var (
	errTokenNeeded  = errors.New("the other side asks for a token: set WARP_CLIENT_TOKEN or --token-file to the token of the clients")
	errTokenMissing = errors.New("the other side has no token: start it with the same WARP_CLIENT_TOKEN or --token-file")
	errTokenWrong   = errors.New("the other side has another token, or something between the two opens the connection: " +
		"give the coordinator and all clients the same WARP_CLIENT_TOKEN or --token-file, and have them connect directly")
)

// bindingLabel and bindingSize are the parameters of tls-exporter in RFC 9266.
const (
	bindingLabel = "EXPORTER-Channel-Binding"
	bindingSize  = 32
)

// A prover proves that a side of a TLS connection knows the token.
type prover struct {
	token   string
	binding []byte // a secret that only the two ends of the connection have
}

func newProver(token string, state *tls.ConnectionState) (*prover, error) {
	if state.Version < tls.VersionTLS13 {
		return nil, errors.New("the connection is not protected by TLS 1.3")
	}
	binding, err := state.ExportKeyingMaterial(bindingLabel, nil, bindingSize)
	if err != nil {
		return nil, err
	}
	return &prover{token, binding}, nil
}

// proof is the HMAC of the role and the connection's binding. The binding is of
// one size, so the two cannot be split differently.
func (p *prover) proof(role string) []byte {
	mac := hmac.New(sha256.New, []byte(p.token))
	mac.Write([]byte(role))
	mac.Write(p.binding)
	return mac.Sum(nil)
}

func (p *prover) check(proof []byte, role string) error {
	if !hmac.Equal(proof, p.proof(role)) { // in constant time
		return errTokenWrong
	}
	return nil
}

// greetAgent is the coordinator's side of the handshake, which greets first,
// with its proof.
func (i Identity) greetAgent(ctx context.Context, ws *websocket.Conn, state *tls.ConnectionState) error {
	defer closeOn(ctx, ws)()
	p, err := newProver(i.Token, state)
	if err != nil {
		return err
	}
	own := i.greeting(roleCoordinator)
	own.Proof = p.proof(roleCoordinator)
	if err := sendGreeting(ws, own); err != nil {
		return err
	}
	their, err := receiveGreeting(ws)
	if err != nil {
		return err
	}
	if err := i.check(roleCoordinator, their); err != nil {
		return err
	}
	return p.check(their.Proof, roleAgent)
}

// greetCoordinator is the agent's side. Only a coordinator that has proven
// itself gets a proof back: a stranger that knocks at the port of an agent
// learns nothing that depends on the token. The rest of the greeting goes to
// everybody, since the coordinator's user wants to know why the two do not go
// together.
func (i Identity) greetCoordinator(ctx context.Context, ws *websocket.Conn, state *tls.ConnectionState) error {
	defer closeOn(ctx, ws)()
	p, err := newProver(i.Token, state)
	if err != nil {
		return err
	}
	their, err := receiveGreeting(ws)
	if err != nil {
		return err
	}
	own := i.greeting(roleAgent)
	refused := i.check(roleAgent, their)
	if refused == nil {
		refused = p.check(their.Proof, roleCoordinator)
	}
	if refused == nil {
		own.Proof = p.proof(roleAgent)
	}
	if err := sendGreeting(ws, own); err != nil {
		return err
	}
	return refused
}

// closeOn closes ws when ctx ends. That ends a waiting read.
func closeOn(ctx context.Context, ws *websocket.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = ws.Close() })
}

func sendGreeting(ws *websocket.Conn, g *greeting) error {
	message, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := ws.SetWriteDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	return ws.WriteMessage(websocket.BinaryMessage, message)
}

// receiveGreeting reads one of this or any other version of warp.
func receiveGreeting(ws *websocket.Conn) (*greeting, error) {
	ws.SetReadLimit(maxGreeting)
	if err := ws.SetReadDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	kind, message, err := ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	g := new(greeting)
	if kind != websocket.BinaryMessage || json.Unmarshal(message, g) != nil {
		return nil, errors.New("its first message is not of warp's protocol")
	}
	return g, nil
}
