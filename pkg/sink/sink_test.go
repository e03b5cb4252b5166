package sink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// rows returns GETs to two endpoints, one of which failed, and a PUT.
func rows() []oplog.Record {
	ms := time.Millisecond
	return []oplog.Record{
		{Op: "GET", Endpoint: "http://a:1", Objects: 1, Bytes: 100, Start: 1e18, Duration: 10 * ms, FirstByte: 4 * ms, Status: 200, Phases: &oplog.Phases{0, 1 * ms, 0, 2 * ms, 4 * ms, 3 * ms}},
		{Op: "GET", Endpoint: "http://b:1", Objects: 1, Bytes: 50, Start: 1e18, Duration: 20 * ms, FirstByte: 6 * ms, Status: 200, Phases: &oplog.Phases{0, 0, 0, 2 * ms, 6 * ms, 3 * ms}},
		{Op: "GET", Endpoint: "http://b:1", Objects: 1, Bytes: 7, Start: 1e18, Duration: 900 * ms, Status: 503, Err: "SlowDown: later"},
		{Op: "PUT", Endpoint: "http://a:1", Objects: 1, Bytes: 30, Start: 1e18, Duration: 30 * ms, LastByte: 25 * ms, ClientTime: 10 * ms, Status: 200},
	}
}

// An inbox keeps what a receiver got.
type inbox struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *inbox) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *inbox) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func influxAt(t *testing.T, handler http.HandlerFunc, change func(*InfluxOptions)) *influx {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o, err := ParseInflux(strings.Replace(server.URL, "http://", "http://se%3Dcret@", 1) + "/my%20bucket/org?site=x")
	check.OK(t, err)
	o.ID = "Ab3d"
	if change != nil {
		change(&o)
	}
	return newInflux(o)
}

