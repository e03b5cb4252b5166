package transport

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"warp/internal/check"
)

func TestStrangers(t *testing.T) {
	t.Parallel()
	closed, _ := serve(t, nil)
	open, _ := serve(t, func(s *Server) { s.Token = "" })
	for _, test := range []struct {
		name, warp, token string
		addr              string
		want              error
		text              string
	}{
		{"no token", "test", "", closed, errTokenNeeded, ""},
		{"another token", "test", "not the token at all", closed, errTokenWrong, ""},
		{"client without one", "test", testToken, open, errTokenMissing, ""},
		{"another version", "v9.9", testToken, closed, nil, "the client is warp test (protocol 3) and the coordinator is warp v9.9 (protocol 3)"},
		{"right", "test", testToken, closed, nil, ""},
		{"none on either side", "test", "", open, nil, ""},
	} {
		_, err := connect(t, test.addr, func(d *Dialer) { d.Warp, d.Token = test.warp, test.token })
		switch {
		case test.text != "":
			if err == nil || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s: %v", test.name, err)
			}
		case !errors.Is(err, test.want):
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// An agent of an older protocol is named with its version, and so is a coordinator, whoever has the token.
func TestOldProtocol(t *testing.T) {
	t.Parallel()
	old := &greeting{Protocol: 2, Warp: "v0.1", Role: roleAgent, Token: true}
	for _, token := range []string{testToken, ""} {
		err := Identity{Protocol: testProtocol, Warp: "test", Token: token}.check(roleCoordinator, old)
		var version *versionError
		if !errors.As(err, &version) || !strings.Contains(err.Error(), "the client is warp v0.1 (protocol 2) and the coordinator is warp test (protocol 3)") {
			t.Errorf("%v", err)
		}
	}
	// What an old coordinator says is answered with a greeting that it understands.
	addr, _ := serve(t, nil)
	ws := stranger(t, addr)
	check.OK(t, ws.WriteMessage(websocket.BinaryMessage, []byte(`{"protocol":2,"warp":"v0.1","role":"coordinator","token":true,"nonce":"AA==","key":"AA=="}`)))
	answer, err := receiveGreeting(ws)
	check.OK(t, err)
	if answer.Protocol != testProtocol || answer.Warp != "test" || answer.Role != roleAgent || !answer.Token || answer.Proof != nil {
		t.Errorf("%+v", answer)
	}
}

// stranger connects to a server, up to where the token is asked for.
func stranger(t *testing.T, addr string) *websocket.Conn {
	t.Helper()
	ws, _, err := strangerDialer().Dial("wss://"+addr+socketPath, nil)
	check.OK(t, err)
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
	return ws
}

func strangerDialer() *websocket.Dialer { return &websocket.Dialer{TLSClientConfig: strangerTLS()} }

// Somebody on the way who changes a byte of anything that is said until both sides have proven themselves only breaks
// the connection.
func TestForgery(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	w := newRecordWire(t, addr)
	var records [2]int // until then, by direction
	w.set(func(toServer bool, n int, record []byte) recordFate {
		records[direction(toServer)] = n + 1
		return asItIs(record)
	})
	c, err := connect(t, w.addr, nil)
	check.OK(t, err)
	w.mu.Lock()
	seen := records
	w.mu.Unlock()
	c.Close()
	if seen[0] < 3 || seen[1] < 3 {
		t.Fatalf("%v records are fewer than a handshake of TLS and two greetings: this test proves nothing", seen)
	}
	for _, toServer := range []bool{true, false} {
		for n := range seen[direction(toServer)] {
			t.Run(fmt.Sprintf("record %d, to the client: %v", n, toServer), func(t *testing.T) {
				t.Parallel()
				w := newRecordWire(t, addr)
				spoiled := byte(0)
				w.set(func(dir bool, at int, record []byte) recordFate {
					if dir == toServer && at == n && record[0] != recordCipherChange {
						spoiled = record[0]
						record[5+(len(record)-5)/2] ^= 1
					}
					return asItIs(record)
				})
				_, err := connect(t, w.addr, nil)
				w.mu.Lock()
				defer w.mu.Unlock()
				switch {
				case spoiled == 0 && err != nil:
					t.Errorf("nothing was changed: %v", err)
				case spoiled != 0 && err == nil:
					t.Errorf("a changed record of type %d was accepted", spoiled)
				}
			})
		}
	}
}

func direction(toServer bool) int {
	if toServer {
		return 0
	}
	return 1
}

// Somebody on the way can neither change, repeat, leave out, reorder nor reflect a message: the connection ends, and
// nothing but what was sent has arrived, in its order.
func TestTamperedMessages(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	always := func(does func(r []byte) recordFate) func() func([]byte) recordFate {
		return func() func([]byte) recordFate { return does }
	}
	for name, make := range map[string]func() func(record []byte) recordFate{
		"changed":   always(func(r []byte) recordFate { r[len(r)/2] ^= 1; return asItIs(r) }),
		"repeated":  always(func(r []byte) recordFate { return recordFate{forward: [][]byte{r, r}} }),
		"reflected": always(func(r []byte) recordFate { return recordFate{back: r} }),
		"cut off": always(func(r []byte) recordFate {
			return asItIs(append([]byte{recordData, 3, 3, 0, byte(len(r) - 6)}, r[5:len(r)-1]...))
		}),
		"made clear": always(func([]byte) recordFate { return asItIs([]byte{recordData, 3, 3, 0, 3, 0x82, 1, 1}) }),
		"left out": func() func([]byte) recordFate {
			before := false
			return func(r []byte) recordFate {
				if before {
					return asItIs(r)
				}
				before = true
				return recordFate{}
			}
		},
		"out of order": func() func([]byte) recordFate {
			var held []byte
			return func(r []byte) recordFate {
				first := held
				if held = r; first == nil {
					return recordFate{}
				}
				held = nil
				return recordFate{forward: [][]byte{r, first}}
			}
		},
	} {
		for _, toServer := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, to the client: %v", name, toServer), func(t *testing.T) {
				t.Parallel()
				tampered(t, addr, toServer, make())
			})
		}
	}
}

