package aggregate

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

func ms(n int64) int64 { return testlog.Epoch + n*int64(time.Millisecond) }

// req returns a GET of 1000 bytes by a thread, from and to in ms.
func req(thread uint32, from, to int64) oplog.Record {
	return oplog.Record{
		Op: "GET", Run: "r", Client: "c", Thread: thread, Endpoint: "http://h:1", Objects: 1, Bytes: 1000,
		Start: ms(from), Duration: time.Duration(to-from) * time.Millisecond,
	}
}

func TestNoRows(t *testing.T) {
	t.Parallel()
	r := analyze(t, nil, Options{})
	if len(r.Operations) != 0 || r.Version != 2 {
		t.Errorf("%+v", r)
	}
	render(t, r)
	if _, err := Analyze(&memoryLog{}, Options{Op: "get"}); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("error %v", err)
	}
}

func TestOneRequest(t *testing.T) {
	t.Parallel()
	r := analyze(t, []oplog.Record{req(0, 0, 100)}, Options{Verbose: true})
	op := r.Operations[0]
	if op.Requests != 1 || op.Inside != 1 || op.BytesPerS != 10000 || op.WindowS != .1 || op.Duration.P999 != 100 {
		t.Errorf("%+v", op)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "fewer than 10") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestNoDuration(t *testing.T) {
	t.Parallel()
	// All at one instant: latencies are known, throughput is not.
	op := analyze(t, []oplog.Record{req(0, 5, 5), req(1, 5, 5)}, Options{}).Operations[0]
	if op.Inside != 2 || op.WindowS != 0 || op.BytesPerS != 0 || op.Duration.Max != 0 {
		t.Errorf("%+v", op)
	}
	// Instants on borders belong to one segment, and inside means counted.
	rows := []oplog.Record{req(0, 0, 1000), req(0, 1000, 1000), req(0, 2000, 2000), req(0, 3000, 3000)}
	op = analyze(t, rows, Options{}).Operations[0]
	if op.WindowS != 3 || op.Inside != 4 || op.Objects != 4 || op.Bytes != 4000 {
		t.Errorf("%+v", op)
	}
	if n1, n2 := op.Segments[1].FullOps, op.Segments[2].FullOps; n1 != 1 || n2 != 2 {
		t.Errorf("segments have %d and %d", n1, n2)
	}
}

func TestAllFailed(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["failing"].Rows(1)
	op := analyze(t, rows, Options{}).Operations[0]
	n := uint64(len(rows))
	if op.Requests != n || op.Errors != n || op.Inside != 0 || op.Bytes != 0 || op.Duration != nil || op.WindowBasis != results.Whole {
		t.Errorf("%+v", op)
	}
	sum := uint64(0)
	for _, k := range op.ErrorsByCode {
		sum += k
	}
	if sum != n || len(op.FirstErrors) != 3 {
		t.Errorf("%d errors by code: %v", sum, op.ErrorsByCode)
	}
}

func TestFailuresAreNoThroughput(t *testing.T) {
	t.Parallel()
	rows := testlog.Load{Ops: []string{"GET"}, Threads: 4, Length: 5 * time.Second, Latency: 10 * time.Millisecond}.Rows(2)
	failed := 0
	for i := range rows {
		if i%10 == 3 {
			rows[i].Err = "SlowDown: no"
			failed++
		}
	}
	op := analyze(t, rows, Options{}).Operations[0]
	var ended uint64
	for _, s := range op.Segments {
		ended += s.OpsEnded
	}
	if inside := op.Errors + op.WarmUp.Errors; inside != uint64(failed) || ended >= uint64(len(rows)-failed) || math.Abs(op.Objects-float64(ended)) > 10 {
		t.Errorf("%d errors, %d ended well, %v objects", op.Errors, ended, op.Objects)
	}
}

func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	var rows []oplog.Record
	for i := range int64(10) {
		r := req(0, i*100, i*100+100)
		r.Bytes, r.Objects = math.MaxInt64, math.MaxInt
		rows = append(rows, r)
	}
	op := analyze(t, rows, Options{}).Operations[0]
	if op.Bytes != math.MaxUint64 {
		t.Errorf("%d bytes", op.Bytes)
	}
}

