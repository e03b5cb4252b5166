package fleet

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/protocol"
	"warp/pkg/oplog"
	"warp/pkg/sink"
)

// requestsOf counts the rows of a log by client and operation.
func requestsOf(t *testing.T, path string) map[string]int {
	t.Helper()
	_, rows := testlog.ReadFile(t, path)
	n := map[string]int{}
	for i := range rows {
		n[rows[i].Client+" "+rows[i].Op]++
	}
	return n
}

// summarizedOf counts the rows of a merged log that the summaries of the clients
// are about: those that belong to the window, or all where they are few, as in the
// preparation.
func summarizedOf(t *testing.T, path string) map[string]int {
	t.Helper()
	log, rows := testlog.ReadFile(t, path)
	w := log.Header().Merged[0].Window
	inside := map[string]int{}
	for i := range rows {
		if r := &rows[i]; r.Place(w.Begin, w.End) == oplog.InWindow {
			inside[r.Client+" "+r.Op]++
		}
	}
	n := requestsOf(t, path)
	const few = 10
	for series := range n {
		if inside[series] >= few {
			n[series] = inside[series]
		}
	}
	return n
}

// An influx keeps the lines that it is sent.
type influx struct {
	mu    sync.Mutex
	lines []string
}

func (x *influx) start(t *testing.T, token string) *sink.InfluxOptions {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token "+token {
			http.Error(w, `{"code":"unauthorized","message":"not `+r.Header.Get("Authorization")+`"}`, http.StatusUnauthorized)
			return
		}
		text, _ := io.ReadAll(r.Body)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.lines = append(x.lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return &sink.InfluxOptions{Server: server.URL, Token: token, Bucket: "b", Org: "o"}
}

var summaryLine = regexp.MustCompile(`^warp_run_summary,op=([A-Z]+),warp_id=(\S+) requests=(\d+)i,`)

// Every client sends points of its own, and all together they are the log.
func TestClientsSendToInflux(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	var got influx
	f := lead(t, nil, startMachine(t, nil), startMachine(t, func(o *agent.Options) { o.Skew = 300 * time.Millisecond }))
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.Exports.Influx = got.start(t, "influxtoken")
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	r := whole(t, f, p, path)
	if r.Fatal != nil || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
	sent := map[string]int{}
	for _, line := range got.lines {
		if m := summaryLine.FindStringSubmatch(line); m != nil {
			if _, twice := sent[m[2]+" "+m[1]]; twice {
				t.Errorf("two summaries: %s", line)
			}
			sent[m[2]+" "+m[1]], _ = strconv.Atoi(m[3])
		}
	}
	want := summarizedOf(t, path)
	if len(want) != 4 { // two clients, PUT and GET
		t.Errorf("rows of %v", want)
	}
	for series, n := range want {
		if sent[series] != n {
			t.Errorf("%s: %d rows, and the summary says %d of %v", series, n, sent[series], sent)
		}
	}
	if len(sent) != len(want) {
		t.Errorf("summaries of %v", sent)
	}
}

// A wrong token ends the run before the load; nobody gets to see it.
func TestInfluxThatRefuses(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	var got influx
	var mu sync.Mutex
	var notes []string
	secretive := func(secrets ...string) func(string) string {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, "hides "+strings.Join(secrets, " "))
		return func(s string) string { return s }
	}
	m := startMachine(t, func(o *agent.Options) { o.Redact = secretive })
	f := lead(t, nil, m)
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.Exports.Influx = got.start(t, "right")
	p.Job.Exports.Influx.Token = "wrongtoken"
	check.OK(t, f.Connect(t.Context()))
	err := f.Prepare(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "client "+m.addr+": --influxdb: http://") || !strings.Contains(err.Error(), "401") ||
		!strings.Contains(err.Error(), "check the token") || strings.Contains(err.Error(), "wrongtoken") {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(t.Context(), err))
	empty(t, e.Addr())
	if logs := ownLogs(t, m); len(logs) > 0 || len(got.lines) > 0 {
		t.Errorf("logs %v, lines %v", logs, got.lines)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(notes, "\n"), "wrongtoken") {
		t.Error("the client does not know that the token is a secret")
	}
}

