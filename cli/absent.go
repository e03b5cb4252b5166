package cli

import (
	"slices"

	"warp/internal/suggest"
)

const (
	notYet  = "is not built in yet"
	notOurs = "is not part of this tool"
)

// An absentFlag is one that scripts use elsewhere. It is refused by name,
// because a flag that is ignored in silence makes numbers that nobody can
// defend.
type absentFlag struct {
	names []string
	why   string
}

// absentFromAnalysis are the flags that analyze, cmp and benchmarks lack.
func absentFromAnalysis() []absentFlag {
	return []absentFlag{{names: []string{"web", "serve"}, why: notYet}}
}

// absentFromBenchmarks are the flags that no benchmark has yet.
func absentFromBenchmarks() []absentFlag {
	return slices.Concat(absentFromAnalysis(), absentFromAISLoader(), []absentFlag{
		{names: []string{"rdma", "rdma.window"}, why: notOurs},
	})
}

// absentCommands are the commands that exist elsewhere.
func absentCommands() map[string]string {
	return map[string]string{"iceberg": notOurs}
}

// unknownFlag says why the command does not take the flag.
func (c *command) unknownFlag(name string) error {
	for _, a := range c.absent {
		if slices.Contains(a.names, name) {
			return usageError("--%s %s", name, a.why)
		}
	}
	names := globalFlagNames()
	for _, f := range slices.Concat(c.flags(), c.lent) {
		names = append(names, f.Names()...)
	}
	err := usageError("unknown flag --%s", name)
	if near := suggest.Closest(name, names); near != "" {
		return err.tell("did you mean %s?", dashed(near))
	}
	return err.tell("warp %s --help lists the flags", c.name)
}

// dashed is a flag's name as it is written on a command line.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// unknownCommand says why there is no command of that name.
func unknownCommand(table []*command, name string) error {
	if name == "" {
		return usageError("no command is given").tell("warp --help lists the commands")
	}
	if why, ok := absentCommands()[name]; ok && !slices.ContainsFunc(table, func(c *command) bool { return c.name == name }) {
		return usageError("the command %s %s", name, why)
	}
	names := []string{"help"}
	for _, c := range table {
		if c.section != "" {
			names = append(names, c.name)
		}
	}
	err := usageError("unknown command %q", name)
	if near := suggest.Closest(name, names); near != "" {
		return err.tell("did you mean warp %s?", near)
	}
	return err.tell("warp --help lists the commands")
}
