package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/teststore"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// onPool matches requests for the objects of a run, not for markers.
func onPool(method string) func(*http.Request) bool {
	onObject := teststore.OnObject(method)
	return func(r *http.Request) bool { return onObject(r) && !strings.Contains(r.URL.Path, "/.warp/") }
}

// sent returns the number of requests of an operation that the proxy saw.
func (b *bed) sent(op string) int {
	return len(b.proxy.Requests(func(s *teststore.Seen) bool {
		got, _ := measuredOp(s)
		return got == op
	}))
}

// errorsOf returns the number of errors with that code, inside and outside the window.
func errorsOf(op results.Operation, code string) int {
	return int(op.ErrorsByCode[code] + op.WarmUp.ErrorsByCode[code] + op.Late.ErrorsByCode[code])
}

func get(flags ...string) []string {
	return append([]string{"get", "--objects=20", "--obj.size=16KiB", "--concurrent=4", "--duration=500ms", "--json"}, flags...)
}

// TestTenthFails checks a store that answers 503 to a tenth of the requests. Throughput counts only
// successes.
func TestTenthFails(t *testing.T) {
	fault := &teststore.Fault{Match: onPool("GET"), Every: 10, Status: 503}
	b := newBed(t, stores.Shared(t, teststore.Embedded), fault)
	o, log := b.run(get("--duration=1s")...)
	o.want(t, 3).says(t, "requests failed")
	o.sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	rows := h.of("GET")
	failed := errorsIn(rows)
	if hits := b.proxy.Hits(); failed != hits || failed == 0 || len(rows) != b.sent("GET") {
		t.Errorf("%d rows with %d errors, but %d requests with %d faults", len(rows), failed, b.sent("GET"), hits)
	}
	for _, r := range rows {
		if r.Err != "" && (r.Code() != "SlowDown" || r.Status != 503 || r.Bytes != 0 || r.Retries != 0) {
			t.Fatalf("a failed request is recorded as %+v", r)
		}
	}
	op := operation(t, o.report(t), "GET")
	if int(op.Requests) != len(rows) || errorsOf(op, "SlowDown") != failed || int(op.Errors+op.WarmUp.Errors+op.Late.Errors) != failed {
		t.Errorf("%d requests, %d errors, %v; the log has %d and %d", op.Requests, op.Errors, op.ErrorsByCode, len(rows), failed)
	}
	j := judge(t, op, rows)
	near(t, "the number of good requests", op.Objects, j.successes(), 1e-6)
	near(t, "requests/s", op.ObjectsPerS, j.successes()/(float64(j.to-j.from)/1e9), 1e-6)
	near(t, "bytes/s", op.BytesPerS, op.ObjectsPerS*16384, 1e-3)
	holds(t, op.Duration, j.sorted(service))
	holds(t, op.TTFB, j.sorted(func(r oplog.Record) time.Duration { return r.FirstByte }))
	b.clean(t)
}

// TestTwoInAHundredAreSlow checks that percentiles show exactly the requests that a store delays.
func TestTwoInAHundredAreSlow(t *testing.T) {
	const delay = 400
	fault := &teststore.Fault{Match: onPool("GET"), Every: 100, Of: 2, Delay: delay * time.Millisecond}
	b := newBed(t, stores.Shared(t, teststore.Embedded), fault)
	o, log := b.run(get("--duration=3s", "--concurrent=8", "--obj.size=1KiB")...)
	o.want(t, 0)
	h := readLog(t, log)
	rows := h.of("GET")
	op := operation(t, o.report(t), "GET")
	holds(t, op.Duration, judge(t, op, rows).sorted(service))
	d := op.Duration
	if d.P50 > delay/2 || d.P90 >= delay || d.P99 < delay || d.P999 < delay {
		t.Errorf("p50 %g, p90 %g, p99 %g, p99.9 %g ms", d.P50, d.P90, d.P99, d.P999)
	}
	slow := 0
	for _, r := range rows {
		if r.Duration >= delay*time.Millisecond {
			slow++
		}
	}
	// A machine that stalls makes more of them slow.
	if hits := b.proxy.Hits(); slow < hits || slow > hits+len(rows)/100 {
		t.Errorf("%d of %d rows are slow, %d requests were delayed", slow, len(rows), hits)
	}
}

// A faulty store does one thing wrong, at every fifth request of an operation.
type faulty struct {
	name, code, op string
	args           []string
	fault          teststore.Fault
}

