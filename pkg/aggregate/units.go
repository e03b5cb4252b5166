package aggregate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// formatMS shows a duration in ms with three significant digits, in the unit
// that fits: a fast store answers in µs, and "0ms" would hide that.
func formatMS(ms float64) string {
	ns := ms * 1e6
	if ns == 0 {
		return "0s"
	}
	if math.Abs(ns) >= 59.95e9 {
		return shortDuration(time.Duration(ns).Round(time.Second))
	}
	// Rounding comes first: 999.7µs is 1.00ms and not 1000µs.
	ns, _ = strconv.ParseFloat(strconv.FormatFloat(ns, 'e', 2, 64), 64)
	switch a := math.Abs(ns); {
	case a < 1e3:
		return strconv.FormatFloat(math.Round(ns), 'f', -1, 64) + "ns"
	case a < 1e6:
		return digits3(ns/1e3) + "µs"
	case a < 1e9:
		return digits3(ns/1e6) + "ms"
	}
	return digits3(ns/1e9) + "s"
}

// digits3 shows 1 ≤ |x| < 1000 with three significant digits.
func digits3(x float64) string {
	switch a := math.Abs(x); {
	case a < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// shortDuration is a duration without parts that are zero: 1m, 1h, 1m30s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// formatRan shows how long something ran, like 1m0s or 7.04s.
func formatRan(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	if d < 9950*time.Millisecond {
		return formatMS(seconds * 1e3)
	}
	return d.Round(time.Second).String()
}

const mib = 1 << 20

// averageRate is in MiB/s with two decimals, as scripts expect, except where
// that would round to nothing.
func averageRate(bytes, objects float64, hasBytes bool) string {
	obj := fmt.Sprintf("%.2f obj/s", objects)
	if !hasBytes {
		return obj
	}
	return formatAverage(bytes) + ", " + obj
}

func formatAverage(bytes float64) string {
	switch a := math.Abs(bytes); {
	case a >= mib/10 || a == 0:
		return fmt.Sprintf("%.2f MiB/s", bytes/mib)
	case a >= 100:
		return fmt.Sprintf("%.2f KiB/s", bytes/1024)
	}
	return fmt.Sprintf("%.2f B/s", bytes)
}

// segmentRate is in the unit that shows at least two digits before the point
// of the next smaller one, without a space, as in averages of segments ever since.
func segmentRate(s *Segment, hasBytes bool) string {
	obj := fmt.Sprintf("%.2f obj/s", s.ObjectsPerS)
	if !hasBytes {
		return obj
	}
	return formatSpeed(s.BytesPerS) + ", " + obj
}

func formatSpeed(bytes float64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%.1fGiB/s", bytes/(1<<30))
	case bytes >= 2*mib:
		return fmt.Sprintf("%.1fMiB/s", bytes/mib)
	case bytes >= 2048:
		return fmt.Sprintf("%.1fKiB/s", bytes/1024)
	}
	return fmt.Sprintf("%.1fB/s", bytes)
}

// formatBytes is a size for people.
func formatBytes(n float64) string {
	for _, u := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if n < 1024 {
			return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") + " " + u
		}
		n /= 1024
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " PiB"
}