// What did not arrive is in the log, with the client that sent it.
func TestReceiversThatAreDead(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)}
	var mu sync.Mutex
	said := ""
	f := lead(t, func(o *Options) {
		o.Logf = func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			for _, a := range args {
				if s, ok := a.(string); ok {
					said += s + " "
				}
			}
		}
	}, ms...)
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.Exports = sink.Destinations{Influx: &sink.InfluxOptions{Server: "http://127.0.0.1:1", Token: "influxtoken", Bucket: "b"}, StatsD: "127.0.0.1:1"}
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	whole(t, f, p, path)
	log, _ := testlog.ReadFile(t, path)
	notes := strings.Join(log.Trailer().Notes, "\n")
	for _, m := range ms {
		if !regexp.MustCompile(`(?m)^client ` + m.addr + `: \d+ of \d+ points did not reach InfluxDB: .*refused`).MatchString(notes) {
			t.Errorf("nothing about client %s in\n%s", m.addr, notes)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(said, ms[1].addr+" InfluxDB at http://127.0.0.1:1: ") || strings.Contains(said+notes, "influxtoken") {
		t.Errorf("said %s", said)
	}
}

// Each client has names of its own at StatsD.
func TestClientsSendToStatsD(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	defer l.Close()
	f := lead(t, nil, startMachine(t, nil), startMachine(t, nil))
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.Exports = sink.Destinations{StatsD: l.LocalAddr().String(), StatsDProbe: true}
	const over = "this test is over"
	read := make(chan string)
	go func() {
		var all strings.Builder
		for buf := make([]byte, 1<<16); ; all.WriteByte('\n') {
			n, _, err := l.ReadFrom(buf)
			if text := string(buf[:n]); err != nil || text == over {
				read <- all.String()
				return
			}
			all.Write(buf[:n])
		}
	}()
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	whole(t, f, p, path)
	last, err := net.Dial("udp", l.LocalAddr().String()) // comes after all that was sent before
	check.OK(t, err)
	defer last.Close()
	_, err = last.Write([]byte(over))
	check.OK(t, err)
	line := regexp.MustCompile(`(?m)^warp\.[^.]+-([^.-]+-\d)\.([a-z]+)\.count:(\d+)\|c$`)
	got := map[string]int{}
	for _, m := range line.FindAllStringSubmatch(<-read, -1) {
		count, _ := strconv.Atoi(m[3])
		got[m[1]+" "+strings.ToUpper(m[2])] += count
	}
	for series, n := range requestsOf(t, path) {
		if got[series] != n {
			t.Errorf("%s: %d rows, and StatsD was told of %d", series, n, got[series])
		}
	}
}

// page is what Prometheus gets to see, as numbers by the name and labels of a metric.
func page(t *testing.T, f *Fleet) map[string]float64 {
	t.Helper()
	p := sink.NewPrometheus("get", f.Metrics)
	addr, err := p.Serve("127.0.0.1:0")
	check.OK(t, err)
	defer p.End(t.Context())
	resp, err := http.Get("http://" + addr.String() + "/metrics")
	check.OK(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check.OK(t, err)
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			all[line[:at]], err = strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			check.OK(t, err)
		}
	}
	return all
}

// The coordinator shows the metrics of each client, and they are what is in the log.
func TestMetricsOfAllClients(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	_, behind := through(t, startMachine(t, nil))
	f := lead(t, nil, startMachine(t, nil), behind)
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.Exports.Metrics = true
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, p))
	check.OK(t, f.Measure(ctx, func() { when(t, func() bool { return warm(f) }, func() { f.End("") }) }))
	final := page(t, f) // complete as soon as all have measured
	check.OK(t, f.Finish(ctx))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	rows := requestsOf(t, path)
	if len(rows) != 4 {
		t.Errorf("rows of %v", rows)
	}
	for series, n := range rows {
		client, op, _ := strings.Cut(series, " ")
		labels := `{benchmark="get",client="` + client + `",endpoint="http://` + e.Addr() + `",op="` + op + `"}`
		for _, name := range []string{"warp_requests_total", "warp_request_duration_seconds_count", "warp_objects_total"} {
			if got := final[name+labels]; int(got) != n {
				t.Errorf("%s: %d rows, and %s%s is %v", series, n, name, labels, got)
			}
		}
		if flying, ok := final[`warp_requests_in_flight{benchmark="get",client="`+client+`",op="`+op+`"}`]; !ok || flying < 0 {
			t.Errorf("%s: %v in flight", series, flying)
		}
	}
	for name := range page(t, f) {
		if !strings.HasPrefix(name, "warp_") {
			t.Errorf("there is a metric %s", name)
		}
	}
	// A client that is lost is not in the log, and no longer shown.
	f.update(func() { f.links[0].lost = io.ErrUnexpectedEOF })
	for name := range page(t, f) {
		if strings.Contains(name, f.links[0].id) {
			t.Errorf("there still is %s", name)
		}
	}
}

// Metrics can neither flood the coordinator nor crash it, and come only where they are wanted.
func TestHostileMetrics(t *testing.T) {
	t.Parallel()
	m := sink.NewMetrics("c")
	_ = m.Write([]oplog.Record{{Op: "GET", Endpoint: "http://a", Duration: 1}})
	body, err := m.Counts().Append(nil)
	check.OK(t, err)
	f := New(Options{Members: make([]Member, 1)})
	talk := func() *clientSession {
		return &clientSession{link: f.links[0], metrics: metricsBurst, metricsAt: time.Now()}
	}
	if talk().handle(protocol.KindMetrics, body) == nil {
		t.Error("metrics that nobody asked for were taken")
	}
	f.links[0].job = &protocol.Job{Exports: sink.Destinations{Metrics: true}}
	check.OK(t, talk().handle(protocol.KindMetrics, body))
	if len(f.Metrics()) != 1 {
		t.Error("metrics were not taken")
	}
	if talk().handle(protocol.KindMetrics, body[:len(body)/2]) == nil {
		t.Error("half of the metrics were taken")
	}
	d, taken := talk(), 0
	for taken < 1000 && d.handle(protocol.KindMetrics, body) == nil {
		taken++
	}
	if taken > 5*metricsBurst { // some time may pass meanwhile
		t.Errorf("%d metrics were taken at once", taken)
	}
}
