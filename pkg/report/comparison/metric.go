package comparison

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"warp/internal/human"
	"warp/pkg/compare"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// MetricText shows a metric in the unit that fits the largest of the compared values.
func MetricText(u results.Unit, x, largest float64) string {
	switch u {
	case results.BytesPerSecond:
		return human.SegmentUnit(largest).Value(x, largest)
	case results.ObjectsPerSecond:
		if largest >= 1000 {
			return fmt.Sprintf("%.0f/s", x)
		}
		return fmt.Sprintf("%.4g/s", x)
	case results.Share:
		return fmt.Sprintf("%.2f%%", 100*x)
	}
	return human.Millis(x)
}

// Values shows a metric before and after, in the same unit.
func Values(u results.Unit, before, after float64) (string, string) {
	largest := max(before, after)
	return MetricText(u, before, largest), MetricText(u, after, largest)
}

// Medians shows the medians of a metric before and after.
func Medians(r *compare.Row) (before, after string) {
	return Values(r.Unit, r.Before.Median, r.After.Median)
}

// spread shows the spread of a median, always as wide as the column needs.
func spread(s compare.Sample) string {
	if s.Spread == nil {
		return ""
	}
	text := fmt.Sprintf("±%.*f%%", digitsOf(*s.Spread), *s.Spread)
	return " " + strings.Repeat(" ", max(0, 5-utf8.RuneCountInString(text))) + text
}

func withoutSpread(cell string) string {
	value, _, _ := strings.Cut(cell, "±")
	return strings.TrimRight(value, " ")
}

// digitsOf returns the number of meaningful digits of a percentage.
func digitsOf(percent float64) int {
	if math.Abs(percent) < 9.95 {
		return 1
	}
	return 0
}

// signed shows a change from a value, which is nil if the value was 0.
func signed(percent *float64, same bool) string {
	if same {
		return orText(percent, "0.0%")
	}
	return orText(percent, "new")
}

// interval shows the interval of a change.
func interval(low, high *float64) string {
	return orText(low, "-∞") + "…" + orText(high, "+∞")
}

// orText shows a change, or another text if it is nil.
func orText(percent *float64, other string) string {
	if percent == nil {
		return other
	}
	return fmt.Sprintf("%+.1f%%", *percent)
}

func probability(p float64) string {
	if p < .0001 {
		return "<.0001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.4f", p), "0")
}

// twoDigits shows a number with two significant digits, and without an exponent.
func twoDigits(x float64) string { return printer.Float(human.Rounded(x, 2)) }
