package finder

import (
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/assert"
	"warp/pkg/find"
	"warp/pkg/results"
)

// Workers that are busy with this machine's own work say nothing about the store: then this machine was the limit. Workers that
// wait for answers make requests late, whatever else does.
func TestBusyWorkers(t *testing.T) {
	t.Parallel()
	a, err := assert.Parse("response.p99<5ms", nil)
	check.OK(t, err)
	const late = "this machine may have been the limit: 1 % of the requests were sent 2000 ms late or more"
	for figure, want := range map[string]string{"p50": late, "p99": ""} {
		var series results.Timeline
		series.Slices = map[time.Duration][]results.Slice{}
		for range 20 {
			p := results.Slice{Seconds: find.Piece.Seconds(), Inside: 200, Ended: 200}
			for range 200 {
				p.Latency.Add(time.Millisecond)
				p.Response.Add(20 * time.Millisecond)
			}
			series.Slices[find.Piece] = append(series.Slices[find.Piece], p)
			series.Whole.Add(&p)
			series.Whole.Seconds += p.Seconds
		}
		f := &Finder{Asserts: []*assert.Assertion{a}, step: observed{
			whole: series, timelines: map[*assert.Assertion]*results.Timeline{a: &series}, threads: 2,
			report: &results.Report{Warnings: []string{late}, Client: &results.ClientVerdict{Verdict: results.SomeFigures, Figures: []results.ClientFigure{{Op: "GET", Figure: figure}}}},
		}}
		if o := f.observe(); !o.Busy || o.Client != want {
			t.Errorf("%s is this machine's: busy %v, client %q, want %q", figure, o.Busy, o.Client, want)
		}
	}
}
