package report

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/report/printer"
	"warp/pkg/workload"
)

// profile returns a profile that uses all fields.
func profile() *workload.Profile {
	exponent := .93
	return &workload.Profile{
		Version: workload.Version, Kind: workload.Kind, Formats: []string{"S3 server access log"},
		Notes: []string{"The times of the log are whole seconds. Requests are spread at random within their second, so gaps below a second are not from the log."},
		Lines: workload.Lines{Read: 1_234_600, Unreadable: 3, LeftOut: 29}, DurationS: 3600, Requests: 1_234_568, Errors: 1200,
		Operations: []workload.Operation{
			{Op: workload.Get, Requests: 1_000_000, Share: .81, Objects: 1_000_000, Errors: 1200, Statuses: []workload.Status{{Status: 404, Requests: 1200}},
				Sizes: workload.Sizes{{Min: 4096, Max: 4096, Requests: 500_000}, {Min: 1 << 20, Max: 1<<20 + 100, Requests: 498_800}}},
			{Op: workload.Stat, Requests: 134_568, Share: .109, Objects: 134_568},
			{Op: workload.Put, Requests: 100_000, Share: .081, Objects: 100_000, Sizes: workload.Sizes{{Min: 5 << 30, Max: 5 << 30, Requests: 100_000}}},
		},
		Ranges: &workload.Ranges{Requests: 120_000, Share: .12, Sizes: workload.Sizes{{Min: 8 << 20, Max: 8 << 20, Requests: 120_000}}, Objects: workload.Sizes{{Min: 1 << 30, Max: 1 << 30, Requests: 120_000}}},
		Popularity: &workload.Popularity{Requests: 1_134_568, Keys: 345_678, Sampled: .27, Exponent: &exponent, ExponentError: .02, Objects: 350_123,
			Hottest: .42, HottestError: .013},
		Arrivals: workload.Arrivals{ResolutionS: 1, IntervalS: 900, Requests: []uint64{300_000, 100_000, 434_568, 400_000}, Gaps: workload.BurstyGaps,
			Dispersion: []workload.Dispersion{{IntervalS: 1, Index: 2.4, Intervals: 3540}, {IntervalS: 10, Index: 12.1, Intervals: 354}, {IntervalS: 60, Index: 44, Intervals: 59}}},
		Reuse: &workload.Reuse{Requests: 998_800, Bytes: 500 << 30, Objects: 400_000, Sampled: .25, FirstRequests: 300_000, FirstBytes: 100 << 30,
			Caches: []workload.Cache{{Size: 1 << 30, Requests: .2, RequestsError: .004, Bytes: .1, BytesError: .01}, {Size: 2 << 30, Requests: .7, RequestsError: .002, Bytes: .8, BytesError: .03}}},
	}
}

func TestProfileText(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		check.OK(t, ProfileText(&b, profile(), printer.Options{Width: width}))
		for line := range bytes.Lines(b.Bytes()) {
			if n := utf8.RuneCount(bytes.TrimSpace(line)); n > width {
				t.Errorf("a line has %d of %d characters: %s", n, width, line)
			}
		}
		fmt.Fprintf(&all, "width %d\n%s\n", width, b.Bytes())
	}
	check.Golden(t, "testdata/profile.txt", all.String())
}

func TestProfileTextOfLittle(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	check.OK(t, ProfileText(&b, &workload.Profile{Requests: 1, Operations: []workload.Operation{{Op: workload.Delete, Requests: 1, Share: 1}},
		Arrivals: workload.Arrivals{IntervalS: 1, Requests: []uint64{1}, Gaps: workload.UnknownGaps}}, printer.Options{}))
	if want := "1 request in 0s.\nArrivals: unknown, since the log is too short or has too few requests.\n\noperation  requests     share  errors  mean size  p50  p90  p99  max\nDELETE            1  100.00 %  0.00 %          –    –    –    –    –\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
