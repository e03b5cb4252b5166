package svg

import (
	"fmt"
	"math"
	"strconv"

	"warp/internal/human"
)

// A Scale maps values to places from 0 to 1.
type Scale struct {
	min, max float64
	log      bool
	ticks    []tick
}

// A tick is a place on an axis, from 0 to 1, with its label.
type tick struct {
	at    float64
	label string
}

// FromZero returns a scale from 0 to above the largest value, with round ticks.
func FromZero(largest float64, label func(float64) string) Scale {
	if !(largest > 0) || math.IsInf(largest, 0) {
		largest = 1
	}
	step := niceStep(largest / 4)
	s := Scale{max: step * math.Ceil(largest/step*(1-1e-12))}
	s.every(step, label)
	return s
}

// Between returns a scale that covers two values, with round ticks.
func Between(lowest, highest float64, label func(float64) string) Scale {
	if !(highest > lowest) || math.IsInf(highest, 0) {
		return FromZero(highest, label)
	}
	step := niceStep((highest - lowest) / 4)
	s := Scale{min: step * math.Floor(lowest/step), max: step * math.Ceil(highest/step)}
	for i := 0; s.min+float64(i)*step <= s.max+step/2; i++ {
		s.tick(s.min+float64(i)*step, label(s.min+float64(i)*step))
	}
	return s
}

// Positions returns a scale of n places that are numbered from 1, for x from 0 to n-1.
func Positions(n int) Scale {
	s := Scale{max: float64(max(n-1, 1))}
	step := max(1, int(niceStep(float64(n)/8)))
	for i := 0; i < n; i++ {
		if number := i + 1; number == 1 || number%step == 0 {
			s.tick(float64(i), strconv.Itoa(number))
		}
	}
	return s
}

// niceStep returns the next of 1, 2, 2.5, 5 and 10 times a power of 10.
func niceStep(x float64) float64 { return next(x, 1, 2, 2.5, 5) }

// next returns the lowest of these multiples of a power of 10 that is not below x.
func next(x float64, multiples ...float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range multiples {
		if k*p >= x*(1-1e-9) {
			return k * p
		}
	}
	return 10 * p
}

func floor125(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{5, 2} {
		if k*p <= x*(1+1e-9) {
			return k * p
		}
	}
	return p
}

// LogMillis returns a logarithmic scale of durations in ms, with a tick for each decade, or for 1, 2 and 5 if there are few.
func LogMillis(lowest, highest float64) Scale {
	if !(lowest > 0) {
		lowest = 1e-3
	}
	highest = math.Max(highest, lowest*1.01)
	s := Scale{log: true, min: floor125(lowest), max: next(highest, 1, 2, 5)}
	steps := []float64{1}
	if s.max/s.min <= 200 {
		steps = []float64{1, 2, 5}
	}
	skip := 1
	if decades := math.Log10(s.max / s.min); decades > 6 {
		skip = 2
	}
	for e := int(math.Floor(math.Log10(s.min))); e <= int(math.Ceil(math.Log10(s.max))); e += skip {
		for _, k := range steps {
			v := k * math.Pow(10, float64(e))
			s.tick(v, tickMillis(v))
		}
	}
	return s
}

// tickMillis shows 1, 2 or 5 times a power of ten without needless digits.
func tickMillis(ms float64) string {
	for _, u := range []struct {
		ms   float64
		name string
	}{{1e3, " s"}, {1, " ms"}, {1e-3, " µs"}, {0, " ns"}} {
		if ms >= u.ms*(1-1e-9) {
			if u.ms == 0 {
				return short(ms*1e6) + u.name
			}
			return Number(ms/u.ms) + u.name
		}
	}
	return ""
}

// Seconds returns a scale of the time since the start.
func Seconds(length float64) Scale {
	s := Scale{max: math.Max(length, 1e-3)}
	step := niceStep(s.max / 6)
	for _, nice := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if s.max >= 6 && nice >= s.max/8 {
			step = nice
			break
		}
	}
	s.every(step, Elapsed)
	return s
}

// Places returns a scale with a place for each label, numbered from 0.
func Places(labels []string) Scale {
	s := Scale{max: math.Max(1, float64(len(labels)-1))}
	every := (len(labels) + 15) / 16
	for i, label := range labels {
		if i%every == 0 {
			s.tick(float64(i), label)
		}
	}
	return s
}

// Elapsed shows a time since the begin: 40 s, 2:30, 1:02:30.
func Elapsed(s float64) string {
	switch {
	case s < 60:
		return short(s) + " s"
	case s < 3600:
		return fmt.Sprintf("%d:%02d", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", int(s)/3600, int(s)/60%60, int(s)%60)
}

// short shows a number with at most four significant digits.
func short(x float64) string { return strconv.FormatFloat(human.Rounded(x, 4), 'f', -1, 64) }

// Number shows a number with separated thousands.
func Number(v float64) string {
	s := short(v)
	end := len(s)
	for i := range s {
		if s[i] == '.' {
			end = i
			break
		}
	}
	for i := end - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (s *Scale) at(v float64) float64 {
	if s.log {
		v = math.Max(v, s.min)
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	if s.max == s.min {
		return 0
	}
	return (v - s.min) / (s.max - s.min)
}

func (s *Scale) tick(v float64, label string) {
	if s.log && v < s.min*(1-1e-9) {
		return
	}
	if at := s.at(v); at >= -1e-9 && at <= 1+1e-9 {
		s.ticks = append(s.ticks, tick{at, label})
	}
}

// every adds ticks from 0 to the maximum.
func (s *Scale) every(step float64, label func(float64) string) {
	for i := 0; float64(i)*step <= s.max*(1+1e-9); i++ {
		s.tick(float64(i)*step, label(float64(i)*step))
	}
}

// KeepEnds removes all ticks but the first and the last.
func (s *Scale) KeepEnds() {
	if n := len(s.ticks); n > 2 {
		s.ticks = []tick{s.ticks[0], s.ticks[n-1]}
	}
}