func TestInflux(t *testing.T) {
	t.Parallel()
	var got inbox
	i := influxAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token se=cret" || r.URL.Query().Get("bucket") != "my bucket" || r.URL.Query().Get("org") != "org" {
			t.Errorf("asked with %q for %q", r.Header.Get("Authorization"), r.URL)
		}
		_, _ = io.Copy(&got, r.Body)
		_, _ = got.Write([]byte("\n"))
		w.WriteHeader(http.StatusNoContent)
	}, nil)
	check.OK(t, i.Write(rows()))
	if lost := i.Close(); lost != "" {
		t.Error(lost)
	}
	text := regexp.MustCompile(` \d{19}\n`).ReplaceAllString(got.String(), "\n")
	for _, want := range []string{
		"warp,endpoint=http://a:1,op=GET,site=x,warp_id=Ab3d requests=1i,objects=1i,bytes_total=100i,errors=0i,request_total_secs=0.01,request_ttfb_total_secs=0.004,request_wire_total_secs=0,request_client_total_secs=0\n",
		"warp,endpoint=http://b:1,op=GET,site=x,warp_id=Ab3d requests=2i,objects=1i,bytes_total=50i,errors=1i,request_total_secs=0.02,request_ttfb_total_secs=0.006,request_wire_total_secs=0,request_client_total_secs=0\n",
		"warp,op=GET,site=x,warp_id=Ab3d requests=3i,objects=2i,bytes_total=150i,errors=1i,request_total_secs=0.03,request_ttfb_total_secs=0.01,request_wire_total_secs=0,request_client_total_secs=0\n",
		"warp_run_summary,op=GET,site=x,warp_id=Ab3d requests=3i,objects=2i,bytes_total=150i,errors=1i,request_total_secs=0.03,request_ttfb_total_secs=0.01,request_wire_total_secs=0,request_client_total_secs=0," +
			"request_avg_secs=0.015,request_max_secs=0.02,request_min_secs=0.01,request_ttfb_avg_secs=0.005,request_ttfb_max_secs=0.006,request_ttfb_min_secs=0.004\n",
		"warp_run_summary,endpoint=http://a:1,op=PUT,site=x,warp_id=Ab3d requests=1i,objects=1i,bytes_total=30i,errors=0i,request_total_secs=0.03,request_ttfb_total_secs=0.005,request_wire_total_secs=0.02,request_client_total_secs=0.01,",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The summary is about the requests that started in the window.
func TestInfluxSummaryOfTheWindow(t *testing.T) {
	t.Parallel()
	var got inbox
	i := influxAt(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&got, r.Body)
		_, _ = got.Write([]byte("\n"))
		w.WriteHeader(http.StatusNoContent)
	}, nil)
	write := func(op string, starts ...int64) {
		for _, start := range starts {
			check.OK(t, i.Write([]oplog.Record{{Op: op, Endpoint: "http://a:1", Start: start, Duration: time.Second, Objects: 1}}))
		}
	}
	write("GET", 1, 2, 3)
	write("STAT", 1, 2)
	w := oplog.Window{Start: 1, Begin: 10}
	_ = i.SetWindow(w)
	write("GET", 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	write("STAT", 15)
	w.End = 20
	_ = i.SetWindow(w)
	write("GET", 20, 21)
	if lost := i.Close(); lost != "" {
		t.Error(lost)
	}
	for _, want := range []string{"warp_run_summary,op=GET,site=x,warp_id=Ab3d requests=11i", "warp_run_summary,op=STAT,site=x,warp_id=Ab3d requests=3i", "warp,op=GET,site=x,warp_id=Ab3d requests=16i"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}

// Rows arrive worker by worker. Their points are in order of time, and no two have the same time.
func TestInfluxEveryRequest(t *testing.T) {
	t.Parallel()
	var got inbox
	i := influxAt(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&got, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}, func(o *InfluxOptions) { o.Every = true })
	late := rows()[:1]
	late[0].Start += 1
	for _, batch := range [][]oplog.Record{late, rows(), rows()[:1]} {
		check.OK(t, i.Write(batch))
	}
	i.Close()
	for _, want := range []string{
		"endpoint=http://a:1,op=GET,site=x,warp_id=Ab3d requests=1i,objects=1i,bytes_total=100i,errors=0i,request_total_secs=0.01,request_ttfb_total_secs=0.004,request_wire_total_secs=0,request_client_total_secs=0 1000000000010000000\n",
		"endpoint=http://a:1,op=GET,site=x,warp_id=Ab3d requests=2i,objects=2i,bytes_total=200i,errors=0i,request_total_secs=0.02,request_ttfb_total_secs=0.008,request_wire_total_secs=0,request_client_total_secs=0 1000000000010000001\n",
		"endpoint=http://a:1,op=GET,site=x,warp_id=Ab3d requests=3i,objects=3i,bytes_total=300i,errors=0i,request_total_secs=0.03,request_ttfb_total_secs=0.012,request_wire_total_secs=0,request_client_total_secs=0 1000000000010000002\n",
		// The second row of b ends 900 ms after the start. Its point has the totals up to then.
		"requests=2i,objects=1i,bytes_total=50i,errors=1i,request_total_secs=0.02,request_ttfb_total_secs=0.006,request_wire_total_secs=0,request_client_total_secs=0 1000000000900000000\n",
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}

// Recent rows are delayed, because older rows of another worker may come later.
func TestInfluxEveryRequestInOrder(t *testing.T) {
	t.Parallel()
	i := influxAt(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, func(o *InfluxOptions) { o.Every = true })
	young := rows()[:1]
	young[0].Start = time.Now().Add(time.Hour).UnixNano()
	_ = i.Write(young)
	_ = i.Write(rows()[1:2])
	_ = i.Flush()
	if len(i.rows) != 1 || i.rows[0].Start != young[0].Start {
		t.Errorf("holds back %d rows", len(i.rows))
	}
	if lost := i.Close(); lost != "" {
		t.Error(lost)
	}
}

// TestInfluxThatIsSlow checks that Write does not wait, and that the message about lost points does
// not contain the token.
func TestInfluxThatIsSlow(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	i := influxAt(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		http.Error(w, `{"code":"unauthorized","message":"no se=cret here"}`, http.StatusUnauthorized)
	}, func(o *InfluxOptions) { o.Every = true })
	for range 100 {
		for range influxBatch {
			_ = i.Write(rows()[:1])
		}
		_ = i.Flush()
	}
	close(release) // not earlier: if Write waited for the answer, this line would never be reached
	lost := i.Close()
	if !strings.Contains(lost, "points did not reach InfluxDB") || !strings.Contains(lost, "unauthorized") || strings.Contains(lost, "se=cret") {
		t.Errorf("says %q", lost)
	}
}

