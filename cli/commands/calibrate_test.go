package commands

import (
	"strings"
	"testing"
	"unicode/utf8"

	"warp/internal/check"
	"warp/pkg/calibrate"
)

// The table fits into the terminal, and always has the client's share.
func TestCalibrationTable(t *testing.T) {
	t.Parallel()
	ms, share := 10.453, .42
	c := &calibrate.Report{Cores: 2, Points: []calibrate.Point{
		{Op: "STAT", SizeBytes: 1 << 10, Concurrency: 64, RequestsPerS: 151234, P50MS: &ms, P99MS: &ms, CPUPerReqUS: 9.9, ClientShare: &share},
		{Op: "PUT", SizeBytes: 10 << 20, Concurrency: 8, RequestsPerS: 86, BytesPerS: 1 << 30, P50MS: &ms, CPUPerReqUS: 10875.7},
	}}
	for width, titles := range map[int]string{
		60:  "op size workers requests/s GiB/s p99 [ms] client",
		80:  "op size workers requests/s GiB/s p50 [ms] p99 [ms] CPU/req client",
		120: "op size workers requests/s GiB/s p50 [ms] p99 [ms] CPU/req client",
		0:   "op size workers requests/s GiB/s p50 [ms] p99 [ms] CPU/req client",
	} {
		var b strings.Builder
		check.OK(t, writeCalibration(&b, c, width))
		lines := strings.Split(b.String(), "\n")[2:5]
		if got := strings.Join(strings.Fields(lines[0]), " "); got != titles {
			t.Errorf("%d columns: %q, want %q", width, got, titles)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); width > 0 && n > width {
				t.Errorf("%d columns: %d in %q", width, n, line)
			}
		}
		if !strings.HasSuffix(lines[1], " 42 %") || !strings.HasSuffix(lines[2], " -") {
			t.Errorf("%d columns: %q", width, lines)
		}
	}
}
