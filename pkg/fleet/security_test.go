package fleet

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"warp/pkg/sink"
)

// meetAlone makes a connection as the only thing that happens, and returns how it went.
func meetAlone(t *testing.T, m *machine, warp, token string) (*channel, error) {
	t.Helper()
	f := lead(t, func(o *Options) { o.Warp, o.Token = warp, token }, m)
	ch, err := f.dial(t.Context(), Member{Addr: m.addr}, handshakeTime)
	if ch != nil {
		t.Cleanup(ch.close)
	}
	return ch, err
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	open := startMachine(t, func(o *AgentOptions) { o.Token = "" })
	for _, test := range []struct {
		name, warp, token string
		m                 *machine
		want              error
		text              string
	}{
		{"no token", "test", "", m, ErrTokenNeeded, ""},
		{"another token", "test", "not the token at all", m, ErrTokenWrong, ""},
		{"client without one", "test", testToken, open, ErrTokenMissing, ""},
		{"another version", "v9.9", testToken, m, nil, "the client is warp test (protocol 3) and the coordinator is warp v9.9 (protocol 3)"},
		{"right", "test", testToken, m, nil, ""},
		{"none on either side", "test", "", open, nil, ""},
	} {
		_, err := meetAlone(t, test.m, test.warp, test.token)
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
		err := identity{warp: "test", token: token, role: roleCoordinator}.check(old)
		var version *VersionError
		if !errors.As(err, &version) || !strings.Contains(err.Error(), "the client is warp v0.1 (protocol 2) and the coordinator is warp test (protocol 3)") {
			t.Errorf("%v", err)
		}
	}
	// What an old coordinator says is answered with a greeting that it understands.
	ws := stranger(t, startMachine(t, nil))
	must(t, ws.WriteMessage(websocket.BinaryMessage, []byte(`{"protocol":2,"warp":"v0.1","role":"coordinator","token":true,"nonce":"AA==","key":"AA=="}`)))
	answer, err := receiveGreeting(ws)
	must(t, err)
	if answer.Protocol != Protocol || answer.Warp != "test" || answer.Role != roleAgent || !answer.Token || answer.Proof != nil {
		t.Errorf("%+v", answer)
	}
}

// stranger connects to a machine, up to where the token is asked for.
func stranger(t *testing.T, m *machine) *websocket.Conn {
	t.Helper()
	ws, _, err := strangerDialer().Dial("wss://"+m.addr+Path, nil)
	must(t, err)
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(5 * time.Second))
	return ws
}

func strangerDialer() *websocket.Dialer { return &websocket.Dialer{TLSClientConfig: strangerTLS()} }

func TestTokenRules(t *testing.T) {
	t.Parallel()
	loop, wide, all := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("0.0.0.0")
	for _, test := range []struct {
		token string
		addr  netip.Addr
		ok    bool
	}{{"", loop, true}, {"", wide, false}, {"", all, false}, {testToken, wide, true}, {"short", loop, false}} {
		if err := CheckToken(test.token, test.addr); (err == nil) != test.ok {
			t.Errorf("%q at %v: %v", test.token, test.addr, err)
		}
	}
}

// Neither the token nor a secret of the job is ever on the wire, nor anything else that can be read.
func TestNothingInTheClear(t *testing.T) {
	t.Parallel()
	e := store(t)
	w, m := through(t, startMachine(t, nil))
	f := lead(t, nil, m)
	p := getPlan(t, e.Addr(), 100*time.Millisecond)
	p.Job.Store.Config.Encryption.Key = [32]byte{'s', 's', 'e', 'c', 'k', 'e', 'y'}
	p.Job.Exports.Influx = &sink.InfluxOptions{Server: "http://127.0.0.1:1", Token: "influxsecret", Bucket: "b"}
	must(t, f.Connect(t.Context()))
	must(t, f.Prepare(t.Context(), p))
	must(t, f.Abort(t.Context(), errors.New("enough")))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, secret := range []string{testToken, "secretsecret", "influxsecret", f.key, "benchmark", "fleet", "protocol", "coordinator", "HTTP"} {
		if bytes.Contains(w.seen, []byte(secret)) {
			t.Errorf("%q was sent in the clear", secret)
		}
	}
	if !bytes.HasPrefix(w.seen, []byte{recordHandshake, 3}) || len(w.seen) < p.Job.Size() {
		t.Error("the wire did not see the job pass: this test proves nothing")
	}
}

