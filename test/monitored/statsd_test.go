package monitored

import (
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// families parses an exposition of metrics.
func families(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return all
}

// metric returns the metric of a family whose labels have these values, or nil if there is none.
func metric(all map[string]*dto.MetricFamily, name string, labels map[string]string) *dto.Metric {
	for _, m := range all[name].GetMetric() {
		fits := 0
		for _, l := range m.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				fits++
			}
		}
		if fits == len(labels) {
			return m
		}
	}
	return nil
}

// A relay forwards datagrams and keeps their lines.
type relay struct {
	Addr string

	mu    sync.Mutex
	lines []string
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	in, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	out, err := net.Dial("udp", to)
	check.OK(t, err)
	r := &relay{Addr: in.LocalAddr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			n, _, err := in.ReadFrom(buf)
			if err != nil {
				return
			}
			r.mu.Lock()
			r.lines = append(r.lines, strings.Fields(string(buf[:n]))...)
			r.mu.Unlock()
			_, _ = out.Write(buf[:n])
		}
	}()
	t.Cleanup(func() { in.Close(); <-done; out.Close() })
	return r
}

func (r *relay) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}

func TestStatsDAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	s := teststore.StartReceiver(t, teststore.StatsdExporter, teststore.ReceiverOptions{Config: documented(t, "```yaml\n", "```")})
	wire := newRelay(t, s.UDP)
	b := newBed(t, teststore.MinIO, someFail)
	r := start(t, b.line("mixed", "--objects=20", "--rps-limit=200", "--duration=3s", "--trace-http", "--trace-http-sample=1", "--statsd="+wire.Addr)...).want(3)
	if strings.Contains(r.stdout(), "StatsD") {
		t.Errorf("something was lost: %s", r)
	}
	want := figuresOf(r.rows())
	host, err := os.Hostname()
	check.OK(t, err)
	name := regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "_") + "-" + r.client()
	var got map[string]*dto.MetricFamily
	for se, f := range want {
		if se.endpoint != "" {
			continue
		}
		labels := map[string]string{"client": name, "op": strings.ToLower(se.op)}
		value := func(metricName string) float64 {
			m := metric(got, metricName, labels)
			switch {
			case m.GetCounter() != nil:
				return m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				return m.GetGauge().GetValue()
			}
			t.Errorf("no %s of %v", metricName, labels)
			return -1
		}
		count := func(metricName string) (uint64, float64) {
			h := metric(got, metricName, labels).GetSummary()
			return h.GetSampleCount(), h.GetSampleSum()
		}
		// The last datagram may still be in flight.
		check.Eventually(t, "the counter of "+se.op, func() bool {
			text, err := s.Get(t.Context(), "/metrics")
			check.OK(t, err)
			got = families(t, text)
			return value("warp_statsd_requests_total") >= float64(f.requests)
		})
		if n, e := value("warp_statsd_requests_total"), value("warp_statsd_errors_total"); n != float64(f.requests) || e != float64(f.errors) {
			t.Errorf("%v requests, %v errors; the log has %d and %d", n, e, f.requests, f.errors)
		}
		if n, s := count("warp_statsd_latency_seconds"); n != uint64(len(f.times)) || !same(s, sum(f.times)) {
			t.Errorf("%s: times of %d requests that took %v s; the log has %d and %v", se.op, n, s, len(f.times), sum(f.times))
		}
		if len(f.wire) > 0 {
			if n, s := count("warp_statsd_wire_seconds"); n != uint64(len(f.wire)) || !same(s, sum(f.wire)) {
				t.Errorf("%s: times on the wire of %d requests, in all %v s; the log has %d and %v", se.op, n, s, len(f.wire), sum(f.wire))
			}
			if n, s := count("warp_statsd_client_seconds"); n != uint64(len(f.client)) || !same(s, sum(f.client)) {
				t.Errorf("%s: the client's parts of %d requests, in all %v s; the log has %d and %v", se.op, n, s, len(f.client), sum(f.client))
			}
		}
		for k, times := range f.phases {
			labels["phase"] = oplog.PhaseNames[k]
			if n, s := count("warp_statsd_phase_seconds"); n != uint64(len(times)) || !same(s, sum(times)) {
				t.Errorf("%s %s: %d times, in all %v s; the log has %d and %v", se.op, labels["phase"], n, s, len(times), sum(times))
			}
		}
		delete(labels, "phase")
		if p, speed := value("warp_statsd_pending"), value("warp_statsd_throughput_bytes"); p != 0 || speed != 0 {
			t.Errorf("%s: after the run %v requests are pending and there are %v bytes/s", se.op, p, speed)
		}
		checkWire(t, wire.all(), "warp."+name+"."+strings.ToLower(se.op)+".", f, r.ended.Sub(r.began))
	}
	if n := misunderstood(got); n != 0 {
		t.Errorf("the receiver did not understand %v lines of %q", n, wire.all())
	}
}

