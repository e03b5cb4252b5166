package report

import (
	"fmt"
	"strings"
	"testing"
)

// The limits of a histogram are round, the first above the min and the last above the max.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shortest, longest int64
		want              string
	}{
		{12e5, 64e5, "[1500000 2000000 3000000 5000000 7000000]"},
		{2e6, 30e6, "[3000000 5000000 7000000 10000000 15000000 20000000 30000000 50000000]"},
		{3e5, 30e6, "[500000 1000000 2000000 5000000 10000000 20000000 50000000]"},
		{0, 2e11, "[100000 1000000 10000000 100000000 1000000000 10000000000 100000000000 1000000000000]"},
		{5, 5, "[7]"},
	} {
		if got := fmt.Sprint(limits(c.shortest, c.longest)); got != c.want {
			t.Errorf("%d to %d: %s, not %s", c.shortest, c.longest, got, c.want)
		}
	}
}

func TestBadHistogram(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "x", "HISTFAAA", strings.Repeat("A", maxEncoded+1)} {
		if Histogram(bad) != nil {
			t.Errorf("%.20q is taken for a histogram", bad)
		}
	}
}
