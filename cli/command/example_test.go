package command_test

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
)

func Example() {
	noVariables := func(string) (string, bool) { return "", false }
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
	}}, noVariables)
	run := func(ctx context.Context, line *command.Line) error { return line.Command.Run(ctx, nil) }
	for _, flag := range []string{"--concurrent=8", "--concurent=8"} {
		if err := table.Run(context.Background(), []string{"get", flag}, os.Stdout, 0, run); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 8 workers
	// unknown flag --concurent; did you mean --concurrent?
}
