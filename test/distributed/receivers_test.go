package distributed

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// two starts two clients, with MinIO as the store and a separate bucket.
func two(t *testing.T, bucket string) *cluster {
	c := onThisMachine(t)
	c.clients = c.clients[:2]
	c.target[len(c.target)-1] = "--bucket=" + bucket
	c.startClients(t)
	return c
}

// sums are the sums over rows.
type sums struct{ requests, errors, bytes int64 }

// rows adds up a log, by client and operation.
func (c *cluster) rows(t *testing.T, name string) map[string]sums {
	t.Helper()
	return c.chosen(t, name, func(*oplog.Record, oplog.Window) bool { return true })
}

// chosen adds up the rows of the merged log that choose selects.
func (c *cluster) chosen(t *testing.T, name string, choose func(*oplog.Record, oplog.Window) bool) map[string]sums {
	t.Helper()
	r, rows := testlog.ReadFile(t, filepath.Join(c.coordinator.dir, name+".csv.zst"))
	all := map[string]sums{}
	for i := range rows {
		row := &rows[i]
		if !choose(row, *r.Header().Merged[0].Window) {
			continue
		}
		s := all[row.Client+" "+row.Op]
		s.requests++
		if row.Err != "" {
			s.errors++
		} else {
			s.bytes += row.Bytes
		}
		all[row.Client+" "+row.Op] = s
	}
	if len(all) != 2*len(c.clients) { // PUT and GET
		t.Errorf("%s: rows of %v", name, all)
	}
	return all
}

func TestInflux(t *testing.T) {
	t.Parallel()
	c := two(t, "influx")
	r := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	to := func(token string) string {
		return fmt.Sprintf("--influxdb=http://%s@%s/%s/%s?site=x", url.QueryEscape(token), r.Addr, url.PathEscape(r.Bucket), url.PathEscape(r.Org))
	}
	c.run(t, "refused", "1s", to("wrong-token-of-somebody")).ends(t, 1, "warp: error: client "+c.clients[0].addr+": --influxdb: "+r.URL+": InfluxDB refuses the points: ")
	c.run(t, "points", "3s", to(r.Token)).ends(t, 0, "2 clients began within")
	all := c.rows(t, "points")
	measured := c.chosen(t, "points", func(r *oplog.Record, w oplog.Window) bool {
		return r.Op == "PUT" || r.Place(w.Begin, w.End) == oplog.InWindow
	})
	for measurement, want := range map[string]map[string]sums{"warp": all, "warp_run_summary": measured} {
		if got := fluxSums(t, r, measurement); !maps.Equal(got, want) {
			t.Errorf("InfluxDB has %v of %s, and the log %v", got, measurement, want)
		}
	}
	for _, h := range append([]*host{c.coordinator}, c.clients...) {
		for _, p := range h.started {
			for _, secret := range []string{"wrong-token-of-somebody", r.Token, url.QueryEscape(r.Token)} {
				if strings.Contains(p.out.String(), secret) {
					t.Errorf("the token is shown:\n%s", p.out.String())
				}
			}
		}
	}
}

// fluxSums returns the last totals of each series without an endpoint.
func fluxSums(t *testing.T, r *teststore.Receiver, measurement string) map[string]sums {
	t.Helper()
	text, err := r.Flux(t.Context(), fmt.Sprintf(`from(bucket: %q) |> range(start: -1h)
	|> filter(fn: (r) => r._measurement == %q and r.site == "x" and not exists r.endpoint)
	|> filter(fn: (r) => r._field == "requests" or r._field == "errors" or r._field == "bytes_total")
	|> last() |> keep(columns: ["warp_id", "op", "_field", "_value"]) |> group()`, r.Bucket, measurement))
	check.OK(t, err)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("%q: %v", text, err)
	}
	column := func(name string) int { return slices.Index(lines[0], name) }
	all := map[string]sums{}
	for _, line := range lines[1:] {
		key := line[column("warp_id")] + " " + line[column("op")]
		n, err := strconv.ParseInt(line[column("_value")], 10, 64)
		check.OK(t, err)
		s := all[key]
		switch line[column("_field")] {
		case "requests":
			s.requests += n
		case "errors":
			s.errors += n
		default:
			s.bytes += n
		}
		all[key] = s
	}
	return all
}

var statsdCount = regexp.MustCompile(`(?m)^warp_[^{ ]*_([A-Za-z0-9]+_[12])_(get|put)_count(?:_total)? (\S+)$`)

