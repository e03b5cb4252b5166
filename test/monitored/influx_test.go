package monitored

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// influxURL returns the value of --influxdb for a server at addr.
func influxURL(i *teststore.Receiver, addr, token string) string {
	u := url.URL{Scheme: "http", Host: addr, Path: "/" + i.Bucket + "/" + i.Org, RawQuery: "site=a+b", User: url.User(token)}
	return u.String()
}

// A point is a point of one series in InfluxDB.
type point struct {
	at     int64
	tags   map[string]string
	fields map[string]float64
}

// points returns all points of a client in InfluxDB, by series and in order of time. It leaves out points that InfluxDB
// is just writing, which lack fields.
func points(t *testing.T, i *teststore.Receiver, measurement, client string) map[series][]point {
	t.Helper()
	text, err := i.Flux(t.Context(), fmt.Sprintf(`from(bucket: %q)
  |> range(start: -1h)
  |> filter(fn: (r) => r._measurement == %q and r.warp_id =~ /^%s/)
  |> map(fn: (r) => ({r with _value: float(v: r._value)}))
  |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
  |> map(fn: (r) => ({r with at: int(v: r._time)}))`, i.Bucket, measurement, client))
	check.OK(t, err)
	all := make(map[series][]point)
rows:
	for _, row := range tables(t, text) {
		p := point{tags: make(map[string]string), fields: make(map[string]float64)}
		for name, value := range row {
			switch {
			case name == "at":
				p.at, _ = strconv.ParseInt(value, 10, 64)
			case strings.HasSuffix(name, "_secs") || slices.Contains([]string{"requests", "errors", "objects", "bytes_total"}, name):
				if value == "" {
					continue rows
				}
				if p.fields[name], err = strconv.ParseFloat(value, 64); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			case name != "" && name != "result" && name != "table" && name[0] != '_':
				p.tags[name] = value
			}
		}
		s := series{p.tags["op"], p.tags["endpoint"]}
		all[s] = append(all[s], p)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b point) int { return int(a.at - b.at) })
	}
	return all
}

// tables parses an answer in CSV: several tables with separate headers.
func tables(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		lines, err := csv.NewReader(strings.NewReader(part)).ReadAll()
		check.OK(t, err)
		for _, line := range lines[min(1, len(lines)):] {
			row := make(map[string]string)
			for k, value := range line {
				row[lines[0][k]] = value
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// totals returns the fields of every point, computed from the log.
func (f *figures) totals() map[string]float64 {
	return map[string]float64{
		"requests": float64(f.requests), "errors": float64(f.errors), "objects": float64(f.objects), "bytes_total": float64(f.bytes),
		"request_total_secs": sum(f.times), "request_ttfb_total_secs": sum(f.firstBytes),
		"request_wire_total_secs": sum(f.wire), "request_client_total_secs": sum(f.client),
	}
}

// summary returns the fields of the point at the end of a run.
func (f *figures) summary() map[string]float64 {
	all := f.totals()
	for name, times := range map[string][]float64{"request": f.times, "request_ttfb": f.firstBytes} {
		if len(times) == 0 {
			times = []float64{0}
		}
		all[name+"_avg_secs"] = sum(times) / float64(len(times))
		all[name+"_max_secs"] = slices.Max(times)
		all[name+"_min_secs"] = slices.Min(times)
	}
	return all
}

func checkFields(t *testing.T, what string, got point, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if have, there := got.fields[name]; !there || !same(have, v) {
			t.Errorf("%s: %s is %v (%v), and the log says %v", what, name, have, there, v)
		}
	}
	for name := range got.fields {
		if _, known := want[name]; !known {
			t.Errorf("%s: a field %s", what, name)
		}
	}
}

// agree compares the final content of InfluxDB with the log.
func agree(t *testing.T, r *run, i *teststore.Receiver) {
	t.Helper()
	all, summarized := figuresOf(r.rows()), figuresOf(r.summarized())
	tags := map[string]string{"warp_id": r.client(), "site": "a b"}
	for _, measurement := range []string{"warp", "warp_run_summary"} {
		got, want := points(t, i, measurement, r.client()), all
		if measurement != "warp" {
			want = summarized
		}
		for s, f := range want {
			list := got[s]
			if len(list) == 0 {
				t.Errorf("%s: no points of %v; there are some of %d series", measurement, s, len(got))
				continue
			}
			last, fields := list[len(list)-1], f.totals()
			if measurement != "warp" {
				fields = f.summary()
				if len(list) != 1 {
					t.Errorf("%d summaries of %v", len(list), s)
				}
			}
			checkFields(t, fmt.Sprintf("%s of %v", measurement, s), last, fields)
			tags["op"], tags["endpoint"] = s.op, s.endpoint
			for name, value := range last.tags {
				if tags[name] != value {
					t.Errorf("%s of %v: the tag %s is %q", measurement, s, name, value)
				}
			}
			if more := len(last.tags); s.endpoint == "" && more != 3 || s.endpoint != "" && more != 4 {
				t.Errorf("%s of %v has the tags %v", measurement, s, last.tags)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: points of %d series, and the log has %d", measurement, len(got), len(want))
		}
	}
}

// growing checks that totals never decrease.
func growing(t *testing.T, all map[series][]point) {
	t.Helper()
	for s, list := range all {
		for k := 1; k < len(list); k++ {
			for name, v := range list[k].fields {
				if v < list[k-1].fields[name] && !same(v, list[k-1].fields[name]) {
					t.Errorf("%v: %s falls from %v to %v", s, name, list[k-1].fields[name], v)
				}
			}
		}
	}
}

func TestInfluxAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	for name, line := range map[string][]string{
		"mixed": {"mixed", "--objects=20", "--rps-limit=200", "--duration=3s"},
		"get":   {"get", "--objects=40", "--epochs=10"},
		"put":   {"put", "--max-objects=300"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, teststore.MinIO, someFail)
			r := start(t, b.line(line[0], append(line[1:], "--json", "--influxdb="+influxURL(i, i.Addr, i.Token))...)...).want(3)
			r.nothingLost()
			r.silentAbout(i.Token)
			agree(t, r, i)
			all := points(t, i, "warp", r.client())
			growing(t, all)
			for s, list := range all {
				// One per second, and one at the end. A busy machine may delay one, and not the next one.
				n := len(list) - 1
				if n < 2 {
					continue
				}
				if span := time.Duration(list[n-1].at - list[0].at); span < time.Duration(n-2)*850*time.Millisecond {
					t.Errorf("%v: %d points within %v", s, n, span)
				}
			}
		})
	}
}

