package cli

import (
	"slices"
	"strings"

	"warp/cli/exit"
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
	names     []string
	why       string
	variables []string // that replace it elsewhere
}

// absentFromBenchmarks are the flags that no benchmark has yet.
func absentFromBenchmarks() []absentFlag {
	return slices.Concat(absentFromAISLoader(), []absentFlag{
		{names: []string{"rdma"}, why: notOurs, variables: []string{"WARP_RDMA"}},
		{names: []string{"rdma.window"}, why: notOurs, variables: []string{"WARP_RDMA_WINDOW"}},
	})
}

// absentCommands are the commands that exist elsewhere.
func absentCommands() map[string]string {
	return map[string]string{"iceberg": notOurs}
}

// unknownFlag says why the command does not take the flag.
func unknownFlag(table []*command, c *command, name string) error {
	for _, a := range c.absent {
		if slices.Contains(a.names, name) {
			return exit.Usagef("--%s %s", name, a.why)
		}
	}
	err := exit.Usagef("unknown flag %s", dashed(name))
	if owners := withFlag(table, name); len(owners) > 0 {
		return err.WithHint("%s", ownersText(owners, c.section))
	}
	names := globalFlagNames()
	for _, f := range slices.Concat(c.flags(), c.forwardedFlags) {
		names = append(names, f.Names()...)
	}
	if near := suggest.Closest(name, names); near != "" {
		return err.WithHint("did you mean %s?", dashed(near))
	}
	return err.WithHint("warp %s --help lists the flags", c.name)
}

// withFlag are the commands that have the flag.
func withFlag(table []*command, name string) (owners []*command) {
	for _, c := range table {
		if c.section != "" && findFlag(c.flags(), name) != nil {
			owners = append(owners, c)
		}
	}
	return owners
}

// ownersText names commands. Where all benchmarks are among them, it says so.
func ownersText(owners []*command, section string) string {
	var benchmarks, names []string
	for _, c := range owners {
		if names = append(names, c.name); c.section == sectionBenchmark {
			benchmarks = append(benchmarks, c.name)
		}
	}
	const many = 8
	switch {
	case len(names) == 1:
		return "it is a flag of warp " + names[0]
	case len(benchmarks) >= many && section != sectionBenchmark:
		return "it is a flag of benchmarks such as warp " + benchmarks[0]
	}
	return "it is a flag of " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
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
		return exit.Usagef("no command is given").WithHint("warp --help lists the commands")
	}
	if why, ok := absentCommands()[name]; ok && !slices.ContainsFunc(table, func(c *command) bool { return c.name == name }) {
		return exit.Usagef("the command %s %s", name, why)
	}
	names := []string{"help"}
	for _, c := range table {
		if c.section != "" {
			names = append(names, c.name)
		}
	}
	err := exit.Usagef("unknown command %q", name)
	if near := suggest.Closest(name, names); near != "" {
		return err.WithHint("did you mean warp %s?", near)
	}
	return err.WithHint("warp --help lists the commands")
}
