package miniowarp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/compare"
	"warp/pkg/miniowarp"
	"warp/pkg/oplog/lines"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

const (
	sample    = "testdata/aggregated.json"
	sharedDir = "../../../shared/data"
)

func readAggregated(tb testing.TB, path, op string) *results.Report {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Skipf("the results of another implementation are not here: %v", err)
	}
	defer file.Close()
	text, err := lines.Decompress(file)
	check.OK(tb, err)
	defer text.Close()
	r, err := miniowarp.Read(text, op)
	check.OK(tb, err)
	return r
}

// TestAggregatedTruth compares with what minio/warp printed about its results.
func TestTruth(t *testing.T) {
	t.Parallel()
	r := readAggregated(t, filepath.Join(sharedDir, "mixed-aggregated.json.zst"), "")
	got := []string{}
	for _, op := range r.Operations {
		got = append(got, fmt.Sprintf("%s %.2f MiB/s %.2f obj/s, 99%% %.1f, %d requests", op.Op, op.BytesPerS/(1<<20), op.ObjectsPerS,
			*op.AveragedDuration.P99, op.Requests))
	}
	g := r.Groups[0]
	got = append(got, fmt.Sprintf("%.2f MiB/s %.2f obj/s %vs %d threads %s", g.BytesPerS/(1<<20), g.ObjectsPerS, g.WindowS, g.Concurrency, g.WindowBasis))
	// minio/warp printed 18.0, 18.1, 17.4 and 29.0 ms: averages of two periods that had 95 % and 5 % of the requests.
	want := []string{
		"GET 18.46 MiB/s 1181.30 obj/s, 99% 6.2, 11712 requests",
		"STAT 0.00 MiB/s 786.83 obj/s, 99% 6.2, 7809 requests",
		"PUT 6.16 MiB/s 394.29 obj/s, 99% 7.3, 3909 requests",
		"DELETE 0.00 MiB/s 261.57 obj/s, 99% 7.3, 2602 requests",
		"24.62 MiB/s 2623.99 obj/s 7s 8 threads aggregated",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	before, after := readAggregated(t, sample, "GET"), readAggregated(t, sample, "GET")
	after.Operations[0].AveragedDuration = nil
	after.Operations[0].Duration = &results.Stats{Count: 1, Mean: 1, P50: 1, P90: 1, P99: 1, Min: 1, Max: 1}
	c := compare.Reports(before, after).Operations[0]
	if c.Duration != nil || c.Averaged == nil || math.Abs(c.Averaged.Mean.Diff+1.8) > 1e-9 || c.Averaged.P50.Before != 2 {
		t.Errorf("percentiles of requests compared with averaged ones: %+v, %+v", c.Duration, c.Averaged)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	op := func(s string) string { return `{"v":2,"by_op_type":{"GET":` + s + `}}` }
	for _, c := range []struct{ text, want string }{
		{`{}`, "does not have the aggregated results"},
		{`{"version":2,"operations":[]}`, "does not have the aggregated results"},
		{`{"v":3,"by_op_type":{}}`, "version 3"},
		{`{"v":2,"by_op_type":{`, "cut off"},
		{`{"v":2,"by_op_type":{"GET":{"total`, "cut off"},
		{`{"v":2,"by_op_type":{}} x`, "damaged"},
		{`{"v":2,"by_op_type":[]}`, "an object is missing"},
		{op(`{"total_requests":-1}`), "-1 cannot be"},
		{op(`{"total_bytes":1e300}`), "1e+300 cannot be"},
		{op(`{"start_time":"9999-12-31T23:59:59Z"}`), "the year 9999 is impossible"},
		{op(`{"throughput":{"segmented":{"segments":[{}]}}}`), "segments have no length"},
		{op(`{"throughput":{"segmented":{"segments":[` + strings.Repeat("{},", 200_000) + `{}]}}}`), "more than 200000 entries"},
		{`{"x":` + strings.Repeat("[", 20_000), "max depth"},
	} {
		if r, err := miniowarp.Read(strings.NewReader(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, %v; want %q", c.text, r, err, c.want)
		}
	}
	endless := io.MultiReader(strings.NewReader(`{"x":"`), forever("0"))
	if _, err := miniowarp.Read(endless, ""); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a document without end: %v", err)
	}
}

// forever repeats itself without end.
type forever string

func (f forever) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = f[i%len(f)]
	}
	return len(b), nil
}

func FuzzRead(f *testing.F) {
	seed, err := os.ReadFile(sample)
	check.OK(f, err)
	f.Add(seed)
	f.Add([]byte(`{"v":2,"by_op_type":{"GET":null,"":{"throughput_by_host":{"":null},"first_errors":null}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := miniowarp.Read(strings.NewReader(string(b)), "")
		if err != nil {
			return
		}
		if err := printer.JSON(io.Discard, r); err != nil {
			t.Error(err)
		}
		if err := report.Text(io.Discard, r, printer.Options{Verbose: true}); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(compare.Reports(r, r)); err != nil {
			t.Error(err)
		}
	})
}
