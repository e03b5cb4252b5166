package compare_test

import (
	"fmt"

	"warp/pkg/compare"
	"warp/pkg/results"
)

// Six runs before a change and six after it are enough for a verdict.
func ExampleJudge() {
	runs := func(side string, objectsPerS ...float64) (all []compare.Run) {
		for i, x := range objectsPerS {
			name := fmt.Sprint(side, i+1)
			get := results.Operation{Op: "GET", Inside: 10_000, ObjectsPerS: x, Duration: &results.Stats{P50: 900 / x, P99: 2000 / x}}
			all = append(all, compare.Run{Name: name, Report: &results.Report{
				Benchmark: "get", Runs: []string{name}, End: "completed",
				Groups: []results.GroupReport{{Kind: results.KindMeasured}}, Operations: []results.Operation{get},
			}})
		}
		return all
	}
	judge, err := compare.ParseChoices("GET.objs")
	if err != nil {
		fmt.Println(err)
		return
	}
	before, after := runs("before", 100, 101, 102, 103, 104, 105), runs("after", 120, 121, 122, 123, 124, 125)
	v, err := compare.Judge(before, after, compare.Options{MinEffect: .02, MaxErrors: compare.MaxErrors, Judge: judge})
	if err != nil {
		fmt.Println(err)
		return
	}
	row, _ := v.Row("GET", "objs")
	fmt.Printf("%s: %+.0f %% (%+.0f to %+.0f %%), p = %.3f\n", row.Verdict, *row.Change, *row.Low, *row.High, *row.P)
	// Output: better: +20 % (+17 to +23 %), p = 0.002
}
