package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/suite"
	"warp/cli/flagtype"
)

// runCommand runs the benchmarks of a file. It passes all flags except --var on to each of them.
func runCommand(benchmarkFlags []cli.Flag) *command.Command {
	var vars []string
	return &command.Command{
		Name: suite.Command, Args: "FILE", Section: command.SectionOther,
		Summary: "run the benchmarks of a YAML file",
		About: []string{
			"Flags of benchmarks may follow and apply to all of them. Flags override the file, and the file",
			"overrides environment variables. The FILE - is standard input.",
		},
		Examples: []string{"warp run suite.yml --var Size=1MiB --duration=30s"},
		Groups: []command.Group{{Title: "File", Flags: []cli.Flag{
			&flagtype.List{Name: "var", Destination: &vars, Usage: "set a variable of the file, as `NAME=VALUE`; repeatable"},
		}}},
		Absent:         benchmarks.Absent(),
		ForwardedFlags: benchmarkFlags,
		MinArgs:        1, MaxArgs: 1, Needs: "one YAML file",
		Run: func(context.Context, *command.Invocation) error { return nil }, // runFile does it
	}
}
