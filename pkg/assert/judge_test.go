package assert

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// row returns one request, at so many ms since the start.
func row(op string, at, took float64) oplog.Record {
	return oplog.Record{Op: op, Run: "r", Client: "c", Endpoint: "http://h:1", Key: "k", Objects: 1, Bytes: 1 << 20, Status: 200,
		Start: testlog.Epoch + int64(at*1e6), Duration: time.Duration(took * 1e6), FirstByte: time.Duration(took * 5e5)}
}

// steadyRows returns consecutive GETs for so many seconds, 100 per second. took returns the
// duration of each in ms, given its second.
func steadyRows(seconds int, took func(second int) float64) (rows []oplog.Record) {
	for i := range seconds * 100 {
		ms := took(i / 100)
		if i%10 == 9 {
			ms *= 1.5
		}
		r := row("GET", float64(i*10), ms)
		r.Thread = uint32(i % 50)
		rows = append(rows, r)
	}
	return rows
}

// everyNthFails makes every n-th request an error.
func everyNthFails(rows []oplog.Record, n int) []oplog.Record {
	for i := range rows {
		if i%n == n-1 {
			rows[i].Err, rows[i].Status, rows[i].Bytes = "SlowDown", 503, 0
		}
	}
	return rows
}

// reportOf returns the report of a run that begins with its first row.
func reportOf(t *testing.T, rows []oplog.Record, seconds int, assertions ...string) (*results.Report, []*Assertion) {
	t.Helper()
	return reportWithin(t, rows, time.Duration(seconds)*time.Second, assertions...)
}

func reportWithin(t *testing.T, rows []oplog.Record, window time.Duration, assertions ...string) (*results.Report, []*Assertion) {
	t.Helper()
	var all []*Assertion
	for _, text := range assertions {
		a, err := Parse(text, known())
		check.OK(t, err)
		all = append(all, a)
	}
	s := aggregate.NewSummary(aggregate.Options{Slices: Slices(all)})
	w := oplog.Window{Start: testlog.Epoch, Begin: testlog.Epoch, End: testlog.Epoch + int64(window)}
	check.OK(t, s.SetWindow(w))
	for i := range rows {
		s.Add(&rows[i])
	}
	s.Close(oplog.Trailer{Window: &w, End: "completed"})
	r, err := s.Report()
	check.OK(t, err)
	return r, all
}

func even(int) float64 { return 8 }