// The statements of a script are combined by operation.
func TestInfluxAgreesWithTheLogOfAScript(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.MinIO, someFail)
	line := slices.DeleteFunc(b.line("script", "--influxdb="+influxURL(i, i.Addr, i.Token)), func(arg string) bool {
		return strings.HasPrefix(arg, "--obj.size=") || strings.HasPrefix(arg, "--concurrent=")
	})
	r := start(t, append(line, `PUT 40 OBJECTS OF SIZE 3 KB; GET 40 OBJECTS AT RATE 100 PER SECOND WARMUP 200 MILLISECONDS; GET RUNTIME 1 SECOND MAX 2 CONCURRENT; DELETE`)...).want(3)
	r.nothingLost()
	r.silentAbout(i.Token)
	agree(t, r, i)
	growing(t, points(t, i, "warp", r.client()))
}

func TestInfluxEveryRequestAgreesWithTheLog(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.MinIO, someFail)
	r := start(t, b.line("mixed", "--objects=20", "--max-objects=100", "--influxdb-every-request", "--influxdb="+influxURL(i, i.Addr, i.Token))...).want(3)
	r.nothingLost()
	agree(t, r, i)
	all, want := points(t, i, "warp", r.client()), figuresOf(r.rows())
	growing(t, all)
	for s, list := range all {
		if s.endpoint == "" {
			continue
		}
		f := want[s]
		slices.Sort(f.ends)
		if len(list) != len(f.ends) {
			t.Errorf("%v: %d points of %d requests", s, len(list), len(f.ends))
			continue
		}
		for k, p := range list {
			// At the end of its request, or right after the previous point if two end at once or
			// one was recorded late.
			if p.fields["requests"] != float64(k+1) || p.at < f.ends[k] || p.at > f.ends[len(f.ends)-1]+int64(len(list)) {
				t.Fatalf("%v: point %d of %d is at %d with %v requests; its request ended at %d", s, k+1, len(list), p.at, p.fields["requests"], f.ends[k])
			}
		}
	}
}

// isWrite matches requests with points. The check before a run sends an empty line.
func isWrite(r *http.Request) bool { return r.URL.Path == "/api/v2/write" }

// InfluxDB accepts nothing until the load is over. If the load waited for it, neither would ever
// end.
func TestInfluxThatIsSlow(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	for name, flags := range map[string][]string{"cumulative": nil, "every request": {"--influxdb-every-request"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, teststore.Embedded, nil)
			g := newGate(t, i.Addr, isWrite)
			const objects = 400
			r := start(t, b.line("put", append(flags, "--max-objects=400", "--rps-limit=200", "--influxdb="+influxURL(i, g.Addr, i.Token))...)...)
			r.await("all uploads", func() bool { return b.uploads() >= objects })
			r.await("points, and not the check alone, at the gate", func() bool { return g.waiting() >= 2 })
			g.open()
			r.want(0)
			r.warns("InfluxDB at", "the run goes on")
			r.silentAbout(i.Token)
			if n := len(r.rows()); n != objects {
				t.Errorf("%d rows", n)
			}
			agree(t, r, i)
		})
	}
}

