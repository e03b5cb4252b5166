package conformance

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

// scripts are run one after another against a store, with aliases of object-store-bench's flags.
type scripts struct {
	t   *testing.T
	s   *teststore.Store
	dir string
}

func (s *scripts) run(name, script string) outcome {
	s.t.Helper()
	return warpProcess(s.t, nil, "script", "--base-uri=http://"+s.s.Endpoint+"/", "--s3-access-key="+s.s.AccessKey, "--s3-secret-key="+s.s.SecretKey,
		"--bucket=scripts", "--json", "--benchdata="+filepath.Join(s.dir, name), "--script="+script)
}

// counts returns the requests of the warm-ups and the FINAL lines, in order.
func (s *scripts) counts(name, script string) (counts []int) {
	s.t.Helper()
	o := s.run(name, script).want(s.t, 0)
	var report struct {
		Statements []struct {
			Final  *struct{ Count, Bytes int }
			Warmup *struct{ Count int }
		}
	}
	if err := json.Unmarshal([]byte(o.out), &report); err != nil {
		s.t.Fatalf("%v: %s", err, o)
	}
	for _, st := range report.Statements {
		if st.Warmup != nil {
			counts = append(counts, st.Warmup.Count)
		}
		if st.Final != nil {
			counts = append(counts, st.Final.Count)
		}
	}
	return counts
}

// The examples of object-store-bench, with seconds instead of minutes, work with MinIO. A script in
// a separate process finds the objects of another.
func TestScriptExamples(t *testing.T) {
	t.Parallel()
	s := &scripts{t, stores.Shared(t, teststore.MinIO), t.TempDir()}
	const first = `
// Create 100 objects of size 2 MB, but no more than 5 concurrent PUT operations
PUT
  100 OBJECTS
  MAX 5 CONCURRENT
  OF SIZE 2 MB;
GET
  5 OBJECTS
  AT RATE 10 PER SECOND
  WARMUP 2 SECONDS
  RUNTIME 3 SECONDS;
GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 SECONDS;
// Delete all previously created objects.
DELETE;
`
	const three = `PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB;
GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 SECOND;
DELETE;`
	for name, script := range map[string]string{"three": three, "one": strings.ReplaceAll(three, "\n", " ")} {
		if got := s.counts(name, script); len(got) != 3 || got[0] != 100 || got[1] < 1 || got[2] != 100 {
			t.Errorf("in %s line(s): %v, want 100, 10 and 100", name, got)
		}
	}
	got := s.counts("first", first)
	if want := []int{100, 10, 30, 10, 100}; len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	} else {
		for i, n := range got {
			if n > want[i] || n < want[i]/2 { // a busy machine may skip arrivals of a rate
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	s.run("put", `PUT 10 OBJECTS USING NAMING STRATEGY CONSTANT PREFIX WITH SEED "a898a861";`).want(t, 0)
	const reuse = `REUSE 10 OBJECTS
  USING NAMING STRATEGY CONSTANT PREFIX
  WITH SEED "a898a861";

GET OBJECTS
  FOR 1 SECONDS
  AT RATE 10 PER SECOND;
DELETE`
	if got := s.counts("reuse", reuse); len(got) != 2 || got[0] < 1 || got[1] != 10 {
		t.Errorf("%v, want up to 10 downloads and 10 deletions", got)
	}
	s.run("typing", strings.Replace(reuse, "PER SECOND", "PER SEONCD", 1)).want(t, 2).says(t, "line 7, column 18", "did you mean SECOND?")
}

// After Ctrl-C during a statement, the log and the lines so far are kept, no later statement is
// executed, and uploaded objects stay.
func TestScriptInterrupt(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.MinIO))
	line, log := b.line("script", `PUT 6 OBJECTS OF SIZE 1 KB; GET 6 OBJECTS AT RATE 200 PER SECOND RUNTIME 1 HOUR; DELETE`)
	c := startWarp(t, line...)
	got := func() int {
		return len(b.proxy.Requests(func(s *teststore.Seen) bool { return s.Method == "GET" && s.Status == 200 }))
	}
	check.Eventually(t, "downloads to be under way", func() bool { return got() > 50 })
	c.interrupt(t)
	o, took := c.ends(t)
	o.want(t, 130)
	if took > time.Minute || len(o.errorLines()) > 0 {
		t.Errorf("it took %s to end, and said %q", took, o.errorLines())
	}
	if n := strings.Count(o.out, "  FINAL  |"); n != 2 || strings.Contains(o.out, "DELETE") {
		t.Errorf("%d statements are reported on:\n%s", n, o.out)
	}
	h := readLog(t, log)
	if len(h.of("PUT")) != 6 || len(h.of("GET")) < 40 || len(h.of("DELETE")) > 0 || errorsIn(h.rows) > 0 || h.trailer.End != "interrupted" {
		t.Errorf("%d uploads, %d downloads, %d errors, the log ends %q", len(h.of("PUT")), len(h.of("GET")), errorsIn(h.rows), h.trailer.End)
	}
	again := warp("analyze", "--json", log).want(t, 0).report(t)
	if len(again.Operations) != 2 || again.Operations[1].Statement != 2 || int(again.Operations[1].Requests) != len(h.of("GET")) {
		t.Errorf("analyze: %d operations", len(again.Operations))
	}
	keys := map[string]bool{}
	for _, r := range h.of("PUT") {
		keys[r.Key] = true
	}
	b.left(t, keys)
}

