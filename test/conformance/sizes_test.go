package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// A job is a way to run one of the older operations.
type job struct {
	name string
	args []string
	ops  []string                      // operations that its log must contain
	also func(t *testing.T, h history) // checks other properties of the log
	wire func(t *testing.T, b *bed)    // and of the requests on the wire
}

const small, large = "4KiB", "10MiB"

// jobs returns all of them with objects of one size, and with small objects also their flags.
func jobs(size string) []job {
	pool := []string{"--obj.size=" + size, "--objects=40", "--concurrent=4"}
	batch := "--batch=7"
	// A deletion with enough time ends when nothing is left.
	whole := "--duration=2m"
	if size == large {
		pool = []string{"--obj.size=" + size, "--objects=4", "--concurrent=2"}
		batch = "--batch=3"
	}
	with := func(op string, flags ...string) []string { return append(append([]string{op}, pool...), flags...) }
	put := []string{"put", "--obj.size=" + size, "--concurrent=2"}
	all := []job{
		{name: "get", args: with("get"), ops: []string{"PUT", "GET"}},
		{name: "put", args: put, ops: []string{"PUT"}},
		{name: "stat", args: with("stat"), ops: []string{"PUT", "STAT"}},
		{name: "list", args: with("list"), ops: []string{"PUT", "LIST"}},
		{name: "delete", args: with("delete", batch, whole), ops: []string{"PUT", "DELETE"}, also: deletesAll},
		{name: "mixed", args: with("mixed"), ops: nil},
	}
	if size == large {
		return all
	}
	all[5].ops = []string{"DELETE", "GET", "PUT", "STAT"}
	return append(all,
		job{name: "get range", args: with("get", "--range"), ops: []string{"PUT", "GET"}, also: rangesWithin(1, 4096)},
		job{name: "get range-size", args: with("get", "--range", "--range-size=1000"), ops: []string{"PUT", "GET"}, also: rangesWithin(1000, 1000), wire: asksForRanges(1000)},
		job{name: "get noprefix", args: with("get", "--noprefix"), ops: []string{"PUT", "GET"}, also: prefixes(1)},
		job{name: "get prefix", args: with("get", "--prefix=some/where"), ops: []string{"PUT", "GET"}, also: below("some/where/")},
		job{name: "get randsize", args: append(with("get", "--obj.randsize"), "--obj.size=64KiB"), ops: []string{"PUT", "GET"}, also: manySizes(10, 64<<10)},
		job{name: "put buckets", args: append(put, "--obj.size=1000:3,3000:1", "--seed=1"), ops: []string{"PUT"}, also: weighted},
		job{name: "list pages", args: with("list", "--max-keys=3"), ops: []string{"PUT", "LIST"}, also: pagesOf(10, 4)},
		job{name: "list noprefix", args: with("list", "--noprefix", "--max-keys=100"), ops: []string{"PUT", "LIST"}, also: pagesOf(40, 1)},
		job{name: "delete one by one", args: with("delete", "--batch=1", whole), ops: []string{"PUT", "DELETE"}, also: deletesAll},
		job{name: "put randsize", args: append(put, "--obj.randsize"), ops: []string{"PUT"}, also: manySizes(3, 4096)},
	)
}

func deletesAll(t *testing.T, h history) {
	deleted := 0
	for _, r := range h.of("DELETE") {
		deleted += r.Objects
	}
	if uploaded := len(h.of("PUT")); deleted != uploaded {
		t.Errorf("%d objects uploaded, %d deleted", uploaded, deleted)
	}
}

func rangesWithin(minSize, maxSize int64) func(*testing.T, history) {
	return func(t *testing.T, h history) {
		sizes := map[int64]bool{}
		for _, r := range h.of("GET") {
			sizes[r.Bytes] = true
			if r.Bytes < minSize || r.Bytes > maxSize || r.Status != 206 {
				t.Fatalf("a range of %d bytes with status %d", r.Bytes, r.Status)
			}
		}
		if minSize != maxSize && len(sizes) < 2 {
			t.Error("all ranges are of the same length")
		}
	}
}

