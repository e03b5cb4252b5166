package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/sink"
)

// meetAlone makes a connection as the only thing that happens.
func meetAlone(t *testing.T, m *machine) *transport.Conn {
	t.Helper()
	f := lead(t, nil, m)
	ch, err := f.dialer.Connect(t.Context(), m.addr, nil, 10*time.Second)
	check.OK(t, err)
	t.Cleanup(ch.Close)
	return ch
}

// Neither the token nor a secret of the job is ever on the wire, nor anything else that can be read.
func TestNothingInTheClear(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, m := through(t, startMachine(t, nil))
	f := lead(t, nil, m)
	p := getPlan(t, e.Addr(), 100*time.Millisecond)
	p.Job.Store.Config.Encryption.Key = [32]byte{'s', 's', 'e', 'c', 'k', 'e', 'y'}
	p.Job.Exports.Influx = &sink.InfluxOptions{Server: "http://127.0.0.1:1", Token: "influxsecret", Bucket: "b"}
	check.OK(t, f.Connect(t.Context()))
	check.OK(t, f.Prepare(t.Context(), p))
	check.OK(t, f.Abort(t.Context(), errors.New("enough")))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, secret := range []string{testToken, "secretsecret", "influxsecret", f.key, "benchmark", "fleet", "protocol", "coordinator", "HTTP"} {
		if bytes.Contains(w.seen, []byte(secret)) {
			t.Errorf("%q was sent in the clear", secret)
		}
	}
	if !bytes.HasPrefix(w.seen, []byte{22, 3}) || len(w.seen) < p.Job.Size() {
		t.Error("the wire did not see the job pass: this test proves nothing")
	}
}

func TestFloodIsEnded(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	ch := meetAlone(t, m)
	_, err := requestAttach(ch, protocol.AttachRequest{Purpose: protocol.ForCollect})
	check.OK(t, err)
	for i := range 1_000_000 {
		if err := ch.SendBytes(protocol.KindPing, protocol.Ping(int64(i), false)); err != nil {
			return // turned away
		}
	}
	t.Error("a million messages were taken at once")
}

// A coordinator with the token can still not make an agent touch its own machine.
func TestHostileCoordinator(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	for name, change := range map[string]func(*protocol.Job){
		"CA file":            func(j *protocol.Job) { j.Store.Config.TLS, j.Store.Config.CAFile = true, "/etc/shadow" },
		"client certificate": func(j *protocol.Job) { j.Store.Config.TLS, j.Store.Config.ClientCert = true, "/etc/shadow" },
		"client key":         func(j *protocol.Job) { j.Store.Config.TLS, j.Store.Config.ClientKey = true, "/etc/shadow" },
		"unknown benchmark":  func(j *protocol.Job) { j.Options.Benchmark = "sh" },
		"path as benchmark":  func(j *protocol.Job) { j.Options.Benchmark = "../../get" },
		"unknown parameter":  func(j *protocol.Job) { j.Op = json.RawMessage(`{"Exec":"rm -rf /"}`) },
		"path for points":    func(j *protocol.Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "file:///etc/shadow"} },
		"place for points":   func(j *protocol.Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "http://h/api?x=y"} },
		"points without end": func(j *protocol.Job) { j.Exports.Influx = &sink.InfluxOptions{Server: "http://h", Interval: 1} },
		"place for metrics":  func(j *protocol.Job) { j.Exports.StatsD = "/run/socket" },
		"too much":           func(j *protocol.Job) { j.Options.Concurrency = 1 << 30 },
		"negative segments":  func(j *protocol.Job) { j.NoLog, j.Analysis.SegmentDur = true, -1 },
	} {
		m := startMachine(t, nil)
		f := lead(t, nil, m)
		check.OK(t, f.Connect(t.Context()))
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
		if j.Check() == nil {
			t.Errorf("%q is accepted as the name of a client", id)
		}
	}
}

func TestOneCoordinatorAtATime(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	first := lead(t, nil, m)
	check.OK(t, first.Connect(t.Context()))
	second := lead(t, func(o *Options) { o.Run = "R2" }, m)
	err := second.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "client "+m.addr+": it is busy with run "+first.options.Run+" since ") {
		t.Errorf("%v", err)
	}
	// Nor can the other one take it over.
	ch := meetAlone(t, m)
	answer, err := requestAttach(ch, protocol.AttachRequest{Purpose: protocol.ForResume, Run: first.options.Run, Key: strings.Repeat("x", 26)})
	if err != nil || answer.Refused == "" {
		t.Errorf("%+v, %v", answer, err)
	}
	check.OK(t, first.Abort(t.Context(), errors.New("enough")))
	third := lead(t, func(o *Options) { o.Run = "R3" }, m)
	check.OK(t, third.Connect(t.Context()))
	check.OK(t, third.Abort(t.Context(), errors.New("enough")))
}
