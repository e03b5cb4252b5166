// Package human formats numbers for people: durations, sizes, rates, and counts with
// their nouns.
package human

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Millis formats a duration in ms with three significant digits, in the unit that fits,
// since a fast store answers in µs.
func Millis(ms float64) string {
	ns := ms * 1e6
	if ns == 0 {
		return "0s"
	}
	if math.Abs(ns) >= 59.95e9 {
		return Duration(time.Duration(ns).Round(time.Second))
	}
	// Rounding comes first: 999.7µs is 1.00ms and not 1000µs.
	ns = Rounded(ns, 3)
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

// digits3 formats 1 ≤ |x| < 1000 with three significant digits.
func digits3(x float64) string {
	switch a := math.Abs(x); {
	case a < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// Duration formats a duration without zero parts: 1m, 1h, 1m30s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Brief formats a duration in tenths of seconds below ten seconds, and in whole seconds
// above.
func Brief(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return Duration(d.Round(time.Second))
}

// Thousandths rounds to three decimals. NaN and infinities become 0, since JSON has
// none.
func Thousandths(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return math.Round(f*1000) / 1000
}

// Seconds formats a number of seconds like 1m0s or 7.04s.
func Seconds(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	if d < 9950*time.Millisecond {
		return Millis(seconds * 1e3)
	}
	return d.Round(time.Second).String()
}

// MiB is 2^20 bytes.
const MiB = 1 << 20

// A RateUnit is a unit for bytes per second. All rates of one block have the same unit,
// so that they can be compared at a glance.
type RateUnit struct {
	name string
	size float64
}

// AverageUnit returns the unit of averages: MiB/s, as scripts expect, or a smaller one
// if the largest average would be rounded to 0.
func AverageUnit(largest float64) RateUnit {
	switch a := math.Abs(largest); {
	case a >= MiB/10 || a == 0:
		return RateUnit{"MiB/s", MiB}
	case a >= 100:
		return RateUnit{"KiB/s", 1024}
	}
	return RateUnit{"B/s", 1}
}

// Average formats a throughput with two decimals.
func (u RateUnit) Average(bytes, objects float64, hasBytes bool) string {
	obj := decimals(objects, 2) + " obj/s"
	if !hasBytes {
		return obj
	}
	return decimals(bytes/u.size, 2) + " " + u.name + ", " + obj
}

// decimals formats a number with the given digits after the point. A number that is
// not 0 gets as many as it needs to differ from 0.00.
func decimals(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if x != 0 && strings.Trim(s, "-0.") == "" {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return s
}

// Throughput formats a single average in the unit that fits.
func Throughput(bytes, objects float64, hasBytes bool) string {
	return AverageUnit(bytes).Average(bytes, objects, hasBytes)
}

// Rate formats bytes per second in the unit of averages that fits.
func Rate(bytes float64) string {
	u := AverageUnit(bytes)
	return decimals(bytes/u.size, 2) + " " + u.name
}

// SegmentUnit returns the unit that shows at least two digits before the point of
// the next smaller one.
func SegmentUnit(largest float64) RateUnit {
	switch {
	case largest >= 10<<30:
		return RateUnit{"GiB/s", 1 << 30}
	case largest >= 2*MiB:
		return RateUnit{"MiB/s", MiB}
	case largest >= 2048:
		return RateUnit{"KiB/s", 1024}
	}
	return RateUnit{"B/s", 1}
}

// Segment formats a throughput without a space before the unit, as minio/warp formats
// averages of segments.
func (u RateUnit) Segment(bytes, objects, largest float64, hasBytes bool) string {
	obj := decimals(objects, 2) + " obj/s"
	if !hasBytes {
		return obj
	}
	return u.Value(bytes, largest) + ", " + obj
}

// Value formats a throughput that is compared with others. If the largest has one digit
// before the point, there are two after it.
func (u RateUnit) Value(bytes, largest float64) string {
	digits := 1
	if largest < 10*u.size && u.size > 1 {
		digits = 2
	}
	return decimals(bytes/u.size, digits) + u.name
}

// Speed formats the throughput of single requests.
func (u RateUnit) Speed(bytes float64) string { return decimals(bytes/u.size, 1) + u.name }

// Size returns the bytes per second of one of the unit.
func (u RateUnit) Size() float64 { return u.size }

// Name returns the name of the unit, such as MiB/s.
func (u RateUnit) Name() string { return u.name }

// Digits formats bytes per second without the unit.
func (u RateUnit) Digits(bytes float64) string { return decimals(bytes/u.size, 1) }

// Bytes formats a size.
func Bytes(n float64) string {
	for _, u := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if n < 1024 {
			return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") + " " + u
		}
		n /= 1024
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " PiB"
}

// Grouped formats a number with commas between thousands.
func Grouped[N int | int64 | uint64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// PerSecond formats a number per second, without decimals above a hundred.
func PerSecond(x float64) string {
	if x >= 100 {
		return Grouped(uint64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// Number formats a number with that many digits, but with all of those before the decimal point, in groups.
func Number(x float64, digits int) string {
	if math.Abs(x) >= 1000 {
		return Grouped(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// Rounded rounds a number to that many significant digits.
func Rounded(x float64, digits int) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // it was written just now
	return x
}

// Sparkline draws values from 0 to the largest. If there are more values than the width,
// a character shows the smallest of several, so that a stall does not disappear.
func Sparkline(values []float64, width int) string {
	n := min(len(values), max(0, width))
	lows, highest := make([]float64, n), 0.0
	for i := range lows {
		lows[i] = slices.Min(values[i*len(values)/n : (i+1)*len(values)/n])
		highest = max(highest, lows[i])
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range lows {
		level := 0
		if highest > 0 {
			level = min(max(int(v/highest*float64(len(levels))), 0), len(levels)-1)
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}