// tampered has ten messages pass there and back as they are, and all that follow in one direction tampered with.
func tampered(t *testing.T, addr string, toServer bool, does func(record []byte) recordFate) {
	w := newRecordWire(t, addr)
	c, err := connect(t, w.addr, nil)
	check.OK(t, err)
	next := uint64(0)
	talk := func(until uint64) error {
		for i := next; i < until; i++ {
			if err := c.SendBytes(1, binary.BigEndian.AppendUint64(nil, i)); err != nil {
				return err
			}
		}
		for next < until {
			_, body, err := c.Receive()
			if err != nil {
				return err
			}
			if got := binary.BigEndian.Uint64(body); got != next {
				t.Errorf("message %d arrived in place of %d", got, next)
			}
			next++
		}
		return nil
	}
	check.OK(t, talk(10))
	w.set(func(dir bool, _ int, record []byte) recordFate {
		if dir != toServer {
			return asItIs(record)
		}
		return does(record)
	})
	if err := talk(14); err == nil {
		t.Error("nobody noticed")
	}
	if next > 11 { // one that is repeated arrives once
		t.Errorf("%d messages arrived", next-10)
	}
}

// Somebody in the middle who ends the TLS of both sides is found out: what the coordinator proves is of another connection.
func TestManInTheMiddle(t *testing.T) {
	t.Parallel()
	addr, notes := serve(t, nil)
	if _, err := connect(t, middle(t, addr), nil); !errors.Is(err, errTokenWrong) {
		t.Errorf("%v", err)
	}
	check.Eventually(t, "word of it", func() bool { return notes.count("was turned away: "+errTokenWrong.Error()) == 1 })
	if notes.admitted() != 0 {
		t.Error("he was let in")
	}
}

// Somebody who has recorded a whole conversation can do nothing with it.
func TestReplay(t *testing.T) {
	t.Parallel()
	addr, notes := serve(t, nil)
	w := newRecordWire(t, addr)
	var sent []byte
	w.set(func(toServer bool, _ int, record []byte) recordFate {
		if toServer {
			sent = append(sent, record...)
		}
		return asItIs(record)
	})
	c, err := connect(t, w.addr, nil)
	check.OK(t, err)
	check.OK(t, c.SendBytes(1, []byte("begin")))
	_, _, err = c.Receive()
	check.OK(t, err)
	w.mu.Lock()
	again := bytes.Clone(sent)
	w.mu.Unlock()
	raw, err := net.Dial("tcp", addr)
	check.OK(t, err)
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(time.Minute))
	_, _ = raw.Write(again)
	if _, err = io.Copy(io.Discard, raw); isTimeout(err) {
		t.Error("the connection stays")
	}
	if n := notes.admitted(); n != 1 {
		t.Errorf("%d coordinators were let in", n)
	}
}

