package conformance

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/teststore"
)

// TestMeasuredParts checks that n parts at a time are n times as fast as one, where each connection is limited, up to the
// limit of all connections together: the time of an object is its size divided by min(n·r, cap).
func TestMeasuredParts(t *testing.T) {
	measuring(t)
	const mib = 1 << 20
	store := teststore.Start(t, teststore.Embedded, teststore.Options{}).Endpoint
	for _, c := range []struct {
		row  string
		rate float64       // MiB/s of a connection; all together have five times as much
		one  time.Duration // that an object takes in one part at a time
		off  time.Duration // percent by which the time may be off; uploads also prepare and complete each part
		args func(host string, n int) []string
	}{
		{"DOWNLOAD", 4, 4 * time.Second, 5, func(host string, n int) []string {
			return []string{"get", "--host=" + host, "--split.size=2MiB", fmt.Sprintf("--split.concurrent=%d", n), "--split.head", "--obj.size=16MiB",
				"--objects=1", "--epochs=1"}
		}},
		{"UPLOAD", 5, 8 * time.Second, 20, func(host string, n int) []string {
			return []string{"multipart-put", "--host=" + host, "--parts=8", "--part.size=5MiB", fmt.Sprintf("--part.concurrent=%d", n), "--max-objects=1", "--disable-sha256-payload"}
		}},
	} {
		caps := teststore.Cap{Each: c.rate * mib, All: 5 * c.rate * mib}
		host := teststore.Capped(t, store, caps, teststore.Cap{})
		if c.row == "UPLOAD" {
			host = teststore.Capped(t, store, teststore.Cap{}, caps)
		}
		for _, n := range []int{1, 2, 4, 8} {
			expected, fastest := c.one/time.Duration(min(n, 5)), time.Duration(0)
			for range 6 { // a busy machine makes some slower, and none faster
				log := filepath.Join(t.TempDir(), "log")
				warp(append(c.args(host, n), "--concurrent=1", "--access-key=access", "--secret-key=secretsecret", "--benchdata="+log)...).want(t, 0)
				for _, r := range readLog(t, log+".csv.zst").of(c.row) {
					if d := time.Duration(r.End() - r.Start); fastest == 0 || d < fastest {
						fastest = d
					}
				}
				if fastest <= expected*(100+c.off)/100 {
					break
				}
			}
			if fastest < expected*(100-c.off)/100 || fastest > expected*(100+c.off)/100 {
				t.Errorf("%s in %d parts at a time took %v, want %v", c.row, n, fastest, expected)
			}
			t.Logf("%s, %2d at a time: %v", c.row, n, fastest.Round(time.Millisecond))
		}
	}
}
