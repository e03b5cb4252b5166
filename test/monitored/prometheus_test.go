package monitored

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"warp/internal/check"
	"warp/internal/teststore"
)

// scraping starts a Prometheus with the documented configuration, but four times as fast.
func scraping(t *testing.T, warp, gateway string) *teststore.Receiver {
	t.Helper()
	config := documented(t, "cat > prometheus.yml <<'END'\n", "END\n")
	for _, change := range [][2]string{{"127.0.0.1:9200", warp}, {"127.0.0.1:9091", gateway}, {"scrape_interval: 1s", "scrape_interval: 250ms\n  scrape_timeout: 250ms"}} {
		if strings.Count(config, change[0]) != 1 {
			t.Fatalf("no %s in the documented configuration", change[0])
		}
		config = strings.Replace(config, change[0], change[1], 1)
	}
	return teststore.StartReceiver(t, teststore.Prometheus, teststore.ReceiverOptions{Config: config})
}

// A sample is one series in an answer of Prometheus.
type sample struct {
	Metric map[string]string
	Value  [2]any
	Values [][2]any
}

func (s *sample) value() float64 {
	text, _ := s.Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// promQL queries Prometheus; path is query?query=… or query_range?….
func promQL(t *testing.T, p *teststore.Receiver, path string, values url.Values) []sample {
	t.Helper()
	text, err := p.Get(t.Context(), "/api/v1/"+path+"?"+values.Encode())
	check.OK(t, err)
	var answer struct {
		Status string
		Data   struct{ Result []sample }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%v: %s", err, text)
	}
	return answer.Data.Result
}

// now returns the value of a query with a single result, about metrics whose targets may be gone.
func now(t *testing.T, p *teststore.Receiver, query string) float64 {
	t.Helper()
	all := promQL(t, p, "query", url.Values{"query": {query}})
	if len(all) != 1 {
		t.Errorf("%s: %d values", query, len(all))
		return math.NaN()
	}
	return all[0].value()
}

// lint returns the problems that promtool finds.
func lint(t *testing.T, exposition string) {
	t.Helper()
	cmd := exec.Command(teststore.Program(t, teststore.Promtool), "check", "metrics")
	cmd.Stdin = strings.NewReader(exposition)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", url, resp.Status, err)
	}
	return string(text)
}

// The load waits in the middle until Prometheus has scraped it, so that Prometheus comes again at
// the end.
func TestPrometheusAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	addr := teststore.FreeAddress(t)
	p := scraping(t, addr, teststore.FreeAddress(t))
	b := newBed(t, teststore.MinIO, someFail)
	half := newTurnstile(40)
	b.hosts[0].Inject(append([]*teststore.Fault{half.fault()}, someFail()...)...)
	r := start(t, b.line("mixed", "--objects=20", "--max-objects=100", "--metrics="+addr)...)
	half.await(t, r)
	r.await("metrics of all kinds", func() bool {
		return strings.Contains(get(t, "http://"+addr+"/metrics"), "\nwarp_request_errors_total{")
	})
	lint(t, get(t, "http://"+addr+"/metrics"))
	r.await("a fetch", func() bool {
		return len(promQL(t, p, "query", url.Values{"query": {"warp_requests_total"}})) > 0
	})
	half.open()
	r.want(3)
	want := figuresOf(r.rows())
	for s, f := range want {
		labels := fmt.Sprintf(`{job="warp",benchmark="mixed",client=%q,op=%q}`, r.client(), s.op)
		if s.endpoint != "" {
			labels = fmt.Sprintf(`{job="warp",benchmark="mixed",client=%q,op=%q,endpoint=%q}`, r.client(), s.op, s.endpoint)
		}
		last := func(metric string) float64 { return now(t, p, "sum(last_over_time("+metric+labels+"[1h]))") }
		for metric, v := range map[string]float64{
			"warp_requests_total": float64(f.requests), "warp_payload_bytes_total": float64(f.bytes), "warp_objects_total": float64(f.objects),
			"warp_request_duration_seconds_count": float64(len(f.times)), "warp_request_duration_seconds_sum": sum(f.times),
			"warp_request_ttfb_seconds_count": float64(len(f.firstBytes)), "warp_request_ttfb_seconds_sum": sum(f.firstBytes),
			"warp_request_wire_seconds_count": float64(len(f.wire)), "warp_request_wire_seconds_sum": sum(f.wire), "warp_request_client_seconds_total": sum(f.client),
		} {
			if got := last(metric); !same(got, v) {
				t.Errorf("%s%s is %v, and the log says %v", metric, labels, got, v)
			}
		}
		for code, n := range f.codes {
			query := "warp_request_errors_total" + strings.TrimSuffix(labels, "}") + `,code="` + code + `"}`
			if got := now(t, p, "sum(last_over_time("+query+"[1h]))"); got != float64(n) {
				t.Errorf("%s is %v, and the log says %d", query, got, n)
			}
		}
		checkQuantiles(t, p, labels, f)
	}
	if v := now(t, p, "sum(last_over_time(warp_requests_in_flight[1h]))"); v != 0 {
		t.Errorf("%v requests are in flight after the run", v)
	}
}

