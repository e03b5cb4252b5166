package assert

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// An Assertion is an assertion about a run, or about the change between runs.
type Assertion struct {
	Text   string        // as it was written, without blanks around it
	Every  time.Duration // judged in segments of this length; 0 is the whole window
	Share  float64       // share of the segments that must pass, above 0 and at most 1
	Op     string        // the operation in capitals; "" is the total
	Metric Metric
	Change bool    // the assertion is about the change of the metric from one set of runs to another
	Cmp    Compare // how the measured value relates to Limit
	Limit  float64 // in the base unit of the metric, or a fraction where Change is set
	Unit   Unit    // as written
}

// A Compare is a comparison.
type Compare string

// The comparisons.
const (
	Less      Compare = "<"
	LessEqual Compare = "<="
	More      Compare = ">"
	MoreEqual Compare = ">="
)

// holds compares a value with a limit.
func (c Compare) holds(value, limit float64) bool {
	switch c {
	case Less:
		return value < limit
	case LessEqual:
		return value <= limit
	case More:
		return value > limit
	}
	return value >= limit
}

// Upper reports whether the limit is an upper one.
func (c Compare) Upper() bool { return c == Less || c == LessEqual }

// A Family is a set of metrics that are measured in the same unit and way.
type Family int

// The families.
const (
	Throughput Family = iota // payload bytes/s
	Objects                  // objects/s
	Errors                   // share of the requests
	Recovery                 // time until the throughput was back after a mark
	LongestGap               // longest time without a success after a mark
	Duration                 // service time
	TTFB                     // time to first byte
	Response                 // response time of an open loop
	Wire                     // service time without the client's part
)

// isTime reports whether the family measures how long requests take.
func (f Family) isTime() bool { return f >= Duration }

// A Metric is a figure of a report.
type Metric struct {
	Family Family
	Stat   Stat    // of times
	Q      float64 // of Stat Percentile, above 0 and below 1
}

// A Stat is a statistic of many times.
type Stat int

// The statistics.
const (
	Mean Stat = iota
	Min
	Max
	Percentile
)

// familyNames has the names of families in assertions. The service time has none.
func familyNames() map[Family]string {
	return map[Family]string{Throughput: "throughput", Objects: "objs", Errors: "errors", Recovery: "recovery", LongestGap: "longest_gap", TTFB: "ttfb", Response: "response", Wire: "wire"}
}

// String returns the metric as it is written in assertions.
func (m Metric) String() string {
	name := familyNames()[m.Family]
	if !m.Family.isTime() || name != "" && m.Stat == Mean {
		return name
	}
	if name != "" {
		name += "."
	}
	switch m.Stat {
	case Mean:
		return "mean"
	case Min:
		return name + "min"
	case Max:
		return name + "max"
	}
	return name + "p" + percentText(m.Q)
}

// percentText returns a share in percent, rounded to hide floating-point noise.
func percentText(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e10)/1e8, 'f', -1, 64)
}

// needs returns the minimum number of requests for judging the metric. A
// percentile needs enough for a one-sided 95 % bound to exist: the chance that
// no request lies beyond it must be at most 5 %.
func (m Metric) needs() uint64 {
	if m.Stat != Percentile {
		return 1
	}
	q := max(m.Q, 1-m.Q)
	return uint64(math.Ceil(math.Log(.05)/math.Log(q) - 1e-9))
}

// A Unit is the unit in which a limit is written.
type Unit struct {
	Name  string
	Scale float64 // in base units
}

// The base units are ms, bytes/s, objects/s, and shares from 0 to 1.
func timeUnits() []Unit {
	return []Unit{{"ns", 1e-6}, {"us", 1e-3}, {"µs", 1e-3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}}
}

func rateUnits() []Unit {
	return []Unit{
		{"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12},
		{"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}, {"TiB/s", 1 << 40},
	}
}

// units returns the units in which the assertion may be written.
func (a *Assertion) units() []Unit {
	switch {
	case a.Change || a.Metric.Family == Errors:
		return []Unit{{"%", .01}}
	case a.Metric.Family == Throughput:
		return rateUnits()
	case a.Metric.Family == Objects:
		return []Unit{{"obj/s", 1}}
	}
	return timeUnits()
}

// Subject returns the operation and metric, such as GET.p99 or errors.
func (a *Assertion) Subject() string {
	s := a.Metric.String()
	if a.Op != "" {
		s = a.Op + "." + s
	}
	if a.Change {
		s += ".change"
	}
	return s
}

// Format formats a value in base units in the unit of the limit, so that the
// two are easy to compare.
func (a *Assertion) Format(value float64) string {
	text := digits(value / a.Unit.Scale)
	if a.Change && value > 0 {
		text = "+" + text
	}
	if a.Unit.Name == "%" {
		return text + a.Unit.Name
	}
	return text + " " + a.Unit.Name
}

// digits formats four significant digits, and all digits before the decimal
// point.
func digits(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if strings.Contains(s, "e") {
		return s
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
