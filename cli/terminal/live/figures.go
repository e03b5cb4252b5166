package live

import (
	"fmt"
	"math"
	"time"

	"warp/internal/human"
	"warp/pkg/report/figures"
)

// rate writes a number per second with about four digits.
func rate(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "0"
	case f >= 100 || f == 0:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}

// latency shows a duration; "-" if nothing was measured.
func latency(d time.Duration) string {
	if d <= 0 {
		return figures.None
	}
	return human.Millis(d.Seconds() * 1e3)
}
