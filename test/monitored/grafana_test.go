package monitored

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// A dashboard contains the parts of a dashboard that the tests read.
type dashboard struct {
	ID            any
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct{ List []variable }
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               source
	Targets                  []target
	Options                  map[string]any
	FieldConfig              struct {
		Defaults struct{ Unit string }
	}
}

type target struct {
	RefID          string
	Expr, Query    string
	Format         string
	Instant, Range bool
	Datasource     source
}

type variable struct {
	Name, Type string
	Query      any // a string, or an object that contains one
	AllValue   string
	Multi      bool
	IncludeAll bool
	Datasource source
}

func (v *variable) query() string {
	if o, ok := v.Query.(map[string]any); ok {
		v.Query = o["query"]
	}
	text, _ := v.Query.(string)
	return text
}

func readDashboard(t *testing.T, name string) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../grafana/" + name)
	check.OK(t, err)
	check.OK(t, json.Unmarshal(text, &d))
	return d
}

// mentioned finds the variables in a text: $name, ${name} and ${name:format}.
var mentioned = regexp.MustCompile(`\$(?:\{(\w+)(?::\w+)?\}|(\w+))`)

// Dashboards follow Grafana's rules, and look as intended.
func TestDashboardsAreWellFormed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../grafana/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	uids := make(map[string]bool)
	for _, f := range files {
		d := readDashboard(t, filepath.Base(f))
		if d.ID != nil || d.UID == "" || len(d.UID) > 40 || uids[d.UID] || d.Title == "" || d.SchemaVersion < 36 {
			t.Errorf("%s: id %v, uid %q, title %q, schemaVersion %d", f, d.ID, d.UID, d.Title, d.SchemaVersion)
		}
		uids[d.UID] = true
		kind := checkVariables(t, &d)
		checkPlaces(t, &d)
		for _, p := range d.Panels {
			checkPanel(t, &d, &p, kind)
		}
	}
}

// checkVariables returns the type of the data source that the first variable selects.
func checkVariables(t *testing.T, d *dashboard) (kind string) {
	t.Helper()
	known := []string{"__rate_interval", "__range", "__all"}
	for i, v := range d.Templating.List {
		switch {
		case i == 0:
			kind = v.query()
			if v.Name != "datasource" || v.Type != "datasource" || kind == "" {
				t.Errorf("%s: the first variable is %+v, and not the data source", d.Title, v)
			}
		case v.Type != "query" || v.Datasource != (source{kind, "${datasource}"}) || v.Multi && (!v.IncludeAll || v.AllValue != ".*"):
			t.Errorf("%s: the variable %+v", d.Title, v)
		}
		for _, m := range mentioned.FindAllStringSubmatch(v.query(), -1) {
			if name := m[1] + m[2]; !slices.Contains(known, name) {
				t.Errorf("%s: the variable %s needs %s, which is not before it", d.Title, v.Name, name)
			}
		}
		if slices.Contains(known, v.Name) {
			t.Errorf("%s: two variables %s", d.Title, v.Name)
		}
		known = append(known, v.Name)
	}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for _, m := range mentioned.FindAllStringSubmatch(q.Expr+q.Query, -1) {
				if name := m[1] + m[2]; name != "" && !slices.Contains(known, name) {
					t.Errorf("%s: %s needs the variable %s, which there is not", d.Title, p.Title, name)
				}
			}
		}
	}
	return kind
}

