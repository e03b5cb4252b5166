package command

import (
	"slices"

	"warp/cli/exit"
	"warp/internal/human"
	"warp/internal/suggest"
)

// An Absent is one that scripts use elsewhere. It is refused by name,
// because a flag that is ignored in silence makes numbers that nobody can
// defend.
type Absent struct {
	Names     []string
	Why       string
	Variables []string // that replace it elsewhere
}

// unknownFlag returns the error for a flag that the command does not have.
func unknownFlag(table *Table, c *Command, name string) error {
	for _, a := range c.Absent {
		if slices.Contains(a.Names, name) {
			return exit.Usagef("--%s %s", name, a.Why)
		}
	}
	if slices.Contains(everywhere(), name) {
		return exit.Usagef("--%s takes no value", name)
	}
	err := exit.Usagef("unknown flag %s", dashed(name))
	if owners := withFlag(table, name); len(owners) > 0 && len(name) > 1 { // a letter is hardly another command's
		return err.WithHint("%s", ownersText(owners, c.Section))
	}
	names := everywhere()
	for _, f := range slices.Concat(c.Flags(), c.ForwardedFlags) {
		names = append(names, f.Names()...)
	}
	if near := suggest.Closest(name, names); near != "" {
		return err.WithHint("did you mean %s?", dashed(near))
	}
	return err.WithHint("warp %s --help lists the flags", c.Name)
}

// withFlag returns the commands that have the flag.
func withFlag(table *Table, name string) (owners []*Command) {
	for _, c := range table.Commands {
		if c.Section != "" && FindFlag(c.Flags(), name) != nil {
			owners = append(owners, c)
		}
	}
	if len(owners) > 1 {
		owners = slices.DeleteFunc(owners, func(c *Command) bool { return c.OtherTool })
	}
	return owners
}

// ownersText names commands, all benchmarks in a word.
func ownersText(owners []*Command, section string) string {
	var benchmarks, names []string
	for _, c := range owners {
		if names = append(names, c.Name); c.Section == SectionBenchmark {
			benchmarks = append(benchmarks, c.Name)
		}
	}
	const many = 8
	switch {
	case len(names) == 1:
		return "it is a flag of warp " + names[0]
	case len(benchmarks) >= many && section != SectionBenchmark:
		return "it is a flag of benchmarks such as warp " + benchmarks[0]
	}
	return "it is a flag of " + human.And(names)
}

// dashed returns a flag's name as it is written on a command line.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// unknownCommand returns the error for an unknown command.
func unknownCommand(table *Table, name string) error {
	if name == "" {
		return exit.Usagef("no command is given").WithHint("warp --help lists the commands")
	}
	if why, ok := table.Absent[name]; ok && table.Find(name) == nil {
		return exit.Usagef("the command %s %s", name, why)
	}
	err := exit.Usagef("unknown command %q", name)
	if near := suggest.Closest(name, table.names()); near != "" {
		return err.WithHint("did you mean warp %s?", near)
	}
	return err.WithHint("warp --help lists the commands")
}
