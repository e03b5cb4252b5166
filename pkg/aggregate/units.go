package aggregate

import (
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

// A rateUnit is what bytes per second are shown in. All rates of one block have
// the same, so that they can be compared at a glance.
type rateUnit struct {
	name string
	size float64
}

// averageUnit is the unit of averages: MiB/s, as scripts expect, except where
// the largest of them would round to nothing.
func averageUnit(largest float64) rateUnit {
	switch a := math.Abs(largest); {
	case a >= mib/10 || a == 0:
		return rateUnit{"MiB/s", mib}
	case a >= 100:
		return rateUnit{"KiB/s", 1024}
	}
	return rateUnit{"B/s", 1}
}

// average shows throughput with two decimals.
func (u rateUnit) average(bytes, objects float64, hasBytes bool) string {
	obj := decimals(objects, 2) + " obj/s"
	if !hasBytes {
		return obj
	}
	return decimals(bytes/u.size, 2) + " " + u.name + ", " + obj
}

// decimals shows a number with so many digits after the point, or more where it
// would be zero otherwise and is not: a rate of 0.00 would say that nothing was
// done.
func decimals(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if x != 0 && strings.Trim(s, "-0.") == "" {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return s
}

func averageRate(bytes, objects float64, hasBytes bool) string {
	return averageUnit(bytes).average(bytes, objects, hasBytes)
}

func formatAverage(bytes float64) string {
	u := averageUnit(bytes)
	return decimals(bytes/u.size, 2) + " " + u.name
}

// segmentUnit is the unit that shows at least two digits before the point of
// the next smaller one.
func segmentUnit(largest float64) rateUnit {
	switch {
	case largest >= 10<<30:
		return rateUnit{"GiB/s", 1 << 30}
	case largest >= 2*mib:
		return rateUnit{"MiB/s", mib}
	case largest >= 2048:
		return rateUnit{"KiB/s", 1024}
	}
	return rateUnit{"B/s", 1}
}

// segment shows throughput without a space, as in averages of segments ever
// since. Where the largest has one digit before the point, there are two behind.
func (u rateUnit) segment(s *Segment, largest float64, hasBytes bool) string {
	obj := decimals(s.ObjectsPerS, 2) + " obj/s"
	if !hasBytes {
		return obj
	}
	digits := 1
	if largest < 10*u.size && u.size > 1 {
		digits = 2
	}
	return decimals(s.BytesPerS/u.size, digits) + u.name + ", " + obj
}

func (u rateUnit) speed(bytes float64) string { return decimals(bytes/u.size, 1) + u.name }

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