// Points that InfluxDB has not accepted are lost, but the next points contain the totals.
func TestInfluxThatComesBack(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	ill := teststore.NewProxy(t, i.Addr, &teststore.Fault{Match: isWrite, Status: http.StatusServiceUnavailable, Times: 3})
	b := newBed(t, teststore.Embedded, nil)
	half := newTurnstile(100)
	b.hosts[0].Inject(half.fault())
	r := start(t, b.line("put", "--max-objects=300", "--influxdb="+influxURL(i, ill.Endpoint, i.Token))...)
	half.await(t, r)
	r.await("points", func() bool { return len(points(t, i, "warp", "")) > 0 })
	half.open()
	r.want(0)
	r.warns("InfluxDB at", "the run goes on")
	// The check before the run is not one of them.
	r.reports("points did not reach InfluxDB", "injected by the test")
	if n := ill.Hits(); n != 3 {
		t.Errorf("%d writes failed", n)
	}
	agree(t, r, i)
}

// Without a log, perhaps for days.
func TestInfluxUnderStress(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.Embedded, nil)
	r := start(t, b.line("put", "--max-objects=300", "--stress", "--influxdb="+influxURL(i, i.Addr, i.Token))...).want(0)
	r.nothingLost()
	r.silentAbout(i.Token)
	for _, measurement := range []string{"warp", "warp_run_summary"} {
		list := points(t, i, measurement, "")[series{"PUT", ""}]
		if len(list) == 0 {
			t.Errorf("no %s", measurement)
			continue
		}
		// Some of the uploads may belong to the warm-up.
		n := list[len(list)-1].fields
		if n["requests"] != n["objects"] || n["requests"] > 300 || n["requests"] == 0 || measurement == "warp" && n["requests"] != 300 {
			t.Errorf("%s of 300 uploads: %v", measurement, list)
		}
	}
}

// A server that never accepts anything costs points, and some seconds at the end.
func TestInfluxThatHangs(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	g := newGate(t, i.Addr, isWrite)
	r := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--concurrent=2", "--max-objects=20000", "--influxdb-every-request",
		"--influxdb="+influxURL(i, g.Addr, i.Token)).want(0)
	r.reports("points did not reach InfluxDB")
	r.silentAbout(i.Token)
	rows := r.rows()
	if len(rows) != 20000 {
		t.Errorf("%d rows", len(rows))
	}
	last := time.Unix(0, slices.Max(figuresOf(rows)[series{"PUT", ""}].ends))
	// A write times out after 10 s. The queue must not take that long for each write.
	if took := r.ended.Sub(last); took > 45*time.Second {
		t.Errorf("ended %v after the last request", took)
	}
}

func TestInfluxThatDies(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.Embedded, nil)
	half := newTurnstile(100)
	b.hosts[0].Inject(half.fault())
	r := start(t, b.line("put", "--max-objects=400", "--influxdb="+influxURL(i, i.Addr, i.Token))...)
	half.await(t, r)
	r.await("points", func() bool { return len(points(t, i, "warp", "")) > 0 })
	i.Kill(0)
	half.open()
	r.want(0)
	r.reports("points did not reach InfluxDB", "refused")
	r.silentAbout(i.Token)
	if n := len(r.rows()); n != 400 {
		t.Errorf("%d rows", n)
	}
}

func TestInfluxThatIsDead(t *testing.T) {
	t.Parallel()
	i := &teststore.Receiver{Bucket: "b", Org: "o"}
	for _, more := range []string{"--json", "--influxdb-every-request"} {
		r := start(t, "put", "--host=embedded", "--obj.size=1KiB", "--max-objects=100", more, "--influxdb="+influxURL(i, teststore.FreeAddress(t), "a+token/of==")).want(0)
		r.warns("InfluxDB at", "refused", "the run goes on")
		if !strings.Contains(r.stdout(), "points did not reach InfluxDB") {
			t.Errorf("the report does not say what was lost: %s", r)
		}
		r.silentAbout("a+token/of==")
		if n := len(r.rows()); n != 100 {
			t.Errorf("%d rows", n)
		}
	}
}

// A configuration that cannot work is rejected before the first request.
func TestInfluxThatRefuses(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.Embedded, nil)
	for name, c := range map[string]struct{ token, bucket, org, says string }{
		"token":        {"another-token/of+the=test==", i.Bucket, i.Org, "unauthorized"},
		"bucket":       {i.Token, "another", i.Org, `bucket "another" not found`},
		"organisation": {i.Token, i.Bucket, "another", "organization name \"another\" not found"},
	} {
		t.Run(name, func(t *testing.T) {
			target := &teststore.Receiver{Bucket: c.bucket, Org: c.org}
			r := start(t, b.line("put", "--max-objects=10", "--debug", "--influxdb="+influxURL(target, i.Addr, c.token))...).want(1)
			r.fails("--influxdb", "InfluxDB refuses the points", c.says, "check the token, the bucket and the organisation")
			r.silentAbout(c.token)
			if n := b.uploads(); n != 0 {
				t.Errorf("%d uploads", n)
			}
		})
	}
}
