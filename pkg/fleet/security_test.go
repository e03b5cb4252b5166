package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
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
		{"another version", "v9.9", testToken, m, nil, "the client is warp test (protocol 2) and the coordinator is warp v9.9 (protocol 2)"},
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

// An agent of an older protocol is named with its version.
func TestOldProtocol(t *testing.T) {
	t.Parallel()
	h, err := newHandshake(identity{warp: "test", role: roleCoordinator})
	must(t, err)
	err = h.take([]byte(`{"protocol":0,"warp":"v0.1","role":"agent"}`))
	var version *VersionError
	if !errors.As(err, &version) || !strings.Contains(err.Error(), "v0.1 (protocol 0)") || !strings.Contains(err.Error(), "warp test (protocol 2)") {
		t.Errorf("%v", err)
	}
}

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

// Neither the token nor a secret of the job is ever on the wire, and the same
// message never twice.
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
	for _, secret := range []string{testToken, "secretsecret", "influxsecret", f.key, "benchmark", "fleet\""} {
		if bytes.Contains(w.seen, []byte(secret)) {
			t.Errorf("%q was sent in the clear", secret)
		}
	}
	if !bytes.Contains(w.seen, []byte("protocol")) {
		t.Error("the wire saw nothing: this test proves nothing")
	}
}

// Somebody in the middle who changes one byte of the greeting, or of anything
// after it, only breaks the connection.
func TestForgery(t *testing.T) {
	t.Parallel()
	for _, toServer := range []bool{true, false} {
		for name, find := range map[string]func([]byte) int{
			"nonce": func(b []byte) int { return index(b, `"nonce":"`) },
			"key":   func(b []byte) int { return index(b, `"key":"`) },
		} {
			w, m := through(t, startMachine(t, nil))
			w.spoil = func(dir bool, data []byte) []byte {
				if at := find(data); dir == toServer && at >= 0 {
					data[at] = 'A' + (data[at]-'A'+1)%26
				}
				return data
			}
			// Messages to a server are masked, so there only the framing is hit.
			if _, err := meetAlone(t, m, "test", testToken); err == nil && !toServer {
				t.Errorf("a changed %s was accepted", name)
			}
		}
	}
}

func index(b []byte, s string) int {
	at := bytes.Index(b, []byte(s))
	if at < 0 {
		return -1
	}
	return at + len(s) + 3
}

func TestTranscriptBindsEverything(t *testing.T) {
	t.Parallel()
	pair := func(tokenA, tokenB string, change func(*handshake, *handshake)) (*keys, *keys) {
		a, err := newHandshake(identity{warp: "test", token: tokenA, role: roleCoordinator})
		must(t, err)
		b, err := newHandshake(identity{warp: "test", token: tokenB, role: roleAgent})
		must(t, err)
		must(t, a.take(b.own))
		must(t, b.take(a.own))
		change(a, b)
		ka, err := a.keys()
		must(t, err)
		kb, err := b.keys()
		must(t, err)
		return ka, kb
	}
	ka, kb := pair(testToken, testToken, func(a, b *handshake) {})
	if err := kb.check(ka.proof(roleCoordinator), roleCoordinator); err != nil {
		t.Errorf("a right proof: %v", err)
	}
	if !bytes.Equal(ka.toAgent, kb.toAgent) || bytes.Equal(ka.toAgent, ka.toCoordinator) {
		t.Error("the keys of the two sides are not what they should be")
	}
	if err := ka.check(ka.proof(roleCoordinator), roleAgent); err == nil {
		t.Error("a proof can be sent back to its maker")
	}
	if kc, kd := pair(testToken, testToken, func(a, b *handshake) {}); bytes.Equal(kc.proof(roleAgent), kb.proof(roleAgent)) || bytes.Equal(kd.toAgent, ka.toAgent) {
		t.Error("two conversations have the same proof or key: one can be replayed")
	}
	kc, kd := pair(testToken, "another token, as long", func(a, b *handshake) {})
	if kc.check(kd.proof(roleAgent), roleAgent) == nil || bytes.Equal(kc.toAgent, kd.toAgent) {
		t.Error("another token makes no difference")
	}
	kc, kd = pair(testToken, testToken, func(a, b *handshake) {
		a.theirs = bytes.Replace(a.theirs, []byte(`"token":true`), []byte(`"token":null`), 1)
	})
	if kc.check(kd.proof(roleAgent), roleAgent) == nil {
		t.Error("the proof does not cover what was said")
	}
}

// channels returns the two ends of a connection whose messages pass a function.
func TestSealedMessages(t *testing.T) {
	t.Parallel()
	a, b := []byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32))
	sender, err := newSeal(a)
	must(t, err)
	receiver, err := newSeal(a)
	must(t, err)
	other, err := newSeal(b)
	must(t, err)
	first := sender.Seal(nil, nonce(0), []byte("one"), nil)
	second := sender.Seal(nil, nonce(1), []byte("two"), nil)
	if _, err := receiver.Open(nil, nonce(0), first, nil); err != nil {
		t.Error(err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"repeated":            func() ([]byte, error) { return receiver.Open(nil, nonce(1), first, nil) },
		"out of order":        func() ([]byte, error) { return receiver.Open(nil, nonce(0), second, nil) },
		"back to its sender":  func() ([]byte, error) { return other.Open(nil, nonce(0), first, nil) },
		"changed in one byte": func() ([]byte, error) { first[0] ^= 1; return receiver.Open(nil, nonce(0), first, nil) },
	} {
		if _, err := open(); err == nil {
			t.Errorf("a message was accepted %s", name)
		}
	}
}

func TestBrowsersAreRefused(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	_, answer, err := websocket.DefaultDialer.Dial("ws://"+m.addr+Path, http.Header{"Origin": {"http://" + m.addr}})
	if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", answer, err)
	}
	for _, path := range []string{"/", "/debug/pprof/", Path} {
		answer, err := http.Get("http://" + m.addr + path)
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
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+m.addr+Path, nil)
	must(t, err)
	defer ws.Close()
	_ = ws.WriteMessage(websocket.BinaryMessage, make([]byte, 1<<20))
	_ = ws.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, _, err := ws.ReadMessage(); err == nil || errors.Is(err, errSeal) {
		t.Error("a greeting of 1 MiB was answered")
	}
	if _, err := meetAlone(t, m, "test", testToken); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// Strangers who connect and say nothing take up a bounded room, and for a bounded time.
func TestSilentStrangers(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	var open []*websocket.Conn
	refused := 0
	for range 40 {
		ws, _, err := websocket.DefaultDialer.Dial("ws://"+m.addr+Path, nil)
		if err != nil {
			refused++
			continue
		}
		open = append(open, ws)
	}
	if len(open) > 16 || refused == 0 {
		t.Errorf("%d of 40 strangers were let wait", len(open))
	}
	for _, ws := range open {
		_ = ws.Close()
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		_, err := meetAlone(t, m, "test", testToken)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody gets in any more: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
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
