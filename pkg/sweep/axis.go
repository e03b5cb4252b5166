// Package sweep works with benchmarks that are run at many points: the axes and the order of the points, the figures at
// each point, what follows from them, the fit of the Universal Scalability Law, and the comparison of two sweeps. It knows
// nothing of how runs are made.
package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// An Axis is a flag with its values.
type Axis struct {
	Flag   string   `json:"flag"`
	Values []string `json:"values"` // as in a command line
	// Numbers are the values as numbers: bytes, seconds, or what the flag counts. They are nil if the values are text.
	Numbers []float64 `json:"numbers,omitempty"`
}

// Concurrency is the flag of the number of workers.
const Concurrency = "concurrent"

// A Kind reads and writes the values of a flag as numbers. Its functions are nil for flags whose values are text. A list may
// have values that are not numbers; then all of them are text.
type Kind struct {
	Parse  func(string) (float64, error)
	Format func(float64) string
	Whole  bool // only whole numbers are values
	// HasCommas reports whether a text is one value whose commas separate no values; nil = no value has commas of its own.
	HasCommas func(string) bool
}

// Limits of a sweep.
const (
	maxAxes   = 2
	MaxPoints = 1000
)

// ParseAxes reads axes: each text is FLAG=VALUES. Values are a list a,b,c, or a range of numbers: FROM..TOxFACTOR or
// FROM..TO+STEP. A flag that occurs more than once has one value each time, which may contain commas. kind returns the kind
// of a flag, or an error if the flag cannot be varied.
func ParseAxes(texts []string, kind func(flag string) (Kind, error)) (axes []Axis, err error) {
	given := map[string][]string{}
	var flags []string
	for _, text := range texts {
		flag, values, ok := strings.Cut(strings.TrimLeft(text, "-"), "=")
		if !ok || flag == "" || values == "" {
			return nil, fmt.Errorf("%q is not FLAG=VALUES, such as concurrent=1..64x2 or obj.size=4KiB,1MiB", text)
		}
		if given[flag] == nil {
			flags = append(flags, flag)
		}
		given[flag] = append(given[flag], values)
	}
	if len(flags) > maxAxes {
		return nil, fmt.Errorf("%d flags are varied, and a sweep has at most two: %s", len(flags), strings.Join(flags, ", "))
	}
	points := 1
	for _, flag := range flags {
		k, err := kind(flag)
		if err != nil {
			return nil, err
		}
		a := Axis{Flag: flag}
		if a.Values, err = valuesOf(given[flag], k); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		if err := a.number(k); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		axes = append(axes, a)
		if points *= len(a.Values); points > MaxPoints {
			return nil, fmt.Errorf("%d points are more than %d", points, MaxPoints)
		}
	}
	return axes, nil
}

// valuesOf returns the values of a flag that was given with these texts.
func valuesOf(texts []string, k Kind) ([]string, error) {
	if len(texts) > 1 {
		return texts, nil
	}
	if text := texts[0]; k.Parse != nil && strings.Contains(text, "..") && !strings.Contains(text, ",") {
		return rangeOf(text, k)
	}
	if k.HasCommas != nil && strings.Contains(texts[0], ",") && k.HasCommas(texts[0]) {
		return nil, fmt.Errorf("%q is one value with commas, which would be split at them; give each value a --vary of its own", texts[0])
	}
	return strings.Split(texts[0], ","), nil
}

// rangeOf returns the values of a range.
func rangeOf(text string, k Kind) (values []string, err error) {
	from, rest, _ := strings.Cut(text, "..")
	at := strings.LastIndexAny(rest, "x+")
	if at <= 0 || at == len(rest)-1 {
		return nil, fmt.Errorf("%q has no step: write FROM..TOxFACTOR or FROM..TO+STEP, such as %sx2", text, text)
	}
	geometric := rest[at] == 'x'
	low, err := k.Parse(from)
	if err != nil {
		return nil, err
	}
	high, err := k.Parse(rest[:at])
	if err != nil {
		return nil, err
	}
	step, err := stepOf(rest[at+1:], geometric, k)
	switch {
	case err != nil:
		return nil, err
	case high < low:
		return nil, fmt.Errorf("%q ends below its start", text)
	case geometric && (low <= 0 || step <= 1):
		return nil, fmt.Errorf("%q needs a start above 0 and a factor above 1", text)
	case !geometric && step <= 0:
		return nil, fmt.Errorf("%q needs a step above 0", text)
	}
	for i := 0; ; i++ {
		x := low + float64(i)*step
		if geometric {
			x = low * math.Pow(step, float64(i))
		}
		if x > high*(1+1e-9) {
			return values, nil
		}
		if k.Whole {
			x = math.Round(x)
		}
		if value := k.Format(x); len(values) == 0 || values[len(values)-1] != value {
			values = append(values, value)
		}
		if i >= MaxPoints {
			return nil, fmt.Errorf("%q has more than %d values", text, MaxPoints)
		}
	}
}

// stepOf reads the factor or the step of a range.
func stepOf(text string, geometric bool, k Kind) (float64, error) {
	if !geometric {
		return k.Parse(text)
	}
	var factor float64
	if n, err := fmt.Sscanf(text+" ", "%g ", &factor); n != 1 || err != nil || math.IsInf(factor, 0) || math.IsNaN(factor) {
		return 0, fmt.Errorf("%q is not a factor", text)
	}
	return factor, nil
}

// number checks the values, and sets their numbers.
func (a *Axis) number(k Kind) error {
	for i, v := range a.Values {
		if v == "" {
			return fmt.Errorf("a value is empty")
		}
		if slices.Contains(a.Values[:i], v) {
			return fmt.Errorf("%s occurs twice", v)
		}
		if k.Parse == nil {
			continue
		}
		x, err := k.Parse(v)
		if err != nil { // another kind of value, such as a range of sizes, or a mistake that the flag refuses
			k.Parse, a.Numbers = nil, nil
			continue
		}
		if slices.Contains(a.Numbers, x) {
			return fmt.Errorf("%s occurs twice", v)
		}
		a.Numbers = append(a.Numbers, x)
	}
	return nil
}

// Points returns the number of points of the axes.
func Points(axes []Axis) int {
	n := 1
	for _, a := range axes {
		n *= len(a.Values)
	}
	return n
}

// Place returns the index of a point's value on each axis. The last axis varies fastest.
func Place(axes []Axis, point int) []int {
	place := make([]int, len(axes))
	for i := len(axes) - 1; i >= 0; i-- {
		place[i] = point % len(axes[i].Values)
		point /= len(axes[i].Values)
	}
	return place
}

// Values returns the value of each axis at a point.
func Values(axes []Axis, point int) (values []string) {
	for i, k := range Place(axes, point) {
		values = append(values, axes[i].Values[k])
	}
	return values
}