// A server that never answers costs the wait at the end once, not for each batch.
func TestInfluxThatHangs(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	i := influxAt(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-over
	}, nil)
	defer close(over)
	i.wait = 50 * time.Millisecond
	_ = i.Write(rows())
	for range 2 * influxQueue {
		i.last = time.Time{}
		_ = i.Flush()
	}
	began := time.Now()
	lost := i.Close()
	if took := time.Since(began); took > 2*influxWait {
		t.Errorf("Close takes %v", took)
	}
	if !strings.Contains(lost, "did not answer within 50ms of the end") || strings.Contains(lost, "canceled") {
		t.Errorf("says %q", lost)
	}
}

func TestInfluxThatIsDead(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	addr := l.Addr().String()
	_ = l.Close()
	i := newInflux(InfluxOptions{Server: "http://" + addr, Token: "t", Bucket: "b"})
	if i.check(t.Context()) == nil {
		t.Error("a dead server passes the check")
	}
	_ = i.Write(rows())
	if lost := i.Close(); !strings.Contains(lost, "10 of 10 points did not reach InfluxDB") || !strings.Contains(lost, "refused") {
		t.Errorf("says %q", lost)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	if got := brief("404:\n <html>\n" + strings.Repeat("ä", 500)); !strings.HasPrefix(got, "404: <html> ää") || !strings.HasSuffix(got, "ä…") || len(got) > 310 {
		t.Errorf("%q", got)
	}
}

func TestParseInfluxRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ftp://secret@h/b": "neither", "http://secret@h": "no bucket", "http://secret@h/b/o/x": "more than",
		"http://secret@h/b?op=1": "warp sets itself", "://": "is not a URL", "http://secret@/b": "no host",
		"http://secret@h/b?time=1": "reserves", "http://secret@h/b?a=": "without a name or a value", "http://secret@h/b?=a": "without a name or a value",
		"http://h1/secret@h2/b": "as %2F", "http://sec/ret@h2/b/secret": "as %2F",
		"http://secret@h/b?%zz=1": "cannot be read", "http://sec ret\x7f": "is not a URL",
	} {
		_, err := ParseInflux(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestStatsD(t *testing.T) {
	t.Parallel()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	defer l.Close()
	s, err := newStatsD(l.LocalAddr().String(), "warp.node_example-Ab3d.")
	check.OK(t, err)
	check.OK(t, s.Write(rows()))
	s.InFlight(map[string]int{"GET": 7, "STAT": 1})
	s.last = time.Now().Add(-time.Second)
	_ = s.Flush()
	buf := make([]byte, 1<<16)
	_ = l.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, _, err := l.ReadFrom(buf)
	check.OK(t, err)
	got := string(buf[:n])
	for _, want := range []string{
		"warp.node_example-Ab3d.get.count:3|c\n", "warp.node_example-Ab3d.get.errors:1|c\n",
		"warp.node_example-Ab3d.get.pending:7|g\n", "warp.node_example-Ab3d.stat.pending:1|g\n", "warp.node_example-Ab3d.stat.count:0|c\n",
		"warp.node_example-Ab3d.get.minlatency:10|ms\n",
		"warp.node_example-Ab3d.get.maxlatency:20|ms\n", "warp.node_example-Ab3d.put.count:1|c\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, want := range []string{`get\.latency\.connect:1\|ms\|@0\.99999\d+\n`, `get\.latency\.send:2\|ms\|@0\.4999\d+\n`, `get\.latency\.wait:5\|ms\|@0\.4999\d+\n`, `get\.latency\.receive:3\|ms\|@0\.4999\d+\n`,
		`put\.wire:20\|ms\|@0\.99999\d+\n`, `put\.client:10\|ms\|@0\.99999\d+\n`} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "latency.dns") || strings.Contains(got, "latency.tls") || strings.Contains(got, "put.latency.") {
		t.Errorf("phases that nobody noted in\n%s", got)
	}
	if !regexp.MustCompile(`get\.latency:15\|ms\|@0\.4999\d+\n`).MatchString(got) || !regexp.MustCompile(`get\.throughput:1(50|49)(\.\d+)?\|g\n`).MatchString(got) {
		t.Errorf("throughput or latency is wrong in\n%s", got)
	}
	if n > maxDatagram {
		t.Errorf("a datagram of %d bytes", n)
	}
}

func TestStatsDThatIsDead(t *testing.T) {
	t.Parallel()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	addr := l.LocalAddr().String()
	_ = l.Close()
	s, err := newStatsD(addr, "warp.h-c.")
	check.OK(t, err)
	if s.probe() == nil {
		t.Error("nobody listens, and the probe does not notice")
	}
	_ = s.Write(rows())
	for range 3 {
		_ = s.Flush()
		time.Sleep(20 * time.Millisecond)
	}
	if lost := s.Close(); !strings.Contains(lost, "did not reach StatsD") {
		t.Errorf("says %q", lost)
	}
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	var pushed inbox
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintln(&pushed, r.Method, r.URL.Path)
	}))
	defer gateway.Close()
	m := NewMetrics("Ab3d")
	p := NewPrometheus("get", m.Clients)
	addr, err := p.Serve("127.0.0.1:0")
	check.OK(t, err)
	p.Push(gateway.URL, "Ab3d")
	_ = m.Write(rows())
	m.InFlight(map[string]int{"GET": 3, "STAT": 2})
	m.InFlight(map[string]int{"GET": 4})
	resp, err := http.Get("http://" + addr.String() + "/metrics")
	check.OK(t, err)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	check.OK(t, err)
	for _, want := range []string{
		`warp_requests_total{benchmark="get",client="Ab3d",endpoint="http://b:1",op="GET"} 2`,
		`warp_request_errors_total{benchmark="get",client="Ab3d",code="SlowDown",endpoint="http://b:1",op="GET"} 1`,
		`warp_requests_in_flight{benchmark="get",client="Ab3d",op="GET"} 4`, `warp_requests_in_flight{benchmark="get",client="Ab3d",op="STAT"} 0`,
		`warp_requests_in_flight{benchmark="get",client="Ab3d",op="PUT"} 0`, // never in flight when sampled
		`warp_payload_bytes_total{benchmark="get",client="Ab3d",endpoint="http://b:1",op="GET"} 50`,
		`warp_request_duration_seconds_count{benchmark="get",client="Ab3d",endpoint="http://b:1",op="GET"} 1`,
		`warp_request_duration_seconds_bucket{benchmark="get",client="Ab3d",endpoint="http://a:1",op="GET",le="0.016384"} 1`,
		`warp_request_duration_seconds_bucket{benchmark="get",client="Ab3d",endpoint="http://a:1",op="GET",le="0.008192"} 0`,
		`warp_request_ttfb_seconds_sum{benchmark="get",client="Ab3d",endpoint="http://a:1",op="PUT"} 0.005`,
		`warp_request_wire_seconds_bucket{benchmark="get",client="Ab3d",endpoint="http://a:1",op="PUT",le="0.032768"} 1`,
		`warp_request_wire_seconds_sum{benchmark="get",client="Ab3d",endpoint="http://a:1",op="PUT"} 0.02`,
		`warp_request_client_seconds_total{benchmark="get",client="Ab3d",endpoint="http://a:1",op="PUT"} 0.01`,
	} {
		if !strings.Contains(string(body), want+"\n") {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if lost := p.Close(); lost != "" {
		t.Error(lost)
	}
	if d := p.ScrapeWait(); d != 0 {
		t.Errorf("waits for %v after a person has looked", d)
	}
	p.End(t.Context())
	if _, err := http.Get("http://" + addr.String() + "/metrics"); err == nil {
		t.Error("it answers after its end")
	}
	if !strings.Contains(pushed.String(), "PUT /metrics/job/warp/instance/Ab3d") {
		t.Errorf("pushed %q", pushed.String())
	}
}

// The last figures are served until all regular scrapers have fetched them or no longer come.
func TestScrapes(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	s := newScrapes(http.NotFoundHandler())
	s.finish(at(0))
	if d := s.due(at(0)); d != 0 {
		t.Errorf("waits %v for nobody", d)
	}
	s = newScrapes(http.NotFoundHandler())
	s.begin("once", at(95))
	for _, when := range []int{70, 80, 90} {
		if s.begin("often", at(when)) {
			t.Error("figures are said to be the last ones during the run")
		}
	}
	s.finish(at(100))
	if d := s.due(at(101)); d != 59*time.Second {
		t.Errorf("waits %v for one that came once, not the 59 s that are left", d)
	}
	if !s.begin("once", at(102)) {
		t.Error("figures are not the last ones after the run")
	}
	s.completed("once")
	if d := s.due(at(103)); d != 7*time.Second {
		t.Errorf("waits %v, not until 110 s", d)
	}
	if d := s.due(at(111)); d != 0 {
		t.Errorf("waits %v for one that does not come any more", d)
	}
}

func TestPrometheusScrapeWait(t *testing.T) {
	t.Parallel()
	m := NewMetrics("Ab3d")
	p := NewPrometheus("get", m.Clients)
	addr, err := p.Serve("127.0.0.1:0")
	check.OK(t, err)
	scrape := func() string {
		req, err := http.NewRequest(http.MethodGet, "http://"+addr.String()+"/metrics", nil)
		check.OK(t, err)
		req.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "10")
		resp, err := http.DefaultClient.Do(req)
		check.OK(t, err)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	scrape()
	_ = m.Write(rows())
	p.Close()
	if d := p.ScrapeWait(); d <= 0 || d > maxScrapeWait {
		t.Errorf("waits for %v", d)
	}
	ended := make(chan struct{})
	go func() { p.End(t.Context()); close(ended) }()
	if !strings.Contains(scrape(), `warp_requests_total{benchmark="get",client="Ab3d",endpoint="http://b:1",op="GET"} 2`) {
		t.Error("the last figures are not there")
	}
	<-ended
}

// A push in progress delays nothing.
func TestPushgatewayThatHangs(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 100), make(chan struct{})
	gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer gateway.Close()
	m := NewMetrics("Ab3d")
	p := NewPrometheus("get", m.Clients)
	p.Push(gateway.URL, "c")
	<-asked
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 5 {
			_ = m.Write(rows())
			m.InFlight(map[string]int{"GET": 1})
			_ = m.Flush()
		}
	}()
	select {
	case <-written:
	case <-time.After(pushWait - time.Second):
		t.Error("the load waits for the Pushgateway")
	}
	close(release)
	<-written
	if lost := p.Close(); lost != "" {
		t.Error(lost)
	}
}

