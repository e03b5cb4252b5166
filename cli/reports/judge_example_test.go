package reports_test

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/reports"
)

func ExampleJudgeFlags() {
	var f reports.JudgeFlags
	noVariables := func(string) (string, bool) { return "", false }
	table := command.NewTable([]*command.Command{{Name: "cmp", Groups: []command.Group{{Flags: f.Flags()}}}}, noVariables)
	for _, arg := range []string{"--judge=p99,GET.ttfb", "--min-effect=5%", "--min-effect=none"} {
		if _, err := table.Parse([]string{"cmp", arg}); err != nil {
			fmt.Println(err)
			return
		}
		o, err := f.Options()
		fmt.Println(o.Judge, o.MinEffect, err)
	}
	// Output:
	// [p99 GET.ttfb] 0.02 <nil>
	// [] 0.05 <nil>
	// [] 0 --min-effect: "none" is not a percentage above 0 and below 100, such as 2%
}
