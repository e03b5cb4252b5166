package command_test

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
)

func Example() {
	var n int
	table := command.NewTable([]*command.Command{{
		Name: "get", Summary: "download objects",
		Groups: []command.Group{{Title: command.WorkloadTitle, Flags: []cli.Flag{
			&cli.IntFlag{Name: "concurrent", Value: 20, Destination: &n, Usage: "`N` workers"},
		}}},
		Run: func(context.Context, *command.Invocation) error {
			fmt.Println(n, "workers")
			return nil
		},
	}})
	noVariables := func(string) (string, bool) { return "", false }

	line := table.Scan([]string{"get", "--concurrent=8"})
	if err := line.Parse(noVariables); err != nil {
		fmt.Println(err)
		return
	}
	_ = line.Command.Run(context.Background(), nil)

	fmt.Println(table.Scan([]string{"get", "--concurent=8"}).Parse(noVariables))
	// Output:
	// 8 workers
	// unknown flag --concurent; did you mean --concurrent?
}
