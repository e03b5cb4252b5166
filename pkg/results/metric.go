package results

import (
	"fmt"
	"slices"
	"strings"

	"warp/internal/exact"
	"warp/pkg/hostload"
)

// A Unit is the unit of a metric.
type Unit string

// The units of metrics.
const (
	BytesPerSecond   Unit = "bytes/s"
	ObjectsPerSecond Unit = "objects/s"
	Milliseconds     Unit = "ms"
	Share            Unit = "share" // 0 to 1
)

// A Metric is a figure with a name for use in assertions and in --judge.
type Metric struct {
	Name     string
	Unit     Unit
	Higher   bool // more is better
	MayBe0   bool // zero is an ordinary value, so ratios are meaningless
	Listed   bool // comparisons show it by default
	Quantile float64

	of   func(*Figures) (float64, bool)
	stat func(*Stats) float64 // of times, except on the wire; else nil
}

// Of returns the value of the metric, or false if the figures do not contain it.
func (m *Metric) Of(f *Figures) (float64, bool) { return m.of(f) }

// Figures are the input of metrics: an operation, all operations of a group, or the part of one
// host or client in an operation.
type Figures struct {
	Op string // "" = all operations of the group

	HasBytes               bool
	BytesPerS, ObjectsPerS float64
	Inside, Errors         uint64 // successful and failed requests that started in the window

	Duration, TTFB, Response, Wire *Stats   // nil if unknown
	ClientShare                    *float64 // of the workers' time; nil if unknown, and in an open loop
	SentLate                       bool     // see [Report.SentLate]
}

// Figures returns the figures of the operation.
func (o *Operation) Figures() Figures {
	return Figures{
		Op: o.Op, HasBytes: o.HasBytes(),
		BytesPerS: o.BytesPerS, ObjectsPerS: o.ObjectsPerS, Inside: o.Inside, Errors: o.Errors,
		Duration: o.Duration, TTFB: o.TTFB, Response: o.Response, Wire: o.Wire, ClientShare: o.ClientShare,
	}
}

// PartFigures returns the figures of one of the operation's hosts or clients.
func (o *Operation) PartFigures(p *Part) Figures {
	return Figures{
		Op: o.Op, HasBytes: o.HasBytes(),
		BytesPerS: p.BytesPerS, ObjectsPerS: p.ObjectsPerS, Inside: p.Inside, Errors: p.Errors,
		Duration: p.Duration, TTFB: p.TTFB, Wire: p.Wire,
	}
}

// Total returns the figures of the whole benchmark: of its only operation, or of all operations
// that ran at the same time. It returns false if there is no total: for a script with several
// statements, and if nothing was measured.
func (r *Report) Total() (Figures, bool) {
	group := r.MainGroup()
	if group < 0 {
		return Figures{}, false
	}
	ops := r.OperationsOf(group)
	if len(ops) == 1 {
		return ops[0].Figures(), true
	}
	g := &r.Groups[group]
	f := Figures{BytesPerS: g.BytesPerS, ObjectsPerS: g.ObjectsPerS, Errors: g.Errors, Duration: g.Duration, Response: g.Response, Wire: g.Wire, ClientShare: g.ClientShare}
	for _, o := range ops {
		f.HasBytes = f.HasBytes || o.HasBytes()
		f.Inside += o.Inside
	}
	return f, len(ops) > 0
}

// MainGroup returns the index of the group that the benchmark was run for, or -1 if there is none
// or more than one. In a log without windows, whose groups are derived, it is the last one; earlier
// groups prepare it.
func (r *Report) MainGroup() int {
	main, derived := -1, true
	for i := range r.Groups {
		if r.Groups[i].Kind == KindPreparation {
			continue
		}
		derived = derived && r.Groups[i].Kind != KindMeasured && r.Groups[i].Kind != KindStatement
		if main >= 0 && !derived {
			return -1
		}
		main = i
	}
	return main
}