func asksForRanges(length int64) func(*testing.T, *bed) {
	return func(t *testing.T, b *bed) {
		starts := map[int64]bool{}
		for _, s := range b.proxy.Requests(nil) {
			if op, _ := measuredOp(&s); op != "GET" {
				continue
			}
			var from, to int64
			if _, err := fmt.Sscanf(s.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil || to-from+1 != length {
				t.Fatalf("asked for the range %q", s.Header.Get("Range"))
			}
			starts[from] = true
		}
		if len(starts) < 2 {
			t.Error("all ranges begin at the same place")
		}
	}
}

// prefixes returns the number of directories with objects.
func prefixes(n int) func(*testing.T, history) {
	return func(t *testing.T, h history) {
		dirs := map[string]bool{}
		for _, r := range h.of("PUT") {
			dirs[r.Key[:strings.LastIndex(r.Key, "/")]] = true
		}
		if len(dirs) != n {
			t.Errorf("objects are under %v", dirs)
		}
	}
}

func below(prefix string) func(*testing.T, history) {
	return func(t *testing.T, h history) {
		for _, r := range h.rows {
			if !strings.HasPrefix(r.Key, prefix) {
				t.Fatalf("%s is not below %s", r.Key, prefix)
			}
		}
		prefixes(4)(t, h)
	}
}

func manySizes(minSizes int, maxSize int64) func(*testing.T, history) {
	return func(t *testing.T, h history) {
		sizes := map[int64]bool{}
		for _, r := range h.of("PUT") {
			sizes[r.Bytes] = true
			if r.Bytes > maxSize {
				t.Errorf("an object of %d bytes", r.Bytes)
			}
		}
		if len(sizes) < minSizes {
			t.Errorf("only %d different sizes", len(sizes))
		}
	}
}

// weighted expects three objects of up to 1000 bytes for each one of up to 3000.
func weighted(t *testing.T, h history) {
	var low, high float64
	for _, r := range h.of("PUT") {
		switch {
		case r.Bytes < 1 || r.Bytes > 3000:
			t.Errorf("an object of %d bytes", r.Bytes)
		case r.Bytes <= 1000:
			low++
		default:
			high++
		}
	}
	if share := low / (low + high); share < 0.55 || share > 0.95 {
		t.Errorf("%g of %g objects are of the lower sizes, want three quarters", low, low+high)
	}
}

func pagesOf(entries, pages int) func(*testing.T, history) {
	return func(t *testing.T, h history) {
		for _, r := range h.of("LIST") {
			if r.Objects != entries || int(r.Requests) != pages {
				t.Fatalf("a listing of %d entries on %d pages, want %d on %d", r.Objects, r.Requests, entries, pages)
			}
		}
	}
}

// TestSizesAndFlags runs large objects and flags of operations against every store, with its
// default engine.
func TestSizesAndFlags(t *testing.T) {
	t.Parallel()
	for _, name := range teststore.Names() {
		for _, size := range []string{small, large} {
			t.Run(name+"/"+size, func(t *testing.T) {
				t.Parallel()
				s := stores.Shared(t, name)
				for _, j := range jobs(size) {
					if size == small && j.name == j.args[0] {
						continue // without flags it is a row of TestMatrix
					}
					t.Run(j.name, func(t *testing.T) { j.run(t, s, size == small) })
				}
			})
		}
	}
}

// durations are tried in order until a run has done enough to be judged, since the speed of the
// machine is unknown.
var durations = []string{"--duration=300ms", "--duration=2s", "--duration=10s", "--duration=1m"}

// run runs the job, with the report as JSON or as text.
func (j job) run(t *testing.T, s *teststore.Store, asJSON bool) {
	var b *bed
	var o outcome
	var log string
	var format []string
	if asJSON {
		format = []string{"--json"}
	}
	for _, d := range durations {
		b = newBed(t, s)
		args := append(j.args[:1:1], d)
		o, log = b.run(append(append(args, j.args[1:]...), format...)...)
		if o.code != 0 || j.enough(readLog(t, log), asJSON) {
			break
		}
		b.clean(t)
	}
	o.want(t, 0)
	o.sameAsAnalyze(t, log, format...)
	h := readLog(t, log)
	j.check(t, o, h)
	agree(t, b.proxy, h)
	if j.wire != nil {
		j.wire(t, b)
	}
	b.clean(t)
	t.Logf("works: %s", summary(h))
}

// enough reports whether a run did everything, and small objects more than a few times.
func (j job) enough(h history, small bool) bool {
	for _, op := range j.ops {
		if n := len(h.of(op)); n == 0 || small && n < 5 && op != "DELETE" {
			return false
		}
	}
	return true
}

// check checks everything that log and report of a run without faults must satisfy.
func (j job) check(t *testing.T, o outcome, h history) {
	t.Helper()
	if n := errorsIn(h.rows); n > 0 {
		t.Fatalf("%d requests failed: %s", n, o)
	}
	for _, op := range j.ops {
		if len(h.of(op)) == 0 {
			t.Errorf("no %s in the log", op)
		}
	}
	if len(h.warnings) > 0 || h.trailer.End != "completed" {
		t.Errorf("the log ends %q, with warnings %q", h.trailer.End, h.warnings)
	}
	if strings.HasPrefix(o.out, "{") {
		r := o.report(t)
		for _, op := range r.Operations {
			if op.Errors != 0 || op.Requests == 0 || int(op.Requests) != len(h.of(op.Op)) {
				t.Errorf("%s: the report has %d requests and %d errors, the log %d rows", op.Op, op.Requests, op.Errors, len(h.of(op.Op)))
			}
		}
	}
	if j.also != nil {
		j.also(t, h)
	}
}

func summary(h history) string {
	var parts []string
	for _, op := range []string{"GET", "STAT", "PUT", "POST", "DELETE", "LIST", "RETENTION"} {
		if n := len(h.of(op)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, op))
		}
	}
	return strings.Join(parts, ", ")
}

// TestMatrixOfTheBuiltInStore runs every operation with --host=embedded.
func TestMatrixOfTheBuiltInStore(t *testing.T) {
	t.Parallel()
	for _, size := range []string{small, large} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			for _, j := range jobs(size) {
				t.Run(j.name, func(t *testing.T) {
					var o outcome
					var log string
					for i, d := range durations {
						data := filepath.Join(t.TempDir(), fmt.Sprint(i))
						log = data + ".csv.zst"
						args := append(j.args[:1:1], "--host=embedded", "--benchdata="+data, d)
						o = measured(func() outcome { return warp(append(args, j.args[1:]...)...) }).want(t, 0)
						if j.enough(readLog(t, log), size == small) {
							break
						}
					}
					o.sameAsAnalyze(t, log)
					h := readLog(t, log)
					j.check(t, o, h)
					t.Logf("works: %s", summary(h))
				})
			}
		})
	}
}