// A receiver also understands aisloader's names. They differ in the tool, the client, and the
// phases.
func TestStatsDOfAISLoader(t *testing.T) {
	t.Parallel()
	config := strings.ReplaceAll(documented(t, "```yaml\n", "```"), `"warp.`, `"aisloader.`)
	s := teststore.StartReceiver(t, teststore.StatsdExporter, teststore.ReceiverOptions{Config: config})
	b := newBed(t, teststore.Embedded, nil)
	ip, port, err := net.SplitHostPort(s.UDP)
	check.OK(t, err)
	r := start(t, "aisloader", "-s3endpoint=http://"+b.hosts[0].Endpoint, "-access-key="+b.store.AccessKey, "-secret-key="+b.store.SecretKey,
		"-bucket=s3://loaded", "-pctput=50", "-minsize=1K", "-maxsize=4K", "-numworkers=4", "-maxputs=200", "-cleanup=true", "-trace-http",
		"-loaderid=27", "-statsdip="+ip, "-statsdport="+port).want(0)
	host, err := os.Hostname()
	check.OK(t, err)
	name := regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "_") + "-1b" // 27
	for se, f := range figuresOf(r.rows()) {
		if se.endpoint != "" {
			continue
		}
		labels := map[string]string{"client": name, "op": strings.ToLower(se.op)}
		var got map[string]*dto.MetricFamily
		times := func(name, phase string) *dto.Summary {
			if phase != "" {
				labels["phase"] = phase
			}
			defer delete(labels, "phase")
			return metric(got, name, labels).GetSummary()
		}
		// The last datagrams may still be in flight.
		check.Eventually(t, "all metrics of "+se.op, func() bool {
			text, err := s.Get(t.Context(), "/metrics")
			check.OK(t, err)
			got = families(t, text)
			for _, phase := range []string{"targetconn", "targetrequest", "targetresponse", "target", "posthttp"} {
				if times("warp_statsd_phase_seconds", phase).GetSampleCount() != uint64(len(f.times)) {
					return false
				}
			}
			return metric(got, "warp_statsd_requests_total", labels).GetCounter().GetValue() == float64(f.requests) &&
				times("warp_statsd_latency_seconds", "").GetSampleCount() == uint64(len(f.times))
		})
		if h := times("warp_statsd_latency_seconds", ""); !same(h.GetSampleSum(), sum(f.times)) {
			t.Errorf("%s: requests that took %v s; the log has %v", se.op, h.GetSampleSum(), sum(f.times))
		}
		if n := misunderstood(got); n != 0 {
			t.Errorf("the receiver did not understand %v lines", n)
		}
	}
}

// misunderstood returns how many lines the receiver could not parse.
func misunderstood(all map[string]*dto.MetricFamily) (n float64) {
	for _, name := range []string{"statsd_exporter_sample_errors_total", "statsd_exporter_tag_errors_total", "statsd_exporter_events_error_total", "statsd_exporter_events_conflict_total"} {
		for _, m := range all[name].GetMetric() {
			n += m.GetCounter().GetValue()
		}
	}
	return n
}