func TestJudge(t *testing.T) {
	t.Parallel()
	stall := func(second int) float64 {
		if second == 7 || second == 8 {
			return 300
		}
		return 8
	}
	long, few := steadyRows(60, even), steadyRows(2, even)
	slow := steadyRows(60, stall)
	broken := everyNthFails(steadyRows(60, even), 50)
	mixed := append(steadyRows(30, even), row("STAT", 5, 1))
	for i := range mixed {
		if mixed[i].Op == "STAT" {
			mixed[i].Bytes = 0
		}
	}
	// Every second one waited 1 ms for warp, or all; how long others did is unknown.
	half, stamped := steadyRows(60, even), steadyRows(60, even)
	for i := range stamped {
		stamped[i].ClientTime = time.Millisecond
		if i%2 == 0 || i < len(half)/2 {
			half[i].ClientTime = time.Millisecond
		}
	}
	for _, c := range []struct {
		rows      []oplog.Record
		seconds   int
		assertion string
		strict    bool
		want      string // start of the sentence
	}{
		{long, 60, "GET.p99<50ms", false, "GET.p99<50ms holds: measured 12 ms (12 to 12 ms within this run)"},
		{long, 60, "GET.p99<50ms", true, "GET.p99<50ms holds"},
		{long, 60, "p50<5ms", false, "p50<5ms failed: measured 8"},
		{long, 60, "GET.mean<=8.5ms", false, "GET.mean<=8.5ms holds: measured 8.4 ms"},
		{long, 60, "GET.max<12ms", false, "GET.max<12ms failed: measured 12 ms"},
		{long, 60, "GET.max<13ms", true, "GET.max<13ms is inconclusive: measured 12 ms; --assert-strict needs an interval, and an extreme has none"},
		{long, 60, "GET.min>=8ms", false, "GET.min>=8ms holds"},
		{long, 60, "GET.ttfb<5ms", false, "GET.ttfb<5ms holds: measured 4.2 ms"},
		{long, 60, "throughput>=90MiB/s", false, "throughput>=90MiB/s holds: measured 100 MiB/s"},
		{long, 60, "GET.throughput>1GiB/s", false, "GET.throughput>1GiB/s failed: measured 0.0976"},
		{long, 60, "objs>=99obj/s", false, "objs>=99obj/s holds: measured 100 obj/s"},
		{long, 60, "errors<0.1%", false, "errors<0.1% holds: measured 0%"},
		{broken, 60, "errors<0.1%", false, "errors<0.1% failed: measured 2%"},
		{broken, 60, "GET.errors<=2%", false, "GET.errors<=2% holds: measured 2%"},
		{long, 60, "PUT.p99<50ms", false, "PUT.p99<50ms failed: there is no data: the run has no PUT, only GET"},
		{long, 60, "response.p99<50ms", false, "response.p99<50ms failed: there is no data"},
		{stamped, 60, "GET.wire.p99<11.5ms", false, "GET.wire.p99<11.5ms holds: measured 10.98 ms"},
		{stamped, 60, "every 5s GET.wire.p90<11.5ms", false, "every 5s GET.wire.p90<11.5ms holds: 12 of 12"},
		{half, 60, "GET.wire.p99<50ms", false, "GET.wire.p99<50ms is inconclusive: the time on the wire is unknown"},
		{half, 60, "every 5s GET.wire.p90<50ms", false, "every 5s GET.wire.p90<50ms is inconclusive: the time on the wire is unknown"},
		{long, 60, "GET.wire.p99<50ms", false, "GET.wire.p99<50ms is inconclusive: the time on the wire is unknown"},
		{few, 2, "GET.p99<50ms", false, "GET.p99<50ms is inconclusive: measured 12 ms"},
		{few, 2, "GET.p99<50ms", false, "GET.p99<50ms is inconclusive"},
		{few, 2, "GET.p50<50ms", false, "GET.p50<50ms holds"},
		{long, 60, "GET.p99.99<50ms", false, "GET.p99.99<50ms is inconclusive: measured 12 ms (12 to 12 ms within this run); 6000 requests are too few for p99.99, which needs 29956"},
		{slow, 60, "every 5s GET.p90<80ms in 90%", false, "every 5s GET.p90<80ms in 90% holds: 11 of 12 pieces hold (91.67%)"},
		{slow, 60, "every 5s GET.p90<80ms in 95%", false, "every 5s GET.p90<80ms in 95% failed: 11 of 12 pieces hold (91.67%); the worst, from 03:04:10 UTC on, has"},
		{slow, 60, "every 5s p90<80ms", false, "every 5s p90<80ms failed"},
		{long, 60, "every 2s p99<80ms", false, "every 2s p99<80ms is inconclusive: 0 of 30 pieces hold (0%); 30 of the 30 pieces have too few requests for p99, which needs 299 in each"},
		{long, 60, "every 2s errors<1%", true, "every 2s errors<1% holds: 30 of 30 pieces hold (100%)"},
		{long, 60, "every 3m errors<1%", false, "every 3m errors<1% failed: there is no data: the window is shorter than half of 3m0s"},
		{long, 60, "every 2m errors<1%", false, "every 2m errors<1% holds: 1 of 1 pieces hold (100%)"},
		{mixed, 30, "STAT.p50<5ms", false, "STAT.p50<5ms is inconclusive"},
		{mixed, 30, "STAT.throughput>1MB/s", false, "STAT.throughput>1MB/s failed: there is no data: no payload was moved; use objs"},
	} {
		r, all := reportOf(t, c.rows, c.seconds, c.assertion)
		got := Judge(all, r, c.strict)
		if len(got) != 1 || !strings.HasPrefix(got[0].Sentence, c.want) {
			t.Errorf("%s (strict %v):\n%+v\nwant %s", c.assertion, c.strict, got, c.want)
		}
	}
}