// Somebody on the way who changes a byte of anything that is said until both sides have proven themselves only breaks
// the connection.
func TestForgery(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	w := newRecordWire(t, m.addr)
	var records [2]int // until then, by direction
	w.set(func(toServer bool, n int, record []byte) recordFate {
		records[direction(toServer)] = n + 1
		return asItIs(record)
	})
	ch, err := meetThrough(t, w.addr)
	must(t, err)
	w.mu.Lock()
	seen := records
	w.mu.Unlock()
	ch.close()
	if seen[0] < 3 || seen[1] < 3 {
		t.Fatalf("%v records are fewer than a handshake of TLS and two greetings: this test proves nothing", seen)
	}
	for _, toServer := range []bool{true, false} {
		for n := range seen[direction(toServer)] {
			t.Run(fmt.Sprintf("record %d, to the client: %v", n, toServer), func(t *testing.T) {
				t.Parallel()
				w := newRecordWire(t, m.addr)
				spoiled := byte(0)
				w.set(func(dir bool, at int, record []byte) recordFate {
					if dir == toServer && at == n && record[0] != recordCipherChange {
						spoiled = record[0]
						record[5+(len(record)-5)/2] ^= 1
					}
					return asItIs(record)
				})
				_, err := meetThrough(t, w.addr)
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

// meetThrough makes a connection to a machine by another address.
func meetThrough(t *testing.T, addr string) (*channel, error) {
	t.Helper()
	f := lead(t, func(o *Options) { o.ConnectPatience = 2 * time.Second })
	ch, err := f.dial(t.Context(), Member{Addr: addr}, handshakeTime)
	if ch != nil {
		t.Cleanup(ch.close)
	}
	return ch, err
}

// Somebody on the way can neither change, repeat, leave out, reorder nor reflect a message: the connection ends, and
// nothing but what was sent has arrived, in its order.
func TestTamperedMessages(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
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
		"made clear": always(func([]byte) recordFate { return asItIs([]byte{recordData, 3, 3, 0, 3, 0x82, 1, byte(kindPing)}) }),
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
				tampered(t, m, toServer, make())
			})
		}
	}
}

// tampered has ten pings and pongs pass as they are, and all that follow in one direction tampered with.
func tampered(t *testing.T, m *machine, toServer bool, does func(record []byte) recordFate) {
	w := newRecordWire(t, m.addr)
	ch, err := meetThrough(t, w.addr)
	must(t, err)
	_, err = introduce(ch, attach{Purpose: forCollect})
	must(t, err)
	next := uint64(0)
	talk := func(until uint64) error {
		for i := next; i < until; i++ {
			if err := ch.sendBytes(kindPing, pingBody(int64(i))); err != nil {
				return err
			}
		}
		for next < until {
			k, body, err := ch.receive()
			if err != nil {
				return err
			}
			if got := binary.BigEndian.Uint64(body); k != kindPong || got != next {
				t.Errorf("message %d arrived in place of %d", got, next)
			}
			next++
		}
		return nil
	}
	must(t, talk(10))
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
	var said heard
	m := startMachine(t, func(o *AgentOptions) { o.Note = said.add })
	f := lead(t, func(o *Options) { o.Members = []Member{{Addr: middle(t, m.addr)}} })
	err := f.Connect(t.Context())
	if !errors.Is(err, ErrTokenWrong) {
		t.Errorf("%v", err)
	}
	must(t, f.Abort(t.Context(), err))
	await(t, "word of it", func() bool { return said.count("was turned away: "+ErrTokenWrong.Error()) == 1 })
	if said.count("begins") != 0 {
		t.Errorf("%q", said.lines)
	}
}

// Who has heard a whole run can do nothing with that.
func TestReplay(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	w, behind := through(t, m)
	var sent []byte
	w.spoil = func(toServer bool, data []byte) []byte {
		if toServer {
			sent = append(sent, data...)
		}
		return data
	}
	f := lead(t, nil, behind)
	must(t, f.Connect(t.Context()))
	must(t, f.Abort(t.Context(), errors.New("enough")))
	m.waitUntilFree(t)
	w.mu.Lock()
	again := bytes.Clone(sent)
	w.mu.Unlock()
	c, err := net.Dial("tcp", m.addr)
	must(t, err)
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Write(again)
	_, err = io.Copy(io.Discard, c)
	if isTimeout(err) {
		t.Error("the connection stays")
	}
	m.agent.mu.Lock()
	defer m.agent.mu.Unlock()
	if m.agent.job != nil {
		t.Error("a run that was heard can be begun again")
	}
}

// A proof is good for one connection, one role and one token.
func TestProof(t *testing.T) {
	t.Parallel()
	pair := func(tokenA, tokenB string) (coordinator, agent *prover) {
		a, b := tlsPair(t)
		coordinator, err := newProver(tokenA, &a)
		must(t, err)
		agent, err = newProver(tokenB, &b)
		must(t, err)
		return coordinator, agent
	}
	a, b := pair(testToken, testToken)
	must(t, b.check(a.proof(roleCoordinator), roleCoordinator))
	must(t, a.check(b.proof(roleAgent), roleAgent))
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
		if !errors.Is(err, ErrTokenWrong) {
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
	must(t, err)
	binding, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	must(t, err)
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
	must(t, err)
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	a, b := tls.Client(near, strangerTLS()), tls.Server(far, config)
	done := make(chan error, 1)
	go func() { done <- b.Handshake() }()
	must(t, a.Handshake())
	must(t, <-done)
	return a.ConnectionState(), b.ConnectionState()
}

// A stranger gets nothing that depends on the token, whatever he sends for a proof, and cannot use the coordinator's
// greeting in another connection.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	ch, err := meetAlone(t, m, "test", testToken)
	must(t, err)
	state := ch.ws.NetConn().(*tls.Conn).ConnectionState()
	p, err := newProver(testToken, &state)
	must(t, err)
	for name, proof := range map[string][]byte{
		"none": nil, "empty": {}, "zeros": make([]byte, 32), "of another connection": p.proof(roleCoordinator), "the agent's": p.proof(roleAgent),
	} {
		ws := stranger(t, m)
		must(t, sendGreeting(ws, &greeting{Protocol: Protocol, Warp: "test", Role: roleCoordinator, Token: true, Proof: proof}))
		answer, err := receiveGreeting(ws)
		must(t, err)
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
	m := startMachine(t, nil)
	config := strangerTLS()
	config.MaxVersion = tls.VersionTLS12
	if c, err := tls.Dial("tcp", m.addr, config); err == nil {
		_ = c.Close()
		t.Error("an agent talks TLS 1.2")
	}
}

func TestBrowsersAreRefused(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	_, answer, err := strangerDialer().Dial("wss://"+m.addr+Path, http.Header{"Origin": {"https://" + m.addr}})
	if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", answer, err)
	}
	browser := &http.Client{Transport: &http.Transport{TLSClientConfig: strangerTLS()}}
	defer browser.CloseIdleConnections()
	for _, path := range []string{"/", "/debug/pprof/", Path} {
		answer, err := browser.Get("https://" + m.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("GET %s: %s", path, answer.Status)
		}
	}
}

func TestLargeGreeting(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	ws := stranger(t, m)
	_ = ws.WriteMessage(websocket.BinaryMessage, make([]byte, 1<<20))
	if _, _, err := ws.ReadMessage(); err == nil || isTimeout(err) {
		t.Error("a greeting of 1 MiB was answered")
	}
	if _, err := meetAlone(t, m, "test", testToken); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestFloodIsEnded(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	ch, err := meetAlone(t, m, "test", testToken)
	must(t, err)
	_, err = introduce(ch, attach{Purpose: forCollect})
	must(t, err)
	for i := range 1_000_000 {
		if err := ch.sendBytes(kindPing, pingBody(int64(i))); err != nil {
			return // turned away
		}
	}
	t.Error("a million messages were taken at once")
}

// A coordinator with the token can still not make an agent touch its own machine.
func TestHostileCoordinator(t *testing.T) {
	t.Parallel()
	e := store(t)
	for name, change := range map[string]func(*Job){
		"CA file":            func(j *Job) { j.Store.Config.TLS, j.Store.Config.CAFile = true, "/etc/shadow" },
		"client certificate": func(j *Job) { j.Store.Config.TLS, j.Store.Config.ClientCert = true, "/etc/shadow" },
		"client key":         func(j *Job) { j.Store.Config.TLS, j.Store.Config.ClientKey = true, "/etc/shadow" },
		"unknown benchmark":  func(j *Job) { j.Options.Benchmark = "sh" },
		"path as benchmark":  func(j *Job) { j.Options.Benchmark = "../../get" },
		"unknown parameter":  func(j *Job) { j.Op = json.RawMessage(`{"Exec":"rm -rf /"}`) },
		"path for points":    func(j *Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "file:///etc/shadow"} },
		"place for points":   func(j *Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "http://h/api?x=y"} },
		"points without end": func(j *Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "http://h", Interval: 1} },
		"place for metrics":  func(j *Job) { j.Exports.StatsD = "/run/socket" },
		"too much":           func(j *Job) { j.Options.Concurrency = 1 << 30 },
		"negative segments":  func(j *Job) { j.NoLog, j.Analysis.SegmentDur = true, -1 },
	} {
		m := startMachine(t, nil)
		f := lead(t, nil, m)
		must(t, f.Connect(t.Context()))
		p := getPlan(t, e.Addr(), time.Second)
		change(&p.Job)
		err := f.Prepare(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), m.addr) {
			t.Errorf("%s: %v", name, err)
		}
		_ = f.Abort(t.Context(), err)
		if logs := ownLogs(t, m); len(logs) > 0 {
			t.Errorf("%s: %v", name, logs)
		}
	}
	for _, id := range []string{"../x", "a/b", `a\b`, "", ".hidden", strings.Repeat("x", 65), "a\x00"} {
		j := getPlan(t, e.Addr(), time.Second).Job
		j.Options.RunID, j.Options.ClientID = "R", id
		if j.check() == nil {
			t.Errorf("%q is accepted as the name of a client", id)
		}
	}
}

