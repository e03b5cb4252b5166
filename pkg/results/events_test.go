package results

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	segments := func(rates ...float64) (all []Segment) {
		for i, rate := range rates {
			all = append(all, Segment{Start: time.Date(2026, 11, 23, 10, 0, i, 0, time.UTC), DurationS: 1, ObjectsPerS: rate, PartialOps: 1})
		}
		return all
	}
	at := func(all []Segment, change func(*Segment), numbers ...int) []Segment {
		for i := range all {
			all[i].FullOps, all[i].PartialOps = 1, 0
		}
		for _, i := range numbers {
			change(&all[i])
		}
		return all
	}
	waits := func(s *Segment) { s.PartialOps = 1 }
	fails := func(s *Segment) { s.Errors = 1 }
	aggregated := segments(100, 100, 0, 0, 100, 100)
	for i := range aggregated {
		aggregated[i].PartialOps = 0
	}
	hosts := func(p50 ...float64) (all []Part) {
		for i, x := range p50 {
			all = append(all, Part{Name: "http://" + string(rune('a'+i)) + ":9000", Requests: 100, Duration: &Stats{Count: 100, P50: x}})
		}
		return all
	}
	failed := []Assertion{{Result: Passed, Sentence: "errors<1% holds"}, {Result: Failed, Sentence: "p99<5ms failed: measured 8 ms"}}
	for name, test := range map[string]struct {
		op         Operation
		assertions []Assertion
		selection  string
		want       string
	}{
		"nothing":                      {op: Operation{Segments: segments(100, 101, 99, 100, 98, 103), Hosts: hosts(10, 11, 14)}},
		"an outage, then the catch-up": {op: Operation{Segments: segments(100, 100, 0, 3, 0, 378, 100, 100)}, want: "GET: outage of at least 3.0s from 10:00:02 UTC on, in which hardly any request succeeded."},
		"aggregated results":           {op: Operation{Segments: aggregated}, want: "GET: outage of at least 2.0s from 10:00:02 UTC on, in which hardly any request succeeded."},
		"nobody asked":                 {op: Operation{Segments: at(segments(3, 100, 100, 0, 0, 100, 100), waits, 5)}},
		"nobody asked at first":        {op: Operation{Segments: at(segments(3, 100, 100, 0, 0, 100, 100), waits, 3)}, want: "GET: outage of at least 2.0s from 10:00:03 UTC on, in which hardly any request succeeded."},
		"requests before it wait":      {op: Operation{Segments: at(segments(100, 100, 100, 0, 0, 0), waits, 2)}, want: "GET: outage of at least 3.0s from 10:00:03 UTC on, in which hardly any request succeeded."},
		"requests fail":                {op: Operation{Segments: at(segments(100, 100, 100, 0, 0, 100), fails, 4)}, want: "GET: outage of at least 2.0s from 10:00:03 UTC on, in which hardly any request succeeded."},
		"until the end":                {op: Operation{Segments: segments(100, 100, 100, 100, 0, 0)}, want: "GET: outage of at least 2.0s from 10:00:04 UTC on, in which hardly any request succeeded."},
		"two":                          {op: Operation{Segments: segments(0, 100, 100, 0, 0, 100, 100, 100)}, want: "of at least 2.0s from 10:00:03 UTC on, in which hardly any request succeeded, the longest of 2 outages."},
		"most of the run":              {op: Operation{Segments: segments(100, 90, 110, 100, 100, 0, 0, 0, 1, 0, 0, 0)}, want: "GET: outage of at least 7.0s from 10:00:05 UTC on, in which hardly any request succeeded."},
		"nothing at all":               {op: Operation{Segments: segments(0, 0, 0, 0, 0, 0)}},
		"bursts":                       {op: Operation{Segments: segments(100, 0, 0, 100, 0, 0, 100, 0, 0, 100, 0, 0)}},
		"a dip":                        {op: Operation{Segments: segments(100, 100, 50, 100, 100, 100)}},
		"rare requests":                {op: Operation{Segments: segments(100, 100, 0, 100, 100, 100), SegmentS: .1}},
		"few segments":                 {op: Operation{Segments: segments(100, 0, 100)}},
		"a slow host":                  {op: Operation{Hosts: hosts(10, 60, 11)}, want: "GET: host b:9000 is slow: median 60.0ms, other hosts 11.0ms; it received 33 % of the requests."},
		"few requests": {op: Operation{Hosts: hosts(10, 60, 11)}, selection: "weighed",
			want: "it received 33 % of the requests, because --host-select=weighed prefers hosts that answer sooner; with --host-select=roundrobin each gets as many."},
		"many slow hosts":        {op: Operation{Hosts: hosts(10, 10, 10, 10, 10, 10, 10, 60, 60, 60)}, want: "GET: so is 1 more."},
		"hosts without requests": {op: Operation{Hosts: []Part{{Name: "x"}, {Name: "y", Duration: &Stats{Count: 100, P50: 5}}}}},
		"an assertion":           {assertions: failed, want: "Assertion p99<5ms failed: measured 8 ms."},
	} {
		test.op.Op = "GET"
		if test.op.SegmentS == 0 {
			test.op.SegmentS = 1
		}
		r := &Report{Groups: []GroupReport{{Kind: KindMeasured}}, Operations: []Operation{test.op}, Assertions: test.assertions, Parameters: map[string]string{"host-select": test.selection}}
		got := strings.Join(r.Events(), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Operations with the same outage have one sentence.
func TestOutageOfAllOperations(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	r := &Report{Groups: []GroupReport{{Kind: KindMeasured}}}
	for _, op := range []struct {
		name  string
		rates []float64
	}{{"GET", []float64{100, 100, 100, 0, 0, 100}}, {"STAT", []float64{100, 100, 0, 100, 100, 100}}, {"PUT", []float64{50, 50, 50, 0, 0, 50}}} {
		o := Operation{Op: op.name, SegmentS: 1}
		for i, rate := range op.rates {
			o.Segments = append(o.Segments, Segment{Start: at.Add(time.Duration(i) * time.Second), DurationS: 1, ObjectsPerS: rate, PartialOps: 1})
		}
		r.Operations = append(r.Operations, o)
	}
	want := []string{"GET and PUT: outage of at least 2.0s from 10:00:03 UTC on, in which hardly any request succeeded.",
		"STAT: outage of at least 1.0s from 10:00:02 UTC on, in which hardly any request succeeded."}
	if got := r.Events(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