// TestEachFault checks that each fault is an error of that request under its own code, and that the
// run continues.
func TestEachFault(t *testing.T) {
	t.Parallel()
	listing := func(r *http.Request) bool {
		return r.Method == "GET" && strings.Contains(r.URL.RawQuery, "list-type") && r.URL.Query().Get("max-keys") == "7"
	}
	deletion := func(r *http.Request) bool { return r.Method == "POST" && r.URL.Query().Has("delete") }
	list := []string{"list", "--max-keys=7"}
	for _, c := range []faulty{
		{"wrong ETag", "WrongETag", "GET", []string{"get"}, teststore.Fault{ETag: `"00000000000000000000000000000000"`}},
		{"wrong ETag of stat", "WrongETag", "STAT", []string{"stat"}, teststore.Fault{ETag: `"00000000000000000000000000000000"`}},
		{"short body", "ShortRead", "GET", []string{"get"}, teststore.Fault{Truncate: 100}},
		{"wrong length", "WrongLength", "GET", []string{"get"}, teststore.Fault{ExtraLength: 100}},
		{"wrong length of stat", "WrongLength", "STAT", []string{"stat"}, teststore.Fault{ExtraLength: 100}},
		{"wrong length of a range", "WrongLength", "GET", []string{"get", "--range", "--range-size=100"}, teststore.Fault{ExtraLength: 1}},
		{"reset", "ConnectionReset", "GET", []string{"get"}, teststore.Fault{Reset: true}},
		{"reset of an upload", "ConnectionReset", "PUT", []string{"put"}, teststore.Fault{Reset: true}},
		{"reset of stat", "ConnectionReset", "STAT", []string{"stat"}, teststore.Fault{Reset: true}},
		{"reset in the body", "ConnectionReset", "GET", []string{"get", "--obj.size=4MiB"}, teststore.Fault{ResetAfter: 1000}},
		{"garbled listing", "BadAnswer", "LIST", list, teststore.Fault{Match: listing, Corrupt: true}},
		{"short listing", "ConnectionClosed", "LIST", list, teststore.Fault{Match: listing, Truncate: 40}},
		{"404", "NoSuchKey", "GET", []string{"get"}, teststore.Fault{Status: 404, Code: "NoSuchKey"}},
		{"404 of stat", "NoSuchKey", "STAT", []string{"stat"}, teststore.Fault{Status: 404, Code: "NoSuchKey"}},
		{"503 of a batch", "SlowDown", "DELETE", []string{"delete", "--batch=2"}, teststore.Fault{Match: deletion, Status: 503, Times: 3}},
		{"garbled answer to a batch", "BadAnswer", "DELETE", []string{"delete", "--batch=2"}, teststore.Fault{Match: deletion, Corrupt: true, Times: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

// run repeats the benchmark with longer durations until there are enough rows.
func (c *faulty) run(t *testing.T) (b *bed, o outcome, log string) {
	args := append([]string{c.args[0], "--obj.size=4KiB", "--concurrent=2"}, c.args[1:]...)
	if c.op != "PUT" {
		args = append(args, "--objects=40")
	}
	for _, d := range durations {
		fault := c.fault
		fault.Every = 5
		if fault.Match == nil {
			fault.Match = onPool(map[string]string{"GET": "GET", "PUT": "PUT", "STAT": "HEAD"}[c.op])
		}
		b = newBed(t, stores.Shared(t, teststore.Embedded), &fault)
		o, log = b.run(append(args, d)...)
		if len(readLog(t, log).of(c.op)) >= 10 {
			break
		}
	}
	return b, o, log
}

func (c *faulty) test(t *testing.T) {
	b, o, log := c.run(t)
	o.want(t, 3)
	o.sameAsAnalyze(t, log)
	h := readLog(t, log)
	rows := h.of(c.op)
	for _, r := range rows {
		if r.Err != "" && r.Code() != c.code {
			t.Fatalf("%q instead of %s", r.Err, c.code)
		}
	}
	failed, hits := errorsIn(rows), b.hitsWithin(h, c.op)
	if failed != hits || failed == 0 || failed == len(rows) {
		t.Errorf("%d of %d rows failed, but %d faults", failed, len(rows), hits)
	}
	if n := sumRequests(rows); c.op != "LIST" && n != b.sentWithin(h, c.op) {
		t.Errorf("the log has %d requests, the wire %d: something was repeated", n, b.sentWithin(h, c.op))
	}
	// The first of each kind is shown, with its count inside and outside the window.
	shown := 0
	for _, m := range regexp.MustCompile(` \* `+c.code+`: (\d+), first at`).FindAllStringSubmatch(o.out, -1) {
		n, _ := strconv.Atoi(m[1])
		shown += n
	}
	if shown != failed {
		t.Errorf("%s is in the report %d times, want %d:\n%s", c.code, shown, failed, o.out)
	}
	if _, message, _ := strings.Cut(firstError(rows).Err, ": "); !strings.Contains(o.out, message) {
		t.Errorf("the first error %q is not in the report:\n%s", message, o.out)
	}
	b.clean(t)
}

func firstError(rows []oplog.Record) (first oplog.Record) {
	for _, r := range rows {
		if r.Err != "" && (first.Err == "" || r.Start < first.Start) {
			first = r
		}
	}
	return first
}

func sumRequests(rows []oplog.Record) (n int) {
	for _, r := range rows {
		n += int(r.Requests)
	}
	return n
}

// within returns the requests of an operation that were sent while it ran.
func (b *bed) within(h history, op string) []teststore.Seen {
	var from, to int64
	for _, r := range h.of(op) {
		if from == 0 || r.Start < from {
			from = r.Start
		}
		to = max(to, r.End())
	}
	return b.proxy.Requests(func(s *teststore.Seen) bool {
		got, _ := measuredOp(s)
		at := s.Start.UnixNano()
		return got == op && at >= from && at <= to
	})
}

func (b *bed) sentWithin(h history, op string) int { return len(b.within(h, op)) }

func (b *bed) hitsWithin(h history, op string) (n int) {
	for _, s := range b.within(h, op) {
		if s.Fault != nil {
			n++
		}
	}
	return n
}

// TestGarbage checks a store whose answer is not HTTP.
func TestGarbage(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Embedded))
	target := &url.URL{Scheme: "http", Host: b.proxy.Endpoint}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }}
	var seen, spoiled atomic.Int64
	measured := onPool("GET")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !measured(r) || seen.Add(1)%5 != 0 {
			pass.ServeHTTP(w, r)
			return
		}
		spoiled.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, "\x00\x01 this is not HTTP \xff\r\n\r\n")
		conn.Close()
	}))
	t.Cleanup(server.Close)
	o, log := b.run(get("--host=" + strings.TrimPrefix(server.URL, "http://"))...)
	o.want(t, 3)
	rows := readLog(t, log).of("GET")
	if n := errorsIn(rows); n != int(spoiled.Load()) || len(rows) != int(seen.Load()) {
		t.Errorf("%d rows with %d errors, but %d requests with %d faults", len(rows), n, seen.Load(), spoiled.Load())
	}
	if op := operation(t, o.report(t), "GET"); errorsOf(op, "BadAnswer") != int(spoiled.Load()) {
		t.Errorf("errors by code: %v, want %d BadAnswer", op.ErrorsByCode, spoiled.Load())
	}
	b.clean(t)
}

