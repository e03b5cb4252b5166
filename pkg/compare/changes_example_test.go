package compare_test

import (
	"fmt"

	"warp/pkg/compare"
	"warp/pkg/results"
)

// Reports compares two runs operation by operation, and lists the parameters
// that differ.
func ExampleReports() {
	run := func(concurrent string, objectsPerS float64) *results.Report {
		return &results.Report{
			Benchmark: "get", Parameters: map[string]string{"concurrent": concurrent, "obj.size": "1MiB"},
			Operations: []results.Operation{{Op: "GET", ObjectsPerS: objectsPerS}},
		}
	}
	c := compare.Reports(run("8", 400), run("16", 500))
	for _, p := range c.Parameters {
		fmt.Printf("%s: %s -> %s\n", p.Name, p.Before, p.After)
	}
	for _, op := range c.Operations {
		fmt.Printf("%s: %g -> %g objects/s (%+g %%)\n", op.Op, op.ObjectsPerS.Before, op.ObjectsPerS.After, *op.ObjectsPerS.Percent)
	}
	// Output:
	// concurrent: 8 -> 16
	// GET: 400 -> 500 objects/s (+25 %)
}
