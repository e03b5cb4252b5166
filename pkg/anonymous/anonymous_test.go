package anonymous

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/hostload"
	"warp/pkg/report"
	"warp/pkg/report/page"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// secrets are the names in the report of named, one for each place.
func secrets() []string {
	return []string{"store17", "corp.example", "10.20.30.40", "9123", "customer-data", "alice", "eve-laptop", "invoices", "4711.pdf", "vault-key", "disk pulled by bob", "carol",
		"dave.csv", "agent-rack3", "2001:db8::17", "runRU1N", "AKIASECRETKEY00000", "eth7", "deadbeefmachine", "eu-secret-1", "tenant9", "C0FFEE0123456789ABCDEF", "minnie", "runOLD7", "\\\\share", "rackmouse", "zebra9", "%C3%A4ndern", "r&d"}
}

func named() *results.Report {
	const endpoint = "https://store17.corp.example:9123"
	failure := `PutObject "customer-data/invoices/4711.pdf" on store17: dial tcp 10.20.30.40:9123 from [2001:db8::17]:5: see /home/alice/log and C:\Users\eve-laptop\x, request id C0FFEE0123456789ABCDEF, bucket customer-data.`
	first := []results.FirstError{{Code: "NoSuchKey: customer-data", Error: failure, Endpoint: endpoint}}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	return &results.Report{
		Version: 2, Benchmark: "get", Engine: "lean", Warp: "1.0", Runs: []string{"runRU1N"}, End: "aborted", EndReason: failure,
		Command: "/home/alice/bin/warp get --host=store17.corp.example:9123 --bucket customer-data --prefix=tenant9 --access-key AKIASECRETKEY00000 --secret-key=*** " +
			"--credentials-file=/home/alice/vault-key --region=eu-secret-1 --warp-client=agent-rack3:7761 --obj.size=1MiB --benchdata 'dave.csv' --concurrent 8",
		Parameters: map[string]string{"host": "store17.corp.example:9123,10.20.30.40:9123", "bucket": "customer-data", "prefix": "tenant9", "credentials-file": "/home/alice/vault-key",
			"region": "eu-secret-1", "warp-client": "agent-rack3:7761", "obj.size": "1MiB", "concurrent": "8", "tls": "true", "pick": "zipf", "add-metadata": "owner=carol", "filelist": `\\share\carol`},
		Statements: []string{"PUT customer-data invoices 8 WORKERS"},
		Warnings: []string{"GET: " + endpoint + " was slow.", "The log /home/alice/dave.csv is cut off.", "agent-rack3 was lost.", failure,
			`the command of the mark "disk pulled by bob" failed after 12ms with exit code 255: ssh: connect to host rackmouse port 22: No route to host`,
			`the mark "host \"zebra9\" restarted" was not set, since the run was over before 5m`,
			"no marker after invoices%2F4711.pdf in prefix%3Dtenant9%26x", "STORE17 refused Customer-Data", "no key %C3%BCser%20files%2F%C3%A4ndern%20r%26d.txt, and none &#34;user r&amp;d&#34;"},
		ClientLoad: &hostload.Load{Machine: "deadbeefmachine", Link: "eth7", CPUs: "3"},
		Client:     &results.ClientVerdict{Verdict: "store", Sentence: "of agent-rack3:7761", Clients: []string{"agent-rack3:7761"}, Reasons: []string{"process of alice"}},
		Consistency: &results.Consistency{Properties: []results.ConsistencyProperty{{Property: "create", Verdict: results.ConsistencyViolated, Shown: []results.Violation{{
			Rule: "two requests created the object", Key: "invoices/4711.pdf", AfterMark: "disk pulled by bob",
			History: []results.HistoryEvent{{Start: at, End: at, Client: "agent-rack3:7761", Host: endpoint, Op: "PUT", Key: "invoices/4711.pdf", Outcome: "won", Error: failure}},
		}}}}},
		Replay:     &results.Replay{Log: "minnie.csv.zst", Run: "runOLD7"},
		Marks:      []results.MarkReport{{At: at, Text: "disk pulled by bob"}},
		Assertions: []results.Assertion{{Assertion: "GET.p99<5ms", Subject: "GET.p99", Result: "passed", Sentence: "GET.p99<5ms holds for store17"}},
		Groups:     []results.GroupReport{{Run: "runRU1N", Kind: results.KindMeasured, Operations: []string{"GET"}, WindowStart: at, WindowEnd: at.Add(time.Minute), WindowS: 60}},
		Operations: []results.Operation{{
			Op: "GET", Requests: 10, Errors: 1, Inside: 9, ErrorsByCode: map[string]uint64{"NoSuchKey: customer-data": 1}, FirstErrors: first,
			WindowStart: at, WindowEnd: at.Add(time.Minute), WindowS: 60, Duration: &results.Stats{Count: 9, P50: 12.5, P99: 17.25},
			WarmUp:   results.Outside{FirstErrors: first},
			Hosts:    []results.Part{{Name: endpoint}, {Name: "http://10.20.30.40:9123"}},
			ByClient: []results.Part{{Name: "agent-rack3:7761", Run: "runRU1N"}},
			Slowest: []results.SlowRequest{{Key: "invoices/4711.pdf", Host: endpoint, Client: "agent-rack3:7761", Run: "runRU1N", Error: "NoSuchKey: customer-data"},
				{Key: "üser files/ändern r&d.txt", Host: endpoint}, {Key: "user r&d", Host: endpoint}},
		}},
	}
}