// TestRetries checks that requests are repeated only if the user asks for it, and that repetitions
// are counted.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, f := range []teststore.Fault{
		{Status: 503}, {Status: 500, Code: "InternalError"}, {Reset: true}, {Truncate: 10},
	} {
		t.Run(fmt.Sprintf("%d %s reset %v truncate %d", f.Status, f.Code, f.Reset, f.Truncate), func(t *testing.T) {
			t.Parallel()
			f.Match, f.Every = onPool("GET"), 3
			// With one worker, no repetition can hit the next fault.
			b := newBed(t, stores.Shared(t, teststore.Embedded), &f)
			o, log := b.run(get("--retries=2", "--concurrent=1", "--max-errors=0")...)
			o.want(t, 0)
			rows := readLog(t, log).of("GET")
			retries := 0
			for _, r := range rows {
				retries += int(r.Retries)
				if r.Err != "" || r.Requests != r.Retries+1 || r.Bytes != 16384 || r.Status != 200 {
					t.Fatalf("a row is %+v", r)
				}
			}
			if retries == 0 || retries != b.proxy.Hits() || sumRequests(rows) != b.sent("GET") {
				t.Errorf("%d retries and %d requests, but %d faults in %d", retries, sumRequests(rows), b.proxy.Hits(), b.sent("GET"))
			}
			if op := operation(t, o.report(t), "GET"); int(op.Retries) != retries || op.Errors != 0 {
				t.Errorf("the report has %d retries and %d errors", op.Retries, op.Errors)
			}
		})
	}
	t.Run("exhausted", func(t *testing.T) {
		t.Parallel()
		b := newBed(t, stores.Shared(t, teststore.Embedded), &teststore.Fault{Match: onPool("GET"), Status: 503})
		o, log := b.run(get("--retries=2", "--concurrent=2")...)
		o.want(t, 3)
		for _, r := range readLog(t, log).of("GET") {
			if r.Err == "" || r.Retries != 2 || r.Requests != 3 {
				t.Fatalf("a row is %+v", r)
			}
		}
	})
	t.Run("in vain", func(t *testing.T) {
		t.Parallel()
		b := newBed(t, stores.Shared(t, teststore.Embedded), &teststore.Fault{Match: onPool("GET"), Every: 3, Status: 404, Code: "NoSuchKey"})
		o, log := b.run(get("--retries=2", "--concurrent=2")...)
		o.want(t, 3)
		rows := readLog(t, log).of("GET")
		if n := b.sent("GET"); n != len(rows) {
			t.Errorf("%d rows, %d requests: what cannot succeed was repeated", len(rows), n)
		}
	})
}

