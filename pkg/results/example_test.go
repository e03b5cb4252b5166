package results_test

import (
	"fmt"
	"strings"

	"warp/pkg/results"
)

// A saved report contains the figures of a run, and metrics name them.
func ExampleRead() {
	saved := `{"version": 2, "groups": [{"kind": "measured"}], "operations": [{"op": "GET", "inside": 900, "errors": 100, "objects_per_s": 90,
		"duration_ms": {"count": 900, "mean": 11, "p50": 10, "p90": 15, "p99": 25, "p999": 40, "min": 5, "max": 50}}]}`
	r, err := results.Read(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	figures := r.Operations[0].Figures()
	for _, name := range []string{"objs", "p99", "errors", "ttfb.p99"} {
		metric, known := results.FindMetric(name)
		value, measured := metric.Of(&figures)
		fmt.Println(name, known, value, metric.Unit, measured)
	}
	// Output:
	// objs true 90 objects/s true
	// p99 true 25 ms true
	// errors true 0.1 share true
	// ttfb.p99 true 0 ms false
}
