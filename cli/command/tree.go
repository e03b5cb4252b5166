package command

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/internal/human"
)

// A parse is a command line on its way through the command tree of urfave/cli.
type parse struct {
	table  *Table
	line   *Line
	act    func(ctx context.Context, l *Line) error
	offer  func(c *Command, parsed *cli.Command) // completes the line, if it is not nil; at the root, c is nil
	failed error                                 // of a flag's value, before urfave/cli rewords it
}

// root returns the tree. Only the command that args begin with gets its flags,
// because setting up the flags of all commands takes longer than the rest of the
// start.
func (p *parse) root(args []string) *cli.Command {
	root := &cli.Command{
		Name: "warp", HideHelp: true, Writer: io.Discard, ErrWriter: io.Discard,
		Flags:        p.flags(&Command{}, p.table.early()),
		OnUsageError: p.usageError(nil),
		Action: func(_ context.Context, root *cli.Command) error {
			return unknownCommand(p.table, root.Args().First())
		},
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // the caller ends the process
		EnableShellCompletion: p.offer != nil,
		ShellComplete:         func(_ context.Context, root *cli.Command) { p.offer(nil, root) },
	}
	for _, c := range p.table.Commands {
		sub := &cli.Command{Name: c.Name}
		if c.Name == args[0] {
			p.line = &Line{Command: c}
			p.complete(sub)
		}
		root.Commands = append(root.Commands, sub)
	}
	return root
}

// complete makes sub the command of the line.
func (p *parse) complete(sub *cli.Command) {
	c := p.line.Command
	c.given = map[string]bool{}
	sub.Flags = p.flags(c, c.Flags())
	sub.OnUsageError = p.usageError(c)
	sub.ShellComplete = func(_ context.Context, sub *cli.Command) { p.offer(c, sub) }
	sub.ArgValidator = func(_ context.Context, sub *cli.Command) error {
		p.line.Args = sub.Args().Slice()
		return c.checkArguments(p.line.Args, p.table.env)
	}
	sub.Action = func(ctx context.Context, _ *cli.Command) error { return p.act(ctx, p.line) }
}

// flags returns flags as the tree has them, and those that c passes on.
func (p *parse) flags(c *Command, own []cli.Flag) (all []cli.Flag) {
	taken := map[string]bool{}
	for i, f := range slices.Concat(own, c.ForwardedFlags) {
		names := slices.DeleteFunc(f.Names(), func(name string) bool { return taken[name] })
		if len(names) == 0 {
			continue
		}
		for _, name := range names {
			taken[name] = true
		}
		all = append(all, &flag{Flag: f, names: names, parse: p, command: c, forwarded: i >= len(own)})
	}
	return all
}

// usageError returns what rewords an error of urfave/cli about a flag of c. At
// the root, c is nil.
func (p *parse) usageError(c *Command) cli.OnUsageErrorFunc {
	return func(_ context.Context, parsed *cli.Command, err error, _ bool) error {
		name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
		switch {
		case p.failed != nil:
			return p.failed
		case !unknown:
			return exit.Usagef("%w", err)
		case c != nil:
			return unknownFlag(p.table, c, name)
		case parsed.Args().Present():
			return unknownCommand(p.table, parsed.Args().First())
		}
		return exit.Usagef("the flag %s must follow a command that has it", dashed(name)).WithHint("write warp COMMAND %s", dashed(name))
	}
}

// checkArguments refuses variables of flags that warp lacks, and wrong numbers
// of arguments.
func (c *Command) checkArguments(args []string, env Environment) error {
	for _, a := range c.Absent {
		for _, name := range a.Variables {
			value, ok := env(name)
			if on, err := strconv.ParseBool(value); ok && value != "" && (on || err != nil) {
				return exit.Usagef("environment variable %s: --%s %s", name, a.Names[0], a.Why).WithHint("unset it")
			}
		}
	}
	switch n := len(args); {
	case n < c.MinArgs || c.MaxArgs >= 0 && n > c.MaxArgs:
		return exit.Usagef("warp %s needs %s, but got %s", c.Name, c.Needs, human.Plural(n, "argument")).WithHint("write warp %s %s", c.Name, c.Args)
	case slices.Contains(args, ""):
		return exit.Usagef("warp %s got an empty argument", c.Name).WithHint("write warp %s %s", c.Name, c.Args)
	}
	return nil
}
