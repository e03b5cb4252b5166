package suite_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands/suite"
	"warp/cli/terminal/redact"
)

func ExampleBenchmark_Parse() {
	noVariables := func(string) (string, bool) { return "", false }
	var concurrent int
	table := command.NewTable([]*command.Command{{Name: suite.Command, MaxArgs: 1}, {
		Name: "get", Check: func(bool) error { return nil },
		Groups: []command.Group{{Flags: []cli.Flag{&cli.IntFlag{Name: "concurrent", Destination: &concurrent}}}},
	}}, noVariables)
	file := "warp: {api: v1, benchmark: get, params: {concurrent: 8}}"

	typed, err := table.Parse([]string{suite.Command, "-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := suite.Read(context.Background(), typed, strings.NewReader(file), redact.New(nil, noVariables), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &suite.Benchmark{Benchmark: f.Benchmarks[0], File: f.Name}
	err = r.Parse(table, typed.Flags)
	fmt.Println(r.Name, concurrent, err)
	// Output: get 8 <nil>
}