// checkQuantiles compares Prometheus' estimates, which are as exact as its buckets, with the times
// in the log.
func checkQuantiles(t *testing.T, p *teststore.Receiver, labels string, f *figures) {
	t.Helper()
	for _, c := range []struct {
		metric string
		times  []float64
	}{{"warp_request_duration_seconds", f.times}, {"warp_request_ttfb_seconds", f.firstBytes}, {"warp_request_wire_seconds", f.wire}} {
		if len(c.times) == 0 {
			continue
		}
		times := slices.Sorted(slices.Values(c.times))
		for _, q := range []float64{0.5, 0.9, 0.99} {
			got := now(t, p, fmt.Sprintf("histogram_quantile(%v, sum by (le) (last_over_time(%s_bucket%s[1h])))", q, c.metric, labels))
			// The time at that rank, and the bucket that contains it; the lowest one begins at 0.
			rank := times[max(int(math.Ceil(q*float64(len(times))))-1, 0)]
			low, high := 0., 64e-6
			for ; rank > high; high *= 2 {
				low = high
			}
			if got < low*(1-1e-9) || got > high*(1+1e-9) {
				t.Errorf("the %v-quantile of %s%s is %v s, and that of the log, %v s, is between %v and %v", q, c.metric, labels, got, rank, low, high)
			}
		}
	}
}