// Multipart uploads that the end of a statement interrupts leave no parts, and are errors.
func TestScriptCutOff(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw, teststore.Garage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The store even rejects the first aborts.
			busy := &teststore.Fault{Match: func(r *http.Request) bool { return r.Method == "DELETE" && r.URL.Query().Has("uploadId") }, Status: 503, Times: 2}
			b := newBed(t, stores.Shared(t, name), &teststore.Fault{Match: anyPart, Delay: 8 * time.Second}, busy)
			o, log := b.run("script", "--part.size=5MiB", "--drain=500ms", `PUT 2 OBJECTS OF SIZE 12 MB RUNTIME 1 SECOND MAX 2 CONCURRENT; DELETE`)
			o.want(t, 3)
			h := readLog(t, log)
			puts := h.of("PUT")
			if len(puts) != 2 || errorsIn(puts) != 2 || !strings.HasPrefix(puts[0].Err, "DrainTimeout: ") {
				t.Errorf("the uploads in the log: %+v", puts)
			}
			if begun, completed, _ := uploads(b); begun != 2 || completed > 0 {
				t.Errorf("%d uploads were begun, %d completed", begun, completed)
			}
			b.clean(t)
		})
	}
}

// More failures than --max-errors allows end the script without its later statements.
func TestScriptTooManyErrors(t *testing.T) {
	t.Parallel()
	down := &teststore.Fault{Match: func(r *http.Request) bool { return r.Method == "GET" && strings.Contains(r.URL.Path, "warp-script-") }, Status: 503}
	b := newBed(t, stores.Shared(t, teststore.MinIO), down)
	o, log := b.run("script", "--max-errors=9", `PUT 3 OBJECTS OF SIZE 1 KB; GET 3 OBJECTS RUNTIME 1 HOUR MAX 2 CONCURRENT; DELETE`)
	o.want(t, 3).says(t, "more requests failed than --max-errors allows (9)")
	h := readLog(t, log)
	if n := errorsIn(h.rows); n < 10 || n > 12 || len(h.of("DELETE")) > 0 || h.trailer.End != "aborted" {
		t.Errorf("%d errors, %d deletions, the log ends %q", n, len(h.of("DELETE")), h.trailer.End)
	}
	if !strings.Contains(o.out, "503:") {
		t.Errorf("FINAL does not have the failed requests:\n%s", o.out)
	}
	// The allowed number of failures changes neither the script nor its exit code.
	few := &teststore.Fault{Match: down.Match, Status: 503, Times: 4}
	b = newBed(t, stores.Shared(t, teststore.MinIO), few)
	o, _ = b.run("script", "--max-errors=4", `PUT 8 OBJECTS OF SIZE 1 KB; GET 8 OBJECTS; DELETE`)
	o.want(t, 0)
	b.clean(t)
	// Repeated requests do not count as failures.
	b = newBed(t, stores.Shared(t, teststore.MinIO), &teststore.Fault{Match: down.Match, Status: 503, Times: 2})
	o, log = b.run("script", "--retries=3", `PUT 4 OBJECTS OF SIZE 1 KB; GET 4 OBJECTS MAX 1 CONCURRENT; DELETE`)
	o.want(t, 0)
	retried := 0
	for _, r := range readLog(t, log).of("GET") {
		retried += int(r.Retries)
	}
	if retried != 2 {
		t.Errorf("%d requests were repeated, want 2", retried)
	}
}