// TestEndOfTheWindow has a store that dies before the end of a window that ends
// between two pieces. A rest of half a piece is a piece of its own, a shorter one
// belongs to the last full piece.
func TestEndOfTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alive, window float64 // s
		assertion     string
		want          string
	}{
		{14, 14.98, "every 1s GET.throughput>90MiB/s", " failed: 14 of 15 pieces hold"},
		{14.9, 14.98, "every 1s GET.throughput>90MiB/s", " holds: 15 of 15 pieces hold"},
		{13, 14.3, "every 1s GET.throughput>90MiB/s", " failed: 13 of 14 pieces hold"},
		{15, 19.9, "every 5s GET.throughput>50MiB/s", " failed: 3 of 4 pieces hold"},
		{15, 17.4, "every 5s GET.throughput>80MiB/s", " failed: 2 of 3 pieces hold"},
		{2.6, 2.6, "every 5s GET.throughput>50MiB/s", " holds: 1 of 1 pieces hold"},
		{2.4, 2.4, "every 5s GET.throughput>50MiB/s", " failed: there is no data: the window is shorter than half of 5s"},
	} {
		rows := slices.DeleteFunc(steadyRows(20, even), func(r oplog.Record) bool { return float64(r.Start-testlog.Epoch) >= c.alive*1e9 })
		r, all := reportWithin(t, rows, time.Duration(c.window*1e9), c.assertion)
		if got := Judge(all, r, false)[0].Sentence; !strings.HasPrefix(got, c.assertion+c.want) {
			t.Errorf("alive for %g s of %g s: %s, want%s", c.alive, c.window, got, c.want)
		}
	}
}

// If the client may have been the limit, assertions about speed are inconclusive unless they hold, which a faster client does not
// change.
func TestJudgeLimitedClient(t *testing.T) {
	t.Parallel()
	r, all := reportOf(t, steadyRows(60, even), 60, "p99<1ms", "throughput>1GiB/s", "p50>1ms", "every 10s p50<1ms", "every 10s p50>1ms",
		"p99<50ms", "throughput>1MiB/s", "every 10s p50<50ms", "errors<1%")
	r.Warnings = append(r.Warnings, "these numbers are the client's, not the store's: warp used 99 % of the available CPU time")
	for i, a := range Judge(all, r, false) {
		if want := map[bool]string{true: results.Passed, false: results.Inconclusive}[i >= 5]; a.Result != want {
			t.Errorf("%s, want %s", a.Sentence, want)
		}
	}
}

// If the interval contains the limit, the measured value decides, unless the whole interval is
// required.
func TestJudgeStrictly(t *testing.T) {
	t.Parallel()
	rows := steadyRows(60, func(second int) float64 { return 8 + 4*math.Sin(float64(second)) })
	r, all := reportOf(t, rows, 60, "GET.mean<8.6ms")
	plain, strict := Judge(all, r, false)[0], Judge(all, r, true)[0]
	if plain.Result != results.Passed || strict.Result != results.Inconclusive || *plain.Low >= 8.6 || *plain.High <= 8.6 {
		t.Errorf("%s\n%s", plain.Sentence, strict.Sentence)
	}
}

