package live

import (
	"fmt"
	"math"
	"time"
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

// latency formats three significant digits; "-" if nothing was measured.
func latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d >= time.Second:
		return threeDigits(d.Seconds()) + "s"
	case d >= time.Millisecond:
		return threeDigits(d.Seconds()*1e3) + "ms"
	default:
		return threeDigits(d.Seconds()*1e6) + "µs"
	}
}

func threeDigits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}
