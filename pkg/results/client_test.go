package results

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"warp/pkg/hostload"
)

func sameStats(ms float64) *Stats {
	return &Stats{Count: 5000, Mean: ms, P50: ms, P90: ms, P99: ms, P999: ms, Max: ms}
}

// The verdict names the figures that are this machine's.
func TestClientVerdict(t *testing.T) {
	t.Parallel()
	share := func(x float64) *float64 { return &x }
	tail := &Stats{Count: 5000, Mean: 2, P50: 2, P90: 2, P99: 25, P999: 40, Max: 50}
	slow := &Stats{Count: 5000, Mean: 10, P50: 2, P90: 2, P99: 300, P999: 400, Max: 500}
	rare := &Stats{Count: 5000, Mean: 11, P50: 3, P90: 4, P99: 303, P999: 405, Max: 505}
	note := "this machine may have been the limit: warp used 95 % of the CPU"
	for name, test := range map[string]struct {
		engine   string
		ops      []Operation
		load     hostload.Load
		verdict  string
		sentence string
		warnings int
	}{
		"the store's":       {ops: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(1.95), ClientShare: share(.05)}}, verdict: StoresFigures, sentence: "The figures are the store's."},
		"50 µs are nothing": {ops: []Operation{{Op: "GET", Duration: sameStats(.1), Wire: sameStats(.051)}}, verdict: StoresFigures, sentence: "The figures are the store's."},
		"tail": {ops: []Operation{{Op: "GET", Duration: tail, Wire: sameStats(2), ClientShare: share(.05)}}, verdict: SomeFigures,
			sentence: "p50, p90 and throughput are the store's; p99 and above are this machine's."},
		"tail of one operation": {ops: []Operation{{Op: "GET", Duration: tail, Wire: sameStats(2)}, {Op: "PUT", Duration: sameStats(2), Wire: sameStats(2)}}, verdict: SomeFigures,
			sentence: "p50, p90 and throughput are the store's; GET p99 and above are this machine's."},
		"slow store behind a busy client": {ops: []Operation{{Op: "GET", Duration: rare, Wire: slow, ClientShare: share(.05)}}, verdict: SomeFigures,
			sentence: "p99, p99.9 and throughput are the store's; p50 and p90 are this machine's."},
		"slow store, client the limit": {ops: []Operation{{Op: "GET", Duration: rare, Wire: slow, ClientShare: share(.3)}}, verdict: ClientLimited,
			sentence: "This machine was the limit, by at most 43 %; p99 and p99.9 are the store's."},
		"one figure in the middle": {ops: []Operation{{Op: "GET", Duration: &Stats{Count: 500, P50: 2, P90: 3, P99: 300, P999: 400}, Wire: &Stats{Count: 500, P50: 2, P90: 2, P99: 299, P999: 300}, ClientShare: share(.05)}}, verdict: SomeFigures,
			sentence: "p50, p99 and throughput are the store's; p90 is this machine's."},
		"too few for p99": {ops: []Operation{{Op: "GET", Duration: &Stats{Count: 50, P50: 2, P90: 9, P99: 300, P999: 400}, Wire: &Stats{Count: 50, P50: 2, P90: 2, P99: 2, P999: 2}, ClientShare: share(.05)}}, verdict: SomeFigures,
			sentence: "p50 and throughput are the store's; p90 and above are this machine's."},
		"throughput": {ops: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(1.9), ClientShare: share(.2)}}, verdict: SomeFigures,
			sentence: "p50, p90 and p99 are the store's; throughput (by at most 25 %) is this machine's."},
		"throughput and one figure": {ops: []Operation{{Op: "GET", Duration: &Stats{Count: 500, P50: 2, P90: 3, P99: 300, P999: 400}, Wire: &Stats{Count: 500, P50: 2, P90: 2, P99: 299, P999: 300}, ClientShare: share(.2)}}, verdict: SomeFigures,
			sentence: "p50 and p99 are the store's; throughput (by at most 25 %) and p90 are this machine's."},
		"throughput and the tail": {ops: []Operation{{Op: "GET", Duration: tail, Wire: sameStats(2), ClientShare: share(.2)}}, verdict: SomeFigures,
			sentence: "p50 and p90 are the store's; throughput (by at most 25 %), p99 and above are this machine's."},
		"late, and two of three operations": {ops: []Operation{{Op: "GET", Duration: tail, Wire: sameStats(2)}, {Op: "PUT", Duration: rare, Wire: slow}, {Op: "STAT", Duration: sameStats(2), Wire: sameStats(2)}}, load: hostload.Load{PacingLagS: .01}, verdict: SomeFigures,
			sentence: "The delay behind the schedule, GET p99 and above, and PUT p50 and p90 are this machine's."},
		"stages of one operation": {ops: []Operation{{Op: "GET", Statement: 1, Duration: tail, Wire: sameStats(2)}, {Op: "GET", Statement: 2, Duration: sameStats(2), Wire: sameStats(2)},
			{Op: "GET", Statement: 3, Duration: tail, Wire: sameStats(2)}, {Op: "PUT", Statement: 3, Duration: rare, Wire: slow}}, verdict: SomeFigures,
			sentence: "Throughput is the store's; GET p99 and above, and PUT p50 and p90 are this machine's."},
		"all":                 {ops: []Operation{{Op: "GET", Duration: sameStats(20), Wire: sameStats(2), ClientShare: share(.9)}}, verdict: ClientLimited, sentence: "This machine was the limit, by at most 900 %."},
		"nothing on the wire": {ops: []Operation{{Op: "GET", Duration: sameStats(20), Wire: sameStats(2), ClientShare: share(1)}}, verdict: ClientLimited, sentence: "This machine was the limit, by far."},
		"late": {ops: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(2)}}, load: hostload.Load{PacingLagS: .01}, verdict: SomeFigures,
			sentence: "p50, p90 and p99 are the store's; the delay behind the schedule is this machine's."},
		"no stamps": {ops: []Operation{{Op: "GET", Duration: sameStats(2)}}, verdict: UnknownOwner, warnings: 1,
			sentence: "The client's share of the figures is unknown: more than 1 % of the requests have no usable time stamps of the kernel."},
		"an engine without stamps": {engine: "minio", ops: []Operation{{Op: "GET", Duration: sameStats(2)}}, verdict: UnknownOwner, warnings: 1,
			sentence: "The client's share of the figures is unknown: requests of the engine minio have no time stamps of the kernel."},
		"no stamps of one operation": {ops: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(2)}, {Op: "PUT", Duration: sameStats(2)}}, verdict: UnknownOwner, warnings: 1,
			sentence: "The times of GET are the store's. The client's share of PUT and of the throughput is unknown: more than 1 % of these requests have no usable time stamps of the kernel."},
		"no stamps of one of three operations": {ops: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(2)}, {Op: "STAT", Duration: tail, Wire: sameStats(2)}, {Op: "PUT", Duration: sameStats(2)}}, verdict: UnknownOwner, warnings: 1,
			sentence: "Of GET and STAT, p50 and p90 are the store's; STAT p99 and above are this machine's. The client's share of PUT and of the throughput is unknown: more than 1 % of these requests have no usable time stamps of the kernel."},
		"no stamps of one, none of the store's of the other": {ops: []Operation{{Op: "GET", Duration: sameStats(20), Wire: sameStats(2)}, {Op: "PUT", Duration: sameStats(2)}}, verdict: UnknownOwner, warnings: 1,
			sentence: "Of GET, p50 and above are this machine's. The client's share of PUT and of the throughput is unknown: more than 1 % of these requests have no usable time stamps of the kernel."},
	} {
		r := &Report{Engine: test.engine, Groups: []GroupReport{{Kind: KindMeasured}}, Operations: test.ops, ClientLoad: &test.load, Warnings: []string{note}}
		r.judgeClient()
		if r.Client == nil || r.Client.Verdict != test.verdict || r.Client.Sentence != test.sentence || len(r.Warnings) != test.warnings {
			t.Errorf("%s: %+v, warnings %q", name, r.Client, r.Warnings)
			continue
		}
		// The reason is given once: with the verdict, or as a suspicion among the warnings.
		reason := test.verdict == SomeFigures || test.verdict == ClientLimited
		if text := r.Client.Text(); strings.Contains(text, "95 % of the CPU") != reason {
			t.Errorf("%s: the reason in %q", name, text)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Comparisons withhold the metric concerned, and no other.
func TestClientCause(t *testing.T) {
	t.Parallel()
	limit := .3
	f := Figures{Duration: &Stats{P50: 2, P99: 25}, Wire: &Stats{P50: 1.95, P99: 5}, TTFB: &Stats{}, ClientShare: &limit}
	for name, withheld := range map[string]bool{"p50": false, "p99": true, "wire.p99": false, "ttfb.p99": true, "throughput": true, "objs": true, "errors": false} {
		m, ok := FindMetric(name)
		if why := m.ClientCause(&f); !ok || (why != "") != withheld {
			t.Errorf("%s: %q", name, why)
		}
	}
	for name, want := range map[string]float64{"p99": 5, "wire.p99": 5, "objs": 1 / .7} {
		m, _ := FindMetric(name)
		f.ObjectsPerS = 1
		if got, ok := m.WithoutClient(&f); !ok || got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s without the client is %v, want %v", name, got, want)
		}
	}
	f.Wire = nil
	if m, _ := FindMetric("p99"); m.ClientCause(&f) != "" {
		t.Error("without stamps there is a cause")
	}
}

// The first byte arrives before the last one. So times to first byte have an upper bound on the wire, which says something if
// it is lower than the time itself.
func TestFirstByteBounds(t *testing.T) {
	t.Parallel()
	o := Operation{TTFB: &Stats{Count: 5000, P50: 1, P90: 2, P99: 30, P999: 40}, Wire: &Stats{Count: 5000, P50: 3, P90: 1.95, P99: 5, P999: 8}}
	want := []WireFigure{{"p99", 30, 5}, {"p99.9", 40, 8}}
	if got := o.FirstByteBounds(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, o := range []Operation{{TTFB: o.TTFB}, {Wire: o.Wire}} {
		if got := o.FirstByteBounds(); got != nil {
			t.Errorf("%v without both times", got)
		}
	}
}

// The clients that were busy are named, the busiest first.
func TestBusyClients(t *testing.T) {
	t.Parallel()
	part := func(name string, p99 float64) Part {
		return Part{Name: name, Duration: &Stats{Count: 500, P99: p99}, Wire: &Stats{Count: 500, P99: 2}}
	}
	r := &Report{Groups: []GroupReport{{Kind: KindMeasured}}, Operations: []Operation{{Op: "GET", Duration: sameStats(2), Wire: sameStats(2),
		ByClient: []Part{part("a", 2.1), part("b", 9), part("c", 300), part("d", 2.02)}}}}
	r.judgeClient()
	if !slices.Equal(r.Client.Clients, []string{"c", "b"}) || !strings.HasSuffix(r.Client.Sentence, " Busy: c and b.") {
		t.Errorf("%+v", r.Client)
	}
}