// No name of a run is in its anonymous report: not in the text, the JSON, or the page with all that is embedded.
func TestNoNameStays(t *testing.T) {
	t.Parallel()
	r := named()
	var before bytes.Buffer
	check.OK(t, printer.JSON(&before, r))
	for _, s := range secrets() {
		if !strings.Contains(before.String(), strings.ReplaceAll(s, `\`, `\\`)) {
			t.Errorf("the report has no %s, so nothing is tested", s)
		}
	}
	New(nil).Report(r)
	shown := map[string]string{}
	var b bytes.Buffer
	for name, write := range map[string]func() error{
		"text":    func() error { return report.Text(&b, r, printer.Options{Verbose: true}) },
		"compact": func() error { return report.Compact(&b, r, printer.Options{Width: 100}, "") },
		"JSON":    func() error { return printer.JSON(&b, r) },
		"page":    func() error { return page.Report(r, page.Options{}).Write(&b) },
		"data": func() error {
			text, err := json.Marshal(page.Report(r, page.Options{}).Data())
			b.Write(text)
			return err
		},
	} {
		b.Reset()
		check.OK(t, write())
		shown[name] = b.String()
	}
	for name, text := range shown {
		for _, s := range secrets() {
			if i := strings.Index(strings.ToLower(text), strings.ToLower(s)); i >= 0 {
				t.Errorf("the %s has %s: …%s…", name, s, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
	for _, want := range []string{"host-1", "bucket-1", "object-1", "client-1", "mark 1", "12.5", "--obj.size=1MiB", "--concurrent 8", "PUT … … 8 WORKERS", `"get"`, `"zipf"`} {
		if !strings.Contains(shown["JSON"], want) {
			t.Errorf("the JSON has no %s: %s", want, shown["JSON"])
		}
	}
}

// The same host has the same name everywhere, in all reports.
func TestNamesAreTheSameInAllReports(t *testing.T) {
	t.Parallel()
	n := New(nil)
	a, b := named(), named()
	b.Operations[0].Hosts = b.Operations[0].Hosts[1:]
	n.Report(a)
	n.Report(b)
	if one, two := a.Operations[0].Hosts[1].Name, b.Operations[0].Hosts[0].Name; one != two || !strings.HasPrefix(one, "http://host-") {
		t.Errorf("%s and %s", one, two)
	}
	if host := strings.TrimPrefix(a.Operations[0].Hosts[0].Name, "https://"); !strings.Contains(a.Warnings[0], host) || !strings.Contains(a.Command, "--host="+host) {
		t.Errorf("%s is not in %q and %q", host, a.Warnings[0], a.Command)
	}
}

// Figures and words of warp stay.
func TestTextKeepsFigures(t *testing.T) {
	t.Parallel()
	n := New(nil)
	for _, text := range []string{"GET: 2 requests were in flight when the window began, and the longest took 5.17ms.", "p99.9 was 1.5 times the median, 0.5 MiB/s at 12:30:45.", "GET.p99<50ms holds: 12.5ms"} {
		if got := n.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"see http://x/y", "dial tcp 1.2.3.4:80", "[::1]:9000", "at /etc/passwd", "a.b.example", "me@x.org", "node7:9000"} {
		if got := n.Text(text); !strings.Contains(got, "(") {
			t.Errorf("%q stayed %q", text, got)
		}
	}
}