// ClientCause says why the metric describes this machine rather than the store, by the kernel's time stamps; "" if it
// describes the store, or if there are no stamps.
func (m *Metric) ClientCause(f *Figures) string {
	late := f.Response != nil && f.SentLate
	switch {
	case f.Wire == nil || m.Unit == Share:
	case m.Unit != Milliseconds && late, strings.HasPrefix(m.Name, "response") && late:
		return "this machine sent requests late"
	case m.Unit != Milliseconds && f.ClientShare != nil && ClientsThroughput(*f.ClientShare):
		return fmt.Sprintf("this machine limited it: the workers spent %.0f %% of the time between requests", 100**f.ClientShare)
	case m.stat != nil && f.Duration != nil:
		if time, wire := m.stat(f.Duration), m.stat(f.Wire); ClientsTime(time, wire) {
			return fmt.Sprintf("%.0f %% of the service time of that figure is this machine's", 100*(time-wire)/time)
		}
	}
	return ""
}

// WithoutClient returns the value that the metric would have had with an infinitely fast client: of times exactly, of the
// throughput at most. Without stamps it returns the value as it is.
func (m *Metric) WithoutClient(f *Figures) (value float64, ok bool) {
	value, ok = m.of(f)
	switch {
	case !ok || f.Wire == nil:
	case m.stat != nil && f.Duration != nil:
		value -= max(m.stat(f.Duration)-m.stat(f.Wire), 0)
	case m.Unit != Milliseconds && m.Unit != Share && f.ClientShare != nil:
		value *= 1 + min(Gain(*f.ClientShare), maxGain)
	}
	return value, ok
}

// ClientLimits returns the warnings that the client was the limit.
func (r *Report) ClientLimits() []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return !hostload.IsLimit(w) })
}

// Metrics returns all metrics, in the order of tables.
func Metrics() []Metric {
	all := []Metric{
		{Name: "throughput", Unit: BytesPerSecond, Higher: true, Listed: true,
			of: func(f *Figures) (float64, bool) { return f.BytesPerS, f.HasBytes }},
		{Name: "objs", Unit: ObjectsPerSecond, Higher: true, Listed: true,
			of: func(f *Figures) (float64, bool) { return f.ObjectsPerS, true }},
	}
	all = append(all, distribution("", true, func(f *Figures) *Stats { return f.Duration })...)
	all = append(all, distribution("ttfb", false, func(f *Figures) *Stats { return f.TTFB })...)
	all = append(all, distribution("response", false, func(f *Figures) *Stats { return f.Response })...)
	all = append(all, distribution("wire", false, func(f *Figures) *Stats { return f.Wire })...)
	return append(all, Metric{Name: "errors", Unit: Share, MayBe0: true, Listed: true, of: func(f *Figures) (float64, bool) {
		n := f.Inside + f.Errors
		return exact.Ratio(float64(f.Errors), float64(n)), n > 0
	}})
}

// distribution returns the metrics of durations. Metrics of the service time have no prefix. The mean
// of the others has only their name.
func distribution(name string, listed bool, of func(*Figures) *Stats) (all []Metric) {
	for _, m := range []struct {
		name     string
		quantile float64
		of       func(*Stats) float64
	}{
		{"mean", 0, func(s *Stats) float64 { return s.Mean }},
		{"p50", .5, func(s *Stats) float64 { return s.P50 }},
		{"p90", .9, func(s *Stats) float64 { return s.P90 }},
		{"p99", .99, func(s *Stats) float64 { return s.P99 }},
		{"p99.9", .999, func(s *Stats) float64 { return s.P999 }},
		{"max", 0, func(s *Stats) float64 { return s.Max }},
	} {
		metric := Metric{Name: strings.TrimPrefix(name+"."+m.name, "."), Unit: Milliseconds, Quantile: m.quantile,
			Listed: listed || m.name == "mean" && name != "wire" || name == "response" && m.name == "p99"}
		if name != "" && m.name == "mean" {
			metric.Name = name
		}
		if name != "wire" {
			metric.stat = m.of
		}
		metric.MayBe0 = name == "ttfb" || name == "wire"
		metric.of = func(f *Figures) (float64, bool) {
			s := of(f)
			if s == nil {
				return 0, false
			}
			return m.of(s), true
		}
		all = append(all, metric)
	}
	return all
}

// FindMetric finds a metric by its name.
func FindMetric(name string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}
