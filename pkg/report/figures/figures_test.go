package figures

import (
	"strings"
	"testing"

	"warp/internal/columns"
	"warp/pkg/results"
)

func lines(title string, rows []Row, list ...Figure) string {
	return strings.Join(columns.Fit(Columns(title, rows, Unit(rows), list...), 200, nil), "\n")
}

// A table leaves out what no row has, and shows what is unknown as unknown.
func TestColumns(t *testing.T) {
	t.Parallel()
	latency := &results.Stats{Mean: 2, P50: 1, P90: 3, P99: 4, P999: 5, Max: 6}
	p90 := 3.5
	rows := []Row{
		{Name: "GET", Requests: 12345, Errors: 1, Share: .996, BytesPerS: 3 << 20, ObjectsPerS: 300.4, HasBytes: true, Latency: latency, TTFB: latency},
		{Name: "STAT", Requests: 9, Share: .004, ObjectsPerS: 2, Untimed: true},
		{Name: "LIST", Share: 0, Averaged: &results.AveragedStats{Mean: 7, P90: &p90}},
	}
	for _, c := range []struct {
		rows []Row
		list []Figure
		want string
	}{
		{rows, Report(), `
op    errors  share  MiB/s  obj/s    mean     p50     p90     p99   p99.9     max  ttfb p50  ttfb p99  requests
GET        1   100%    3.0    300  2.00ms  1.00ms  3.00ms  4.00ms  5.00ms  6.00ms    1.00ms    4.00ms    12,345
STAT       0    <1%      -      -       -       -       -       -       -       -         -         -         9
LIST       0     0%      -    0.0  7.00ms       -       ≈3.50ms       -       -       -         -         -         0`},
		{rows[1:2], []Figure{Requests, Share, Bytes, P50, P99, MeanBytes}, `
op    requests  p99
STAT         9    -`},
		{[]Row{{Name: "GET", Response: &results.Stats{P50: 1, P99: 20, Max: 30, Unsent: 2, UnsentMin: 20}}}, []Figure{ResponseP50, ResponseP99, ResponseMax}, `
op   response p50  response p99  response max
GET        1.00ms      > 20.0ms      > 30.0ms`},
		{[]Row{{Name: "GET", HasBytes: true, BytesPerS: 5 << 30, MeanBytesPerS: 3 << 20}}, []Figure{Bytes, MeanBytes}, `
op    MiB/s  mean MiB/s
GET  5120.0         3.0`},
	} {
		if got := lines("op", c.rows, c.list...); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("got\n%s\nwant%s", got, c.want)
		}
	}
}