// TestNonsense feeds rows that no clock can produce. Nothing may panic, hang, become NaN (which
// JSON does not allow) or depend on the order.
func TestNonsense(t *testing.T) {
	t.Parallel()
	times := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, testlog.Epoch, math.MaxInt64 - 1, math.MaxInt64}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		pick := func() int64 { return times[rng.IntN(len(times))] + rng.Int64N(3) }
		rows := make([]oplog.Record, 1+rng.IntN(30))
		for i := range rows {
			rows[i] = oplog.Record{
				Op: []string{"", "GET", "PUT\n"}[rng.IntN(3)], Client: string(rune('a' + rng.IntN(2))), Thread: uint32(rng.IntN(2)) * math.MaxUint32,
				Start: pick(), Duration: time.Duration(pick()), FirstByte: time.Duration(pick()), LastByte: time.Duration(pick()),
				Due: pick(), Bytes: pick(), Objects: int(pick()), Key: "k", Endpoint: "\t",
			}
			if rng.IntN(4) == 0 {
				rows[i].Err = "\x1b[31m: odd\n"
			}
		}
		o := Options{Verbose: true, Skip: time.Duration(rng.IntN(2)) * time.Hour}
		want := render(t, analyze(t, rows, o))
		same(t, "shuffled", render(t, analyze(t, shuffled(rows, seed), o)), want)
		if strings.Contains(want, "\x1b") {
			t.Fatal("an error text reached the terminal as it was")
		}
		w := oplog.Window{Start: pick(), Begin: pick(), End: pick()}
		if r, err := count(t, rows, w, o).Report(); err == nil {
			again, err := count(t, shuffled(rows, seed), w, o).Report()
			check.OK(t, err)
			same(t, "with a window, shuffled", render(t, again), render(t, r))
		}
		var l monitor.Live
		_ = l.Write(rows)
		l.Snapshot(pick())
	}
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	rows := []oplog.Record{req(0, 0, 10), req(0, 20, 15), req(0, 30, 40)}
	r := analyze(t, rows, Options{})
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[1], "1 request ends before it starts") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestManyErrorCodes(t *testing.T) {
	t.Parallel()
	var rows []oplog.Record
	for i := range int64(1000) {
		r := req(0, i, i+1)
		r.Err = "Code" + string(rune('A'+i%26)) + string(rune('A'+i/26%26)) + ": " + strings.Repeat("x", 2000)
		rows = append(rows, r)
	}
	want := analyze(t, rows, Options{})
	op := want.Operations[0]
	if len(op.ErrorsByCode) != maxKinds+1 || op.ErrorsByCode[otherKinds] == 0 || len(op.FirstErrors[0].Error) != maxErrorText {
		t.Errorf("%d codes: %v", len(op.ErrorsByCode), op.ErrorsByCode)
	}
	same(t, "shuffled", render(t, analyze(t, shuffled(rows, 1), Options{})), render(t, want))
}

func TestFirstErrorIsTheEarliest(t *testing.T) {
	t.Parallel()
	a, b, c := req(0, 0, 10), req(0, 20, 30), req(0, 40, 50)
	a.Err, b.Err, c.Err = "", "SlowDown: first", "SlowDown: second"
	op := analyze(t, []oplog.Record{c, b, a}, Options{}).Operations[0]
	if e := op.FirstErrors; len(e) != 1 || e[0].Error != "SlowDown: first" || !e[0].Time.Equal(time.Unix(0, ms(20))) {
		t.Errorf("%+v", e)
	}
}

func TestOpenLoop(t *testing.T) {
	t.Parallel()
	// A thread that should send every 10 ms meets a store that freezes for a second.
	var rows []oplog.Record
	at := int64(0)
	for i := range int64(300) {
		start := max(i*10, at)
		took := int64(2)
		if i == 100 {
			took = 1000
		}
		r := req(0, start, start+took)
		r.Due = ms(i * 10)
		if r.Due == 0 {
			t.Fatal("due")
		}
		at = start + took
		rows = append(rows, r)
	}
	r := analyze(t, rows, Options{})
	op, g := r.Operations[0], r.Groups[0]
	if op.Duration.P99 > 3 || op.Response.P90 < 700 || op.Response.Max != 1000 || op.Lag.Max < 900 {
		t.Errorf("service %+v\nresponse %+v\nlag %+v", op.Duration, op.Response, op.Lag)
	}
	if math.Abs(g.OfferedPerS-100) > 1 || math.Abs(g.AchievedPerS-100) > 1 {
		t.Errorf("offered %v, achieved %v", g.OfferedPerS, g.AchievedPerS)
	}
}

