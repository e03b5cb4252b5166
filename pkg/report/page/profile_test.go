package page

import (
	"bytes"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/workload"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	exponent := .93
	x := &workload.Profile{
		Requests: 30, DurationS: 3, Errors: 1, Notes: []string{"a <note>"},
		Operations: []workload.Operation{
			{Op: workload.Get, Requests: 20, Share: 2. / 3, Errors: 1, Sizes: workload.Sizes{{Min: 0, Max: 0, Requests: 1}, {Min: 4096, Max: 4100, Requests: 18}}},
			{Op: workload.Delete, Requests: 10, Share: 1. / 3},
		},
		Popularity: &workload.Popularity{Requests: 19, Keys: 5, Sampled: 1, Exponent: &exponent, Objects: 6, Hottest: .3},
		Arrivals:   workload.Arrivals{IntervalS: 1, Requests: []uint64{10, 0, 20}, Gaps: workload.PoissonGaps},
		Reuse:      &workload.Reuse{Requests: 19, Bytes: 100, FirstRequests: 5, Sampled: 1, Caches: []workload.Cache{{Size: 1 << 20, Requests: .5, Bytes: .4}, {Size: 2 << 20, Requests: .7, Bytes: .6}}},
	}
	for name, x := range map[string]*workload.Profile{
		"everything": x,
		"one size": {Requests: 1, Operations: []workload.Operation{{Op: workload.Get, Requests: 1, Share: 1, Sizes: workload.Sizes{{Min: 65536, Max: 65536, Requests: 1}}}},
			Arrivals: workload.Arrivals{IntervalS: 1, Requests: []uint64{1}, Gaps: workload.UnknownGaps},
			Reuse:    &workload.Reuse{Requests: 1, Bytes: 65536, Sampled: 1, Caches: []workload.Cache{{Size: 1 << 20}}}},
		"little": {Requests: 1, Operations: []workload.Operation{{Op: workload.Delete, Requests: 1, Share: 1}},
			Arrivals: workload.Arrivals{IntervalS: 1, Requests: []uint64{1}, Gaps: workload.UnknownGaps}},
	} {
		var b bytes.Buffer
		check.OK(t, Profile(x).Write(&b))
		wanted := []string{"Requests per second", "Operations"}
		if name == "everything" {
			wanted = append(wanted, "zipf:0.93", "Share of requests up to a size", "Share that a cache could have served", "a &lt;note&gt;", "4 KiB", "70.0")
		}
		if name == "one size" { // a chart has a line, or there is none
			wanted = append(wanted, "32 KiB</")
			if strings.Contains(b.String(), "Share that a cache could have served") {
				t.Error("a chart of one cache")
			}
		}
		for _, want := range wanted {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		for _, odd := range []string{"NaN", "Inf", "<note>"} {
			if strings.Contains(b.String(), odd) {
				t.Errorf("%s: the page has %q", name, odd)
			}
		}
	}
}