// A proof is good for one connection, one role and one token.
func TestProof(t *testing.T) {
	t.Parallel()
	pair := func(tokenA, tokenB string) (coordinator, agent *prover) {
		a, b := tlsPair(t)
		coordinator, err := newProver(tokenA, &a)
		check.OK(t, err)
		agent, err = newProver(tokenB, &b)
		check.OK(t, err)
		return coordinator, agent
	}
	a, b := pair(testToken, testToken)
	check.OK(t, b.check(a.proof(roleCoordinator), roleCoordinator))
	check.OK(t, a.check(b.proof(roleAgent), roleAgent))
	c, d := pair(testToken, testToken)
	e, f := pair(testToken, testToken+"!")
	for name, err := range map[string]error{
		"sent back to its maker":           a.check(a.proof(roleCoordinator), roleAgent),
		"of the other role":                b.check(a.proof(roleAgent), roleCoordinator),
		"of the coordinator's other one":   d.check(a.proof(roleCoordinator), roleCoordinator),
		"of the agent's other connection":  a.check(d.proof(roleAgent), roleAgent),
		"of another token":                 f.check(e.proof(roleCoordinator), roleCoordinator),
		"of another token, from the agent": e.check(f.proof(roleAgent), roleAgent),
		"that is missing":                  c.check(nil, roleAgent),
		"that is cut off":                  b.check(a.proof(roleCoordinator)[:16], roleCoordinator),
	} {
		if !errors.Is(err, errTokenWrong) {
			t.Errorf("a proof %s: %v", name, err)
		}
	}
	if _, err := newProver(testToken, &tls.ConnectionState{Version: tls.VersionTLS12}); err == nil {
		t.Error("a proof over TLS 1.2, whose secrets do not say which connection they are of")
	}
}

// The binding is the one of RFC 9266, and the proof an HMAC of it.
func TestProofIsStandard(t *testing.T) {
	t.Parallel()
	state, _ := tlsPair(t)
	p, err := newProver(testToken, &state)
	check.OK(t, err)
	binding, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	check.OK(t, err)
	mac := hmac.New(sha256.New, []byte(testToken))
	mac.Write(append([]byte("agent"), binding...))
	if !bytes.Equal(mac.Sum(nil), p.proof(roleAgent)) {
		t.Error("the proof is another one than docs/distributed.md says")
	}
}

// tlsPair is a connection as both of its ends see it.
func tlsPair(t *testing.T) (client, server tls.ConnectionState) {
	t.Helper()
	config, _, err := SelfSigned()
	check.OK(t, err)
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	a, b := tls.Client(near, strangerTLS()), tls.Server(far, config)
	done := make(chan error, 1)
	go func() { done <- b.Handshake() }()
	check.OK(t, a.Handshake())
	check.OK(t, <-done)
	return a.ConnectionState(), b.ConnectionState()
}

// A stranger gets nothing that depends on the token, whatever he sends for a proof, and cannot use the coordinator's
// greeting in another connection.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	c, err := connect(t, addr, nil)
	check.OK(t, err)
	state := c.ws.NetConn().(*tls.Conn).ConnectionState()
	p, err := newProver(testToken, &state)
	check.OK(t, err)
	for name, proof := range map[string][]byte{
		"none": nil, "empty": {}, "zeros": make([]byte, 32), "of another connection": p.proof(roleCoordinator), "the agent's": p.proof(roleAgent),
	} {
		ws := stranger(t, addr)
		check.OK(t, sendGreeting(ws, &greeting{Protocol: testProtocol, Warp: "test", Role: roleCoordinator, Token: true, Proof: proof}))
		answer, err := receiveGreeting(ws)
		check.OK(t, err)
		if answer.Proof != nil {
			t.Errorf("a proof that is %s got one back", name)
		}
		if _, _, err := ws.ReadMessage(); err == nil || isTimeout(err) {
			t.Errorf("a proof that is %s: the connection stays: %v", name, err)
		}
	}
}

// Nobody can have the coordinator talk a TLS whose secrets do not bind a proof.
func TestOldTLS(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	config := strangerTLS()
	config.MaxVersion = tls.VersionTLS12
	if c, err := tls.Dial("tcp", addr, config); err == nil {
		_ = c.Close()
		t.Error("an agent talks TLS 1.2")
	}
}

func TestBrowsersAreRefused(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	_, answer, err := strangerDialer().Dial("wss://"+addr+socketPath, http.Header{"Origin": {"https://" + addr}})
	if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", answer, err)
	}
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: strangerTLS()}}
	defer browser.CloseIdleConnections()
	for _, path := range []string{"/", "/debug/pprof/", socketPath} {
		answer, err := browser.Get("https://" + addr + path)
		check.OK(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("GET %s: %s", path, answer.Status)
		}
	}
}

func TestLargeGreeting(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	ws := stranger(t, addr)
	_ = ws.WriteMessage(websocket.BinaryMessage, make([]byte, 1<<20))
	if _, _, err := ws.ReadMessage(); err == nil || isTimeout(err) {
		t.Error("a greeting of 1 MiB was answered")
	}
	if _, err := connect(t, addr, nil); err != nil {
		t.Errorf("after it: %v", err)
	}
}