// The measured value equals the one in the report.
func TestReportsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	var assertions []string
	for _, m := range results.Metrics() {
		unit := map[results.Unit]string{results.BytesPerSecond: "B/s", results.ObjectsPerSecond: "obj/s", results.Milliseconds: "ms", results.Share: "%"}[m.Unit]
		if !strings.HasPrefix(m.Name, "response") {
			assertions = append(assertions, m.Name+">0"+unit)
		}
	}
	rows := everyNthFails(steadyRows(40, func(s int) float64 { return 5 + float64(s) }), 7)
	for i := range rows {
		rows[i].ClientTime = rows[i].Duration / 3
	}
	r, all := reportOf(t, rows, 40, assertions...)
	total, _ := r.Total()
	for i, a := range Judge(all, r, false) {
		m, ok := results.FindMetric(all[i].Metric.String())
		want, known := m.Of(&total)
		if m.Unit == results.Share {
			want *= 100
		}
		if !ok || !known || a.Measured == nil || math.Abs(*a.Measured-want) > 1e-9*want {
			t.Errorf("%s: measured %v, and the report has %v", a.Assertion, *a.Measured, want)
		}
		if a.Low != nil && (*a.Low > *a.Measured || *a.High < *a.Measured) {
			t.Errorf("%s: measured %v, outside of %v to %v", a.Assertion, *a.Measured, *a.Low, *a.High)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	slow := func(int) float64 { return 20 }
	for assertion, want := range map[string]bool{
		"max<10ms": true, "max<50ms": false, "min>30ms": true, "p99<10ms": true, "p99<50ms": false, "p50>50ms": false, "mean<1ms": true, "mean<15ms": false,
		"throughput>=1GiB/s": true, "throughput>=150MiB/s": true, "throughput>=60MiB/s": false, "objs>=1000obj/s": true, "errors<1%": true, "errors<60%": false,
		"every 2s p50<10ms in 95%": true, "every 2s p50<10ms in 10%": false, "every 2s p50<50ms": false,
	} {
		r, all := reportOf(t, everyNthFails(steadyRows(20, slow), 2), 20, assertion)
		if why := Unreachable(all[0], r, 40*time.Second); (why != "") != want {
			t.Errorf("%s: %q", assertion, why)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	result := func(text, outcome string) results.Assertion {
		return results.Assertion{Assertion: text, Result: outcome, Sentence: text + " " + outcome}
	}
	first := []results.Assertion{result("a", results.Failed), result("b", results.Failed), result("c", results.Passed), result("d", results.Passed)}
	second := []results.Assertion{result("a", results.Passed), result("b", results.Failed), result("c", results.Passed), result("d", results.Failed)}
	want := []string{results.Flaky, results.Failed, results.Passed, results.Flaky}
	for i, a := range Confirm(first, second) {
		if a.Result != want[i] || a.First == nil {
			t.Errorf("%+v, want %s", a, want[i])
		}
	}
}

func TestTrackers(t *testing.T) {
	t.Parallel()
	r, all := reportOf(t, steadyRows(60, even), 60, "GET.p99<0.05s", "throughput>1GB/s", "every 10s p50<50ms in 90%")
	judged := Judge(all, r, false)
	var b strings.Builder
	var bencher map[string]map[string]map[string]float64
	check.OK(t, Bencher(&b, "get", r, judged))
	if err := json.Unmarshal([]byte(b.String()), &bencher); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	if p99 := bencher["warp get GET"]["p99 (ms)"]; math.Abs(p99["value"]-12) > .05 || p99["lower_value"] > p99["value"] || p99["upper_value"] < p99["value"] {
		t.Error(b.String())
	}
	if v := bencher["warp get"]["throughput (MiB/s)"]["value"]; math.Abs(v-100) > 1 {
		t.Error(b.String())
	}
	names := map[bool][]string{}
	for _, smaller := range []bool{true, false} {
		b.Reset()
		check.OK(t, GitHubAction(&b, "get", r, judged, smaller))
		var entries []struct {
			Name, Unit string
			Value      *float64
		}
		check.OK(t, json.Unmarshal([]byte(b.String()), &entries))
		for _, e := range entries {
			if e.Unit == "" || e.Value == nil {
				t.Errorf("%+v", e)
			}
			names[smaller] = append(names[smaller], e.Name)
		}
	}
	if got := strings.Join(names[false], ", "); got != "warp get throughput, warp get every 10s p50<50ms in 90%, warp get GET throughput, warp get GET objs" {
		t.Errorf("of these more is better: %s", got)
	}
	if got := strings.Join(names[true], ", "); got != "warp get GET p99, warp get GET p50, warp get GET errors" {
		t.Errorf("of these less is better: %s", got)
	}
}