// checkWire checks the lines of one operation as they were sent.
func checkWire(t *testing.T, lines []string, prefix string, f *figures, took time.Duration) {
	t.Helper()
	types := map[string]string{"count": "c", "errors": "c", "pending": "g", "throughput": "g", "latency": "ms", "minlatency": "ms", "maxlatency": "ms", "wire": "ms", "client": "ms"}
	rare := map[string]bool{"wire": true, "client": true} // only with time stamps of the kernel
	for _, phase := range oplog.PhaseNames {
		types["latency."+phase], rare["latency."+phase] = "ms", true
	}
	values := make(map[string][]float64)
	for _, l := range lines {
		rest, ours := strings.CutPrefix(l, prefix)
		if !ours {
			continue
		}
		name, rest, _ := strings.Cut(rest, ":")
		value, kind, _ := strings.Cut(rest, "|")
		kind, rate, sampled := strings.Cut(kind, "|@")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || types[name] != kind || sampled != (strings.HasPrefix(name, "latency") || name == "wire" || name == "client") {
			t.Errorf("%q (%v): the type of %s is %q", l, err, name, types[name])
		}
		if sampled {
			r, err := strconv.ParseFloat(rate, 64)
			if err != nil || r <= 0 || r >= 1 {
				t.Errorf("%q: the rate is no share", l)
			}
		}
		values[name] = append(values[name], v)
	}
	for name := range types {
		if len(values[name]) == 0 && !rare[name] {
			t.Errorf("nothing of %s%s", prefix, name)
			return
		}
	}
	if len(f.times) > 0 {
		fastest, slowest := slices.Min(values["minlatency"])/1000, slices.Max(values["maxlatency"])/1000
		if !same(fastest, slices.Min(f.times)) || !same(slowest, slices.Max(f.times)) {
			t.Errorf("%s: between %v and %v s; the log has %v and %v", prefix, fastest, slowest, slices.Min(f.times), slices.Max(f.times))
		}
	}
	if p := slices.Max(values["pending"]); p > 4 {
		t.Errorf("%s: %v requests are pending of 4 workers", prefix, p)
	}
	// Not all bytes are sent at the highest rate, and the shortest interval is not as short as the
	// sum. Neither would hold in another unit.
	if fastest := slices.Max(values["throughput"]); f.bytes > 0 && (fastest < float64(f.bytes)/took.Seconds() || fastest > 1e5*float64(f.bytes)) {
		t.Errorf("%s: %v bytes/s at most, with %d bytes in %v", prefix, fastest, f.bytes, took)
	}
}

// Without a receiver there is no run, unless the check cannot tell.
func TestStatsDThatIsDead(t *testing.T) {
	t.Parallel()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	addr := l.LocalAddr().String()
	l.Close()
	b := newBed(t, teststore.Embedded, nil)
	start(t, b.line("put", "--max-objects=10", "--statsd="+addr)...).want(1).fails("--statsd", "nothing listens at "+addr, "--statsd-probe=false")
	if n := b.uploads(); n != 0 {
		t.Errorf("%d uploads without a receiver", n)
	}
	r := start(t, b.line("put", "--max-objects=10", "--statsd="+addr, "--statsd-probe=false")...).want(0)
	if n := len(r.rows()); n != 10 {
		t.Errorf("%d rows", n)
	}
}

// A receiver that dies in the middle loses what was sent to it, and nothing else.
func TestStatsDThatDies(t *testing.T) {
	t.Parallel()
	s := teststore.StartReceiver(t, teststore.StatsdExporter, teststore.ReceiverOptions{})
	b := newBed(t, teststore.Embedded, nil)
	half := newTurnstile(50)
	b.hosts[0].Inject(half.fault())
	r := start(t, b.line("put", "--max-objects=200", "--statsd="+s.UDP)...)
	half.await(t, r)
	r.await("datagrams", func() bool {
		text, err := s.Get(t.Context(), "/metrics")
		check.OK(t, err)
		return strings.Contains(text, "_put_count")
	})
	s.Kill(0)
	half.open()
	r.want(0)
	if n := len(r.rows()); n != 200 {
		t.Errorf("%d rows", n)
	}
	r.reports("did not reach StatsD at "+s.UDP, "refused")
}