func TestLimitAndOffset(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["get"].Rows(1)
	want := analyze(t, rows[150:1150], Options{})
	got := analyze(t, rows, Options{Offset: 150, Limit: 1000})
	same(t, "rows 150 to 1150", render(t, got), render(t, want))
	same(t, "rows from 500", render(t, analyze(t, rows, Options{Offset: 500})), render(t, analyze(t, rows[500:], Options{})))
	if r := analyze(t, rows, Options{Offset: 1e9}); len(r.Operations) != 0 {
		t.Error("rows beyond the end")
	}
}

func TestErrorsSayWhatIsThere(t *testing.T) {
	t.Parallel()
	rows := testlog.Loads()["mixed"].Rows(1)
	for _, c := range []struct {
		Options
		want string
	}{
		{Options{Op: "LIST"}, `no operation "LIST" in the log; it has DELETE, GET, PUT, STAT`},
		{Options{Host: "nowhere"}, `no requests to host "nowhere" in the log; it has http://host0:9000, http://host1:9000, http://host2:9000`},
		{Options{SegmentDur: time.Microsecond}, "choose"},
		{Options{SegmentDur: -time.Second}, "must be positive"},
		{Options{Slices: []time.Duration{50 * time.Microsecond}}, "choose"},
	} {
		o, want := c.Options, c.want
		if _, err := Analyze(&memoryLog{rows: rows}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", o, err, want)
		}
	}
}

// TestManyObjects checks that memory for objects is limited, and that the sample does not depend on
// the order.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	count := func(rows int, at func(i int) int) *totals {
		o := &totals{}
		for i := range rows {
			r := req(0, int64(at(i)), int64(at(i))+1)
			r.Key = strconv.Itoa(at(i) % (rows / 2))
			o.visit(&r)
			if len(o.Objects) > 2*maxObjects {
				t.Fatalf("%d objects are remembered", len(o.Objects))
			}
		}
		o.sample()
		return o
	}
	const rows = 5 * maxObjects
	a, b := count(rows, func(i int) int { return i }), count(rows, func(i int) int { return rows - 1 - i })
	if len(a.Objects) != maxObjects || !a.Sampled || !maps.Equal(a.Objects, b.Objects) {
		t.Errorf("%d and %d objects", len(a.Objects), len(b.Objects))
	}
	if r := a.accesses(); r != nil && !r.Sampled {
		t.Error("the report does not say that it is a sample")
	}
}

// TestSlowBeforeTheWindow has requests that the window leaves out, and that took
// longer than all that it shows.
func TestSlowBeforeTheWindow(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	rows := uniform("", "PUT", 0, 4*s, 2*s, oplog.Record{Objects: 1})
	rows = append(rows, uniform("", "PUT", 5*s, 5*s, 10*ms, oplog.Record{Objects: 1})...)
	w := oplog.Window{Start: 1e15 - 1, Begin: 1e15 + 5e9, End: 1e15 + 1e10}
	r := analyzeLog(t, windowed(rows, w), Options{})
	want := "PUT: a request that started before the window, at 13:46:40 UTC, took 2.00s, longer than any that started in the window."
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
	if b := r.Operations[0].WarmUp; b.LongestMS != 2000 || b.LongestStart.UnixNano() != 1e15 {
		t.Errorf("before the window: %+v", b)
	}
}

// In an open loop, requests before the window count from when they were due, as those in it do: one that waited for a free
// worker and then was quick is named.
func TestSlowBeforeTheWindowOfAnOpenLoop(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	rows := uniform("", "PUT", 0, 10*s, 10*ms, oplog.Record{Objects: 1})
	for i := range rows {
		rows[i].Due = rows[i].Start
	}
	rows[400].Due -= int64(3 * s) // before the window, and answered there
	rows[500].Due -= int64(2 * s) // the first that started in it
	w := oplog.Window{Start: 1e15 - 1, Begin: 1e15 + 5e9, End: 1e15 + 1e10}
	r := analyzeLog(t, windowed(rows, w), Options{})
	want := []string{"PUT: 1 request was in flight when the window began, and the longest took 2.01s, longer than any that was due in the window.",
		"PUT: a request that was due before the window, at 13:46:41 UTC, took 3.01s, longer than any that was due in the window."}
	for _, w := range want {
		if !slices.Contains(r.Warnings, w) {
			t.Errorf("warnings %q, want %q", r.Warnings, w)
		}
	}
	if b := r.Operations[0].WarmUp; b.LongestMS != 3010 || b.LongestStart.UnixNano() != 1e15+1e9 {
		t.Errorf("before the window: %+v", b)
	}
}