// TestMaxErrors checks that more failures than allowed end the run, and that fewer do not change
// the exit code.
func TestMaxErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit       string
		every, code int
		ends        bool
	}{
		{"5", 10, 3, true}, {"0", 10, 3, true}, {"10%", 5, 3, true},
		{"1000000", 10, 0, false}, {"50%", 10, 0, false},
	} {
		t.Run(c.limit, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded), &teststore.Fault{Match: onPool("GET"), Every: c.every, Status: 503})
			duration := "--duration=400ms"
			if c.ends {
				duration = "--duration=2m"
			}
			o, log := b.run(get("--max-errors="+c.limit, duration)...)
			o.want(t, c.code)
			o.sameAsAnalyze(t, log, "--json")
			h := readLog(t, log)
			end := "completed"
			if c.ends {
				end = "aborted"
				o.says(t, "--max-errors", c.limit)
			} else if lines := o.errorLines(); len(lines) > 0 {
				t.Errorf("it says %q", lines)
			}
			if h.trailer.End != end || o.report(t).End != end {
				t.Errorf("the log ends %q, the report %q, want %s", h.trailer.End, o.report(t).End, end)
			}
			failed := errorsIn(h.rows)
			if c.limit == "5" && (failed < 6 || failed > 9) { // those in flight may fail too
				t.Errorf("%d errors", failed)
			}
			// A busy machine may not reach the first failing request.
			if failed == 0 && b.sent("GET") >= c.every {
				t.Error("no request failed")
			}
			b.clean(t)
		})
	}
}

// TestPrepareSurvives checks that uploads of the preparation are repeated, and that this is
// reported.
func TestPrepareSurvives(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"get", "stat", "delete", "list", "mixed"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded), &teststore.Fault{Match: onPool("PUT"), Every: 10, Status: 503, Times: 4})
			o, log := b.run(op, "--objects=60", "--obj.size=1KiB", "--concurrent=3", "--duration=300ms", "--json")
			h := readLog(t, log)
			for _, r := range h.rows {
				if r.Op != "PUT" && r.Err != "" {
					t.Fatalf("%s fails: %s", r.Op, r.Err)
				}
			}
			if op != "mixed" && (errorsIn(h.of("PUT")) != 4 || len(h.of("PUT")) != 64) {
				t.Errorf("%d uploads, %d of them failed, want 64 and 4", len(h.of("PUT")), errorsIn(h.of("PUT")))
			}
			t.Logf("exit code %d: %s", o.code, o.err)
			b.clean(t)
		})
	}
}

// TestPrepareGivesUp checks that a store that accepts no uploads ends the run in limited time, with
// a clear line.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		max    int // max number of uploads with two workers
	}{{503, "SlowDown", 16}, {403, "AccessDenied", 2}} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, teststore.Embedded), &teststore.Fault{Match: onPool("PUT"), Status: c.status, Code: c.code})
			start := time.Now()
			o, _ := b.run("get", "--objects=10", "--obj.size=1KiB", "--concurrent=2", "--duration=300ms")
			o.want(t, 1).says(t, "prepare", c.code)
			if n := b.sent("PUT"); n == 0 || n > c.max {
				t.Errorf("%d uploads were tried, want up to %d", n, c.max)
			}
			t.Logf("gave up after %s", time.Since(start).Round(time.Second/10))
			b.clean(t)
		})
	}
}