// checkPlaces checks that panels are within the 24 columns and do not overlap.
func checkPlaces(t *testing.T, d *dashboard) {
	t.Helper()
	taken := make(map[[2]int]string)
	for _, p := range d.Panels {
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
			t.Errorf("%s: %s is at %+v", d.Title, p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s: %s is above %s", d.Title, p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func checkPanel(t *testing.T, d *dashboard, p *panel, kind string) {
	t.Helper()
	where := d.Title + ": " + p.Title
	if same := slices.IndexFunc(d.Panels, func(o panel) bool { return o.ID == p.ID }); p.ID < 1 || d.Panels[same].Title != p.Title {
		t.Errorf("%s: its id %d is that of %s", where, p.ID, d.Panels[same].Title)
	}
	if p.Type == "row" {
		return
	}
	if !slices.Contains([]string{"timeseries", "stat", "heatmap", "table"}, p.Type) || len(p.Options) == 0 {
		t.Errorf("%s: its type is %q with %d options", where, p.Type, len(p.Options))
	}
	if !slices.Contains([]string{"binBps", "reqps", "ops", "percentunit", "short", "s"}, p.FieldConfig.Defaults.Unit) {
		t.Errorf("%s: its unit is %q", where, p.FieldConfig.Defaults.Unit)
	}
	here, refs := source{kind, "${datasource}"}, map[string]bool{}
	if p.Datasource != here || len(p.Targets) == 0 {
		t.Errorf("%s: %d queries of %+v", where, len(p.Targets), p.Datasource)
	}
	for _, q := range p.Targets {
		if q.RefID == "" || refs[q.RefID] || q.Datasource != here || (q.Expr == "") == (q.Query == "") {
			t.Errorf("%s: the query %+v", where, q)
		}
		if kind == "prometheus" && q.Instant == q.Range {
			t.Errorf("%s: the query is neither instant nor a range, or both", where)
		}
		refs[q.RefID] = true
	}
}

// filled replaces variables as Grafana does, with everything selected.
func filled(query string, values map[string]string) string {
	return mentioned.ReplaceAllStringFunc(query, func(m string) string {
		parts := mentioned.FindStringSubmatch(m)
		if v, ok := values[parts[1]+parts[2]]; ok {
			return v
		}
		return m
	})
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// Every query of the dashboard returns something after a run in which everything happened.
func TestPrometheusDashboard(t *testing.T) {
	t.Parallel()
	addr := teststore.FreeAddress(t)
	p := scraping(t, addr, teststore.FreeAddress(t))
	b := newBed(t, teststore.MinIO, someFail)
	r := start(t, b.line("mixed", "--objects=20", "--forever", "--rps-limit=300", "--metrics="+addr)...)
	// Rates need several scrapes, before and after the first events of each kind.
	r.await("fetches", func() bool {
		all := promQL(t, p, "query", url.Values{"query": {`min(count_over_time(warp_request_duration_seconds_count{op=~"GET|PUT|DELETE|STAT"}[1h])) and count(warp_request_errors_total) > 2`}})
		return len(all) == 1 && all[0].value() >= 8
	})
	stop(r)
	r.want(130)
	d := readDashboard(t, "warp-prometheus.json")
	values := map[string]string{"__rate_interval": "1s", "__range": "1h", "benchmark": ".*", "op": ".*", "host": ".*", "client": ".*"}
	for _, v := range d.Templating.List[1:] {
		m := labelValues.FindStringSubmatch(filled(v.query(), values))
		if m == nil {
			t.Errorf("%s: %q is no label_values(…)", v.Name, v.query())
			continue
		}
		text, err := p.Get(t.Context(), "/api/v1/label/"+m[2]+"/values?"+url.Values{"match[]": {m[1]}}.Encode())
		if err != nil || !strings.Contains(text, `"data":["`) {
			t.Errorf("the variable %s has no values: %s, %v", v.Name, text, err)
		}
	}
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			query := filled(q.Expr, values)
			if !hasValue(promQL(t, p, q.path(), q.span(r, query))) {
				t.Errorf("%s: nothing is found by\n%s", panel.Title, query)
			}
		}
	}
	for query := range strings.Lines(documented(t, "```promql\n", "```")) {
		q := target{Range: true}
		if !hasValue(promQL(t, p, q.path(), q.span(r, query))) {
			t.Errorf("the documentation: nothing is found by\n%s", query)
		}
	}
	// A selection has an effect.
	values["op"] = "NOSUCH"
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			query := filled(q.Expr, values)
			if all := promQL(t, p, q.path(), q.span(r, query)); hasValue(all) {
				t.Errorf("%s: something is found of an operation that there is not, by\n%s", panel.Title, query)
			}
		}
	}
}

func (q *target) path() string {
	if q.Instant {
		return "query"
	}
	return "query_range"
}

