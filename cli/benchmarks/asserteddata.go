package benchmarks

import (
	"slices"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/internal/human"
	"warp/pkg/assert"
	"warp/pkg/bench"
)

// withoutPayload returns the requests without a throughput in bytes: they move no payload, or only
// the rows of their parts count it.
func withoutPayload() []string {
	return []string{"STAT", "LIST", "DELETE", "RETENTION", "PUTTAGS", "GETTAGS", "DELETETAGS", "UPLOAD", "DOWNLOAD", "COMPLETE", "ABORT"}
}

// A measurable describes which figures the report of a run will have.
type measurable struct {
	requests []string
	openLoop bool
	duration time.Duration // 0 = not limited
}

// measurable is about a benchmark whose own flags were checked.
func (f *Flags) measurable(b benchmark) measurable {
	m := measurable{b.requests, b.scheduled || f.like || f.rps > 0 || len(f.shape.stages) > 0, f.Ends.Duration}
	if b.made != nil {
		m.requests = b.made()
	}
	if f.Analysis.Op != "" {
		op := strings.ToUpper(f.Analysis.Op)
		m.requests = slices.DeleteFunc(slices.Clone(m.requests), func(name string) bool { return name != op })
	}
	return m
}

// scriptMeasurable is about a script.
func scriptMeasurable(steps []bench.ScriptStep) (m measurable) {
	for _, s := range steps {
		if s.Op != "" && !slices.Contains(m.requests, s.Op) {
			m.requests = append(m.requests, s.Op)
		}
		m.openLoop = m.openLoop || s.Rate > 0
	}
	return m
}

// check refuses assertions about what is not measured. They would fail at the end of the run.
func (m measurable) check(all []*assert.Assertion) error {
	for _, a := range all {
		if err := m.checkOne(a); err != nil {
			return err
		}
	}
	return nil
}

func (m measurable) checkOne(a *assert.Assertion) error {
	asserted := m.requests
	if a.Op != "" {
		asserted = []string{a.Op}
	}
	moves := func(name string) bool { return !slices.Contains(withoutPayload(), name) }
	switch {
	case a.Op != "" && !slices.Contains(m.requests, a.Op):
		err := exit.Usagef("--assert: %q cannot be measured: the report of this run has no %s", a.Text, a.Op)
		if len(m.requests) > 0 {
			return err.WithHint("it is about %s", strings.Join(m.requests, ", "))
		}
		return err
	case a.Metric.Family == assert.Throughput && !slices.ContainsFunc(asserted, moves):
		return exit.Usagef("--assert: %q cannot be measured: %s moves no payload", a.Text, strings.Join(asserted, ", ")).WithHint("assert objs, in obj/s")
	case a.Metric.Family == assert.Response && !m.openLoop:
		return exit.Usagef("--assert: %q cannot be measured: only requests on a schedule have a response time", a.Text).
			WithHint("give --rps-limit, or assert the service time, such as p99")
	case a.Every > 0 && m.duration > 0 && a.Every > m.duration:
		return exit.Usagef("--assert: %q cannot be measured: the run is shorter, --duration=%s", a.Text, human.Duration(m.duration))
	}
	return nil
}