// An address that nobody scrapes has no cost, and is closed with the run.
func TestPrometheusThatDoesNotCome(t *testing.T) {
	t.Parallel()
	addr := teststore.FreeAddress(t)
	r := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=100", "--metrics="+addr).want(0)
	if strings.Contains(r.stderr(), "serving the last metrics") {
		t.Errorf("it waits for nobody: %s", r)
	}
	if text := get(t, "http://"+addr+"/metrics"); text != "" {
		t.Error("the address outlives the run")
	}
	// Two runs cannot have one address.
	l := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--forever", "--metrics="+addr)
	l.await("the metrics of the first", func() bool { return get(t, "http://"+addr+"/metrics") != "" })
	start(t, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=1", "--metrics="+addr).want(1).fails("--metrics", "address already in use")
}

// A Prometheus that dies during the run does not delay its end.
func TestPrometheusThatDies(t *testing.T) {
	t.Parallel()
	addr := teststore.FreeAddress(t)
	p := scraping(t, addr, teststore.FreeAddress(t))
	b := newBed(t, teststore.Embedded, nil)
	half := newTurnstile(20)
	b.hosts[0].Inject(half.fault())
	r := start(t, b.line("put", "--max-objects=100", "--metrics="+addr)...)
	half.await(t, r)
	r.await("two fetches", func() bool {
		all := promQL(t, p, "query", url.Values{"query": {`sum(sum_over_time(up{job="warp"}[1h]))`}})
		return len(all) == 1 && all[0].value() >= 2
	})
	p.Kill(0)
	half.open()
	r.want(0)
	if n := len(r.rows()); n != 100 {
		t.Errorf("%d rows", n)
	}
}

// pushed returns the metrics in a Pushgateway.
func pushed(t *testing.T, g *teststore.Receiver) map[string]*dto.MetricFamily {
	t.Helper()
	text, err := g.Get(t.Context(), "/metrics")
	check.OK(t, err)
	return families(t, text)
}

func checkPushed(t *testing.T, r *run, g *teststore.Receiver) {
	t.Helper()
	got := pushed(t, g)
	for s, f := range figuresOf(r.rows()) {
		if s.endpoint == "" {
			continue
		}
		labels := map[string]string{"job": "warp", "instance": r.client(), "client": r.client(), "op": s.op, "endpoint": s.endpoint}
		for name, v := range map[string]float64{
			"warp_requests_total": float64(f.requests), "warp_payload_bytes_total": float64(f.bytes), "warp_objects_total": float64(f.objects),
		} {
			if m := metric(got, name, labels).GetCounter(); m == nil || m.GetValue() != v {
				t.Errorf("%s of %v is %v, and the log says %v", name, labels, m.GetValue(), v)
			}
		}
		h := metric(got, "warp_request_duration_seconds", labels).GetHistogram()
		if h.GetSampleCount() != uint64(len(f.times)) || !same(h.GetSampleSum(), sum(f.times)) {
			t.Errorf("%d times of %v with the sum %v; the log has %d and %v", h.GetSampleCount(), labels, h.GetSampleSum(), len(f.times), sum(f.times))
		}
		for _, b := range h.GetBucket() {
			n := 0
			for _, v := range f.times {
				if v <= b.GetUpperBound() {
					n++
				}
			}
			if b.GetCumulativeCount() != uint64(n) {
				t.Errorf("%v: %d times are up to %v; the log has %d", labels, b.GetCumulativeCount(), b.GetUpperBound(), n)
			}
		}
	}
}

func TestPushgatewayAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	g := teststore.StartReceiver(t, teststore.Pushgateway, teststore.ReceiverOptions{})
	p := scraping(t, teststore.FreeAddress(t), g.Addr)
	b := newBed(t, teststore.MinIO, someFail)
	// With a slash at the end, as people write it.
	r := start(t, b.line("mixed", "--objects=20", "--max-objects=50", "--pushgateway="+g.URL+"/")...).want(3)
	r.nothingLost()
	checkPushed(t, r, g)
	text, err := g.Get(t.Context(), "/metrics")
	check.OK(t, err)
	// The gateway's metrics about itself are not checked.
	var ours strings.Builder
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(l, "# HELP "), "# TYPE "), "warp_") {
			ours.WriteString(l)
		}
	}
	lint(t, ours.String())
	// Prometheus gets them from there with warp's labels.
	want := 0
	for s, f := range figuresOf(r.rows()) {
		if s.endpoint != "" {
			want += int(f.requests)
		}
	}
	check.Eventually(t, "Prometheus to have the last figures", func() bool {
		all := promQL(t, p, "query", url.Values{"query": {fmt.Sprintf(`sum(warp_requests_total{job="warp",instance=%q})`, r.client())}})
		return len(all) == 1 && all[0].value() == float64(want)
	})
}

// Nothing is pushed until the load is over. If the load waited for it, neither would ever end.
func TestPushgatewayThatIsSlow(t *testing.T) {
	t.Parallel()
	g := teststore.StartReceiver(t, teststore.Pushgateway, teststore.ReceiverOptions{})
	slow := newGate(t, g.Addr, func(r *http.Request) bool { return r.Method == http.MethodPut })
	b := newBed(t, teststore.Embedded, nil)
	r := start(t, b.line("put", "--max-objects=300", "--rps-limit=200", "--pushgateway=http://"+slow.Addr)...)
	r.await("all uploads", func() bool { return b.uploads() >= 300 })
	r.await("a push", func() bool { return slow.waiting() > 0 })
	slow.open()
	r.want(0)
	if n := len(r.rows()); n != 300 {
		t.Errorf("%d rows", n)
	}
	checkPushed(t, r, g)
}

// A gateway that never answers costs some seconds at the end, and is reported.
func TestPushgatewayThatHangs(t *testing.T) {
	t.Parallel()
	hangs := newGate(t, teststore.FreeAddress(t), func(*http.Request) bool { return true })
	r := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=2000", "--pushgateway=http://"+hangs.Addr).want(0)
	r.reports("pushes to the Pushgateway failed", "deadline exceeded")
	if n := len(r.rows()); n != 2000 {
		t.Errorf("%d rows", n)
	}
}

func TestPushgatewayThatIsDead(t *testing.T) {
	t.Parallel()
	r := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=100", "--json", "--pushgateway=http://user:apassword@"+teststore.FreeAddress(t)).want(0)
	if !strings.Contains(r.stdout(), "pushes to the Pushgateway failed") {
		t.Errorf("the report does not say what was lost: %s", r)
	}
	r.silentAbout("apassword")
	if n := len(r.rows()); n != 100 {
		t.Errorf("%d rows", n)
	}
}
