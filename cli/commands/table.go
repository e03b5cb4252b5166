// Package commands has the commands of warp, one file each, and the table of all of them.
package commands

import (
	"github.com/urfave/cli/v3"

	"warp/cli/aisloader"
	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/session"
	"warp/pkg/anonymous"
)

// Table lists the commands in the order of the help, and then more of them.
func Table(env command.Environment, more ...*command.Command) *command.Table {
	commands := append(All(env), more...)
	table := command.NewTable(commands, env)
	for _, c := range commands {
		if c.Section == command.SectionBenchmark {
			// They have so many flags that the ones which are explained with
			// every other command are only named.
			for i, g := range c.Groups {
				if g.Title == command.AnalysisTitle || g.Title == command.OutputTitle {
					c.Groups[i] = command.Group{Title: g.Title, Also: g.All()}
				}
			}
		}
	}
	// minio/warp takes these before the command as well.
	table.Before = append((&session.ProfileFlags{}).Flags(), &cli.BoolFlag{Name: "insecure"})
	table.Absent = map[string]string{"iceberg": "is not part of this tool"}
	table.Instead = map[string][]string{}
	for _, name := range []string{"access-key", "secret-key", "session-token"} {
		table.Instead[name] = []string{"profile", "s3profile", "credentials-file"}
	}
	return table
}

// All lists every command. A new one is one line here.
func All(env command.Environment) []*command.Command {
	series := Benchmarks(env)
	forwarded := BenchmarkFlags(series) // made once, since every start of warp comes here
	return append(series, []*command.Command{
		benchmarks.Replay(env),
		analyzeCommand(),
		cmpCommand(),
		reportCommand(),
		historyCommand(),
		mergeCommand(),
		exportCommand(),
		workloadCommand(),
		collectCommand(),
		cleanCommand(env),
		clientCommand(),
		calibrateCommand(),
		abCommand(forwarded),
		sweepCommand(forwarded),
		findCommand(forwarded),
		baselineCommand(),
		runCommand(forwarded),
		markCommand(),
		completionCommand(),
		nullStore(),
	}...)
}

// Benchmarks lists the commands of the benchmarks that can be one of a series. warp replay cannot, because it takes a log.
func Benchmarks(env command.Environment) []*command.Command {
	return append(benchmarks.Commands(env), aisloader.Command(env))
}

// BenchmarkFlags returns the flags of the given commands, each name once.
func BenchmarkFlags(benchmarks []*command.Command) []cli.Flag {
	var all []cli.Flag
	seen := make(map[string]bool) // to search all for each takes 10 ms
	for _, c := range benchmarks {
		for _, f := range c.Flags() {
			names := f.Names()
			if !seen[names[0]] {
				all = append(all, f)
			}
			for _, name := range names {
				seen[name] = true
			}
		}
	}
	return all
}

// flagDefaults returns the defaults of the flags of benchmarks.
func flagDefaults() anonymous.Defaults {
	type flag struct{ benchmark, name string }
	known := map[flag]string{}
	env := func(string) (string, bool) { return "", false }
	for _, c := range append(Benchmarks(env), benchmarks.Replay(env)) {
		for _, f := range c.Flags() {
			if f.PreParse() == nil {
				known[flag{c.Name, f.Names()[0]}] = command.Value(f)
			}
		}
	}
	return func(benchmark, name string) (string, bool) {
		value, ok := known[flag{benchmark, name}]
		return value, ok
	}
}