func TestOneCoordinatorAtATime(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	first := lead(t, nil, m)
	must(t, first.Connect(t.Context()))
	second := lead(t, func(o *Options) { o.Run = "R2" }, m)
	err := second.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "client "+m.addr+": it is busy with run "+first.options.Run+" since ") {
		t.Errorf("%v", err)
	}
	// Nor can the other one take it over.
	ch, err := meetAlone(t, m, "test", testToken)
	must(t, err)
	answer, err := introduce(ch, attach{Purpose: forResume, Run: first.options.Run, Key: strings.Repeat("x", 26)})
	if err != nil || answer.Refused == "" {
		t.Errorf("%+v, %v", answer, err)
	}
	must(t, first.Abort(t.Context(), errors.New("enough")))
	third := lead(t, func(o *Options) { o.Run = "R3" }, m)
	must(t, third.Connect(t.Context()))
	must(t, third.Abort(t.Context(), errors.New("enough")))
}

// What a client sends is checked like what a stranger sends.
func TestHostileClient(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/spool"
	s, err := newSpool(path)
	must(t, err)
	must(t, s.add(0, []byte("hello")))
	if s.add(9, []byte("x")) == nil || s.add(2, []byte("llo and more")) == nil {
		t.Error("a piece in the wrong place was kept")
	}
	must(t, s.add(0, []byte("hello"))) // sent twice
	if s.check(5, []byte("no digest")) == nil || s.check(6, s.hash.Sum(nil)) == nil {
		t.Error("another log was accepted")
	}
	must(t, s.check(5, s.hash.Sum(nil)))
	body := append(chunkHead(0, []byte("data")), "data"...)
	if _, _, err := readChunk(body); err != nil {
		t.Error(err)
	}
	body[len(body)-1] ^= 1
	if _, _, err := readChunk(body); err == nil {
		t.Error("a damaged piece was accepted")
	}
	if _, _, err := readChunk(make([]byte, chunkHeadSize+chunkSize+1)); err == nil {
		t.Error("a piece of any size was accepted")
	}
	var st status
	if decode([]byte(`{"phase":1,"path":"/etc"}`), &st) == nil || decode([]byte(`{"phase":1} {"phase":2}`), &st) == nil {
		t.Error("a status that is none was read")
	}
}
