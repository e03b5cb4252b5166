package conformance

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/teststore"

	"warp/pkg/results"
)

// TestEmbeddedMemory checks that the embedded store's limit ends a run with one line, and that the
// report is shown.
func TestEmbeddedMemory(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"put", "--obj.size=1MiB"},
		{"mixed", "--obj.size=1MiB", "--objects=20", "--put-distrib=90", "--delete-distrib=1"},
	} {
		data := filepath.Join(t.TempDir(), "run")
		o := warp(append(args, "--host=embedded", "--embedded.memory=64MiB", "--concurrent=4", "--duration=1m", "--benchdata="+data)...)
		o.want(t, 1).says(t, "the embedded store is full", "64MiB", "--embedded.memory")
		if !strings.Contains(o.out, "Operation: PUT") {
			t.Errorf("no report of the uploads: %s", o)
		}
		o.sameAsAnalyze(t, data+".csv.zst")
		h := readLog(t, data+".csv.zst")
		if puts := len(h.of("PUT")); puts < 20 || puts > 70 {
			t.Errorf("%d uploads of 1 MiB into 64 MiB", puts)
		}
		if h.trailer.End != "aborted" {
			t.Errorf("the log ends %q", h.trailer.End)
		}
	}
	// A run that cannot fit does not even start.
	o := warp("get", "--host=embedded", "--embedded.memory=32MiB", "--obj.size=1MiB", "--objects=100", "--duration=300ms", "--benchdata="+t.TempDir()+"/x")
	o.want(t, 2).says(t, "100 objects of 1MiB do not fit into the embedded store", "--obj.size")
}

// TestStress checks that without a log the report is made from memory, with the same definitions.
func TestStress(t *testing.T) {
	b := newBed(t, stores.Shared(t, teststore.Embedded))
	t.Chdir(t.TempDir()) // where a log without a name would be
	args := append(append([]string{"get"}, b.target()...), "--stress", "--objects=20", "--obj.size=4KiB", "--concurrent=4",
		"--duration=1s", "--json", "--rps-limit=100", "--analyze.v")
	o := warp(args...).want(t, 0)
	if files, _ := os.ReadDir("."); len(files) > 0 {
		t.Errorf("files were written: %v", files)
	}
	r := o.report(t)
	if put := operation(t, r, "PUT"); put.Requests != 20 || put.Errors != 0 {
		t.Errorf("%d uploads", put.Requests)
	}
	op := operation(t, r, "GET")
	if int(op.Requests) != b.sent("GET") || op.Errors != 0 || op.WindowBasis != results.Measured {
		t.Errorf("%d requests in the report, %d at the store; the window is %s", op.Requests, b.sent("GET"), op.WindowBasis)
	}
	if op.ObjectsPerS < 10 || op.ObjectsPerS > 130 { // a busy machine sends requests late
		t.Errorf("the rate is %g, want 100", op.ObjectsPerS)
	}
	near(t, "bytes/s", op.BytesPerS, op.ObjectsPerS*4096, 1e-3)
	if r.End != "completed" || r.Seed == 0 || math.Abs(r.Groups[op.Group].OfferedPerS-100) > 1 || op.Response == nil || op.Lag == nil {
		t.Errorf("the report lacks what a log would say: %s", o)
	}
	b.clean(t)
	if o := warp(append(args, "--benchdata=x")...); o.code != 2 {
		t.Errorf("--stress with --benchdata: %s", o)
	}
}