// span is the time of a run.
func (q *target) span(r *run, query string) url.Values {
	if q.Instant {
		return url.Values{"query": {query}}
	}
	return url.Values{"query": {query}, "step": {"0.25"}, "start": {fmt.Sprintf("%d", r.began.Unix())}, "end": {fmt.Sprintf("%d", r.ended.Unix()+1)}}
}

// hasValue reports whether any value is a number.
func hasValue(all []sample) bool {
	for _, s := range all {
		if text, ok := s.Value[1].(string); ok && text != "NaN" {
			return true
		}
		for _, v := range s.Values {
			if text, ok := v[1].(string); ok && text != "NaN" {
				return true
			}
		}
	}
	return false
}

func TestInfluxDashboard(t *testing.T) {
	t.Parallel()
	i := teststore.StartReceiver(t, teststore.Influxd, teststore.ReceiverOptions{})
	b := newBed(t, teststore.MinIO, someFail)
	r := start(t, b.line("mixed", "--objects=20", "--forever", "--rps-limit=300", "--influxdb="+influxURL(i, i.Addr, i.Token))...)
	r.await("points", func() bool {
		all := points(t, i, "warp", "")
		for _, op := range []string{"GET", "PUT", "DELETE", "STAT"} {
			if len(all[series{op, ""}]) < 4 {
				return false
			}
		}
		return true
	})
	stop(r)
	r.want(130)
	d := readDashboard(t, "warp-influxdb.json")
	values := map[string]string{"bucket": i.Bucket, "op": ".*", "host": ".*", "client": ".*"}
	// The definitions that Grafana puts before each query.
	period := fmt.Sprintf("option v = {timeRangeStart: %s, timeRangeStop: %s, windowPeriod: 1s}\n",
		r.began.UTC().Format(time.RFC3339Nano), r.ended.UTC().Add(time.Second).Format(time.RFC3339Nano))
	ask := func(query string) (rows []map[string]string) {
		// Imports have to come first.
		imports := ""
		if strings.HasPrefix(query, "import") {
			imports, query, _ = strings.Cut(query, "\n")
		}
		text, err := i.Flux(t.Context(), imports+"\n"+period+filled(query, values))
		if err != nil {
			t.Errorf("%v by\n%s", err, query)
			return nil
		}
		return tables(t, text)
	}
	for _, v := range d.Templating.List[1:] {
		if rows := ask(v.query()); len(rows) == 0 || rows[0]["_value"] == "" {
			t.Errorf("the variable %s has no values: %v", v.Name, rows)
		}
	}
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			rows := ask(q.Query)
			if len(rows) == 0 || panel.Type != "table" && rows[0]["_value"] == "" {
				t.Errorf("%s: nothing is found by\n%s\n%v", panel.Title, filled(q.Query, values), rows)
			}
		}
	}
	checkDocumentedFlux(t, i, r)
	values["op"] = "NOSUCH"
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			if rows := ask(q.Query); len(rows) != 0 {
				t.Errorf("%s: something is found of an operation that there is not, by\n%s", panel.Title, filled(q.Query, values))
			}
		}
	}
}

// checkDocumentedFlux runs the queries of the documentation.
func checkDocumentedFlux(t *testing.T, i *teststore.Receiver, r *run) {
	t.Helper()
	ask := func(begin string) []map[string]string {
		query := strings.ReplaceAll(documented(t, "```flux\n"+begin, "```"), "mybucket", i.Bucket)
		text, err := i.Flux(t.Context(), strings.ReplaceAll(begin, "mybucket", i.Bucket)+query)
		check.OK(t, err)
		return tables(t, text)
	}
	const begin = "from(bucket: \"mybucket\")\n  |> range(start: -1h)\n  |> filter(fn: (r) => r._measurement == "
	if rows := ask(begin + `"warp" `); len(rows) == 0 {
		t.Error("the documented rate finds nothing")
	}
	want := figuresOf(r.summarized())
	for _, row := range ask(begin + `"warp_run_summary" `) {
		if n := fmt.Sprint(want[series{row["op"], ""}].requests); row["requests"] != n || row["warp_id"] != r.client() {
			t.Errorf("the documented summary says %v; the log has %s requests", row, n)
		}
	}
}