func TestPushgatewayThatIsDead(t *testing.T) {
	t.Parallel()
	gateway := httptest.NewServer(http.NotFoundHandler())
	defer gateway.Close()
	m := NewMetrics("Ab3d")
	p := NewPrometheus("get", m.Clients)
	p.Push(gateway.URL, "c")
	_ = m.Write(rows())
	if lost := p.Close(); !strings.Contains(lost, "pushes to the Pushgateway failed") {
		t.Errorf("says %q", lost)
	}
}

// TestTotalsAddUp compares the sum of the endpoints with one total of all rows.
func TestTotalsAddUp(t *testing.T) {
	t.Parallel()
	var split, whole totals
	for _, r := range rows() {
		split.of(r.Op, r.Endpoint).add(&r)
		whole.of(r.Op, "").add(&r)
	}
	for i, got := range split.overall() {
		if *got != *whole.list[i] {
			t.Errorf("%+v, want %+v", got, whole.list[i])
		}
	}
}

// A redirect never sends the token or the figures to another host.
func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	for _, status := range []int{302, 307, 308} {
		i := influxAt(t, http.RedirectHandler(other.URL, status).ServeHTTP, nil)
		if err := i.check(t.Context()); !errors.Is(err, errRefused) {
			t.Errorf("InfluxDB, %d: %v", status, err)
		}
		_ = i.Write(rows())
		_ = i.Close()
		gateway := httptest.NewServer(http.RedirectHandler(other.URL, status))
		p := NewPrometheus("get", NewMetrics("c").Clients)
		p.Push(strings.Replace(gateway.URL, "http://", "http://user:secret@", 1), "x")
		p.Close()
		gateway.Close()
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}