func TestStatsD(t *testing.T) {
	t.Parallel()
	c := two(t, "statsd")
	r := teststore.StartReceiver(t, teststore.StatsdExporter, teststore.ReceiverOptions{})
	c.run(t, "datagrams", "3s", "--statsd="+r.UDP).ends(t, 0, "2 clients began within")
	var got map[string]int64
	want := map[string]int64{}
	for name, s := range c.rows(t, "datagrams") {
		want[strings.ReplaceAll(name, "-", "_")] = s.requests
	}
	for range 100 { // the exporter reads at its own pace
		got = map[string]int64{}
		page, err := r.Get(t.Context(), "/metrics")
		check.OK(t, err)
		for _, m := range statsdCount.FindAllStringSubmatch(page, -1) {
			n, err := strconv.ParseFloat(m[3], 64)
			check.OK(t, err)
			got[m[1]+" "+strings.ToUpper(m[2])] = int64(n)
		}
		if maps.Equal(got, want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("StatsD has %v, and the log %v", got, want)
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	promtool := teststore.Program(t, teststore.Promtool)
	addr := teststore.FreeAddress(t)
	gateway := teststore.StartReceiver(t, teststore.Pushgateway, teststore.ReceiverOptions{})
	server := teststore.StartReceiver(t, teststore.Prometheus, teststore.ReceiverOptions{
		Config: "global: {scrape_interval: 1s}\nscrape_configs: [{job_name: warp, static_configs: [{targets: [" + addr + "]}]}]\n",
	})
	c := two(t, "prometheus")
	p := c.run(t, "fetched", "4s", "--metrics="+addr, "--pushgateway="+gateway.URL)
	page := bothClients(t, "http://"+addr+"/metrics")
	tool := exec.Command(promtool, "check", "metrics")
	tool.Stdin = strings.NewReader(page)
	if out, err := tool.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	p.ends(t, 0, "2 clients began within")
	want := map[string]int64{}
	for name, s := range c.rows(t, "fetched") {
		want[name] = s.requests
	}
	text, err := server.Get(t.Context(), "/api/v1/query?query="+url.QueryEscape(`last_over_time(warp_requests_total[5m])`))
	check.OK(t, err)
	var answer struct {
		Data struct {
			Result []struct {
				Metric struct{ Client, Op string }
				Value  [2]any
			}
		}
	}
	check.OK(t, json.Unmarshal([]byte(text), &answer))
	fetched := map[string]int64{}
	for _, r := range answer.Data.Result {
		n, _ := strconv.ParseInt(fmt.Sprint(r.Value[1]), 10, 64)
		fetched[r.Metric.Client+" "+r.Metric.Op] += n
	}
	if !maps.Equal(fetched, want) {
		t.Errorf("Prometheus has %v, and the log %v", fetched, want)
	}
	if text, err = gateway.Get(t.Context(), "/metrics"); err != nil {
		t.Fatal(err)
	}
	pushed := map[string]int64{}
	for _, m := range pushedRequests.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[3], 64)
		pushed[m[1]+" "+m[2]] += int64(n)
	}
	if !maps.Equal(pushed, want) {
		t.Errorf("the Pushgateway has %v, and the log %v", pushed, want)
	}
}

var pushedRequests = regexp.MustCompile(`(?m)^warp_requests_total\{.*client="([^"]+)".*job="warp".*op="([^"]+)"\} (\S+)$`)

// bothClients waits for a page with metrics about downloads of both clients.
func bothClients(t *testing.T, address string) string {
	t.Helper()
	for range 300 {
		if resp, err := http.Get(address); err == nil {
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if strings.Count(string(text), `op="GET"} `) > 0 && strings.Contains(string(text), `-1",`) && strings.Contains(string(text), `-2",`) {
				return string(text)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("there never were metrics of both clients")
	return ""
}

// A run without logs leaves only its report, which is about all clients.
func TestStress(t *testing.T) {
	t.Parallel()
	c := two(t, "stress")
	args := append([]string{"get", c.list(), "--duration=3s", "--stress", "--obj.size=4KiB", "--objects=20", "--concurrent=2", "--rps-limit=200",
		"--json", "--lease=12s"}, c.target...)
	p := c.coordinator.start(t, args...)
	p.ends(t, 0, `"clients": 2`)
	var report struct {
		Operations []struct {
			Op       string `json:"op"`
			Requests int64  `json:"requests"`
		} `json:"operations"`
	}
	document := p.out.String()[strings.Index(p.out.String(), "{\n"):]
	if err := json.NewDecoder(strings.NewReader(document)).Decode(&report); err != nil {
		t.Fatalf("%v in\n%s", err, p.out.String())
	}
	got, want := int64(0), int64(0)
	for _, op := range report.Operations {
		got += op.Requests
	}
	c.store.mu.Lock()
	for _, n := range c.store.n {
		want += int64(n)
	}
	c.store.mu.Unlock()
	if got != want || want <= 40 { // 40 are uploads
		t.Errorf("the report is about %d requests, and the store saw %d", got, want)
	}
	for _, h := range append([]*host{c.coordinator}, c.clients...) {
		if files, err := os.ReadDir(h.dir); err != nil || len(files) > 0 {
			t.Errorf("there are files: %v, %v", files, err)
		}
	}
	c.clean(t)
}
