package command

import (
	"context"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/terminal/console"
)

// A Table has all commands and flags that a command line may consist of.
type Table struct {
	Commands []*Command
	Before   []cli.Flag          // flags that may precede the command, besides those for output
	Instead  map[string][]string // by the name of a flag: others that override its environment variables
	Absent   map[string]string   // commands of other tools, and why warp does not have them
	Install  func() error        // does what --autocompletion asks for

	Version, Date string // of warp, for manual pages

	env Environment
}

// NewTable adds the flags that every command has. env has the variables that
// set flags.
func NewTable(commands []*Command, env Environment) *Table {
	for _, c := range commands {
		if !c.Bare {
			c.Output = &console.Options{}
			c.Groups = append(c.Groups, outputGroup(c.Output))
		}
	}
	return &Table{Commands: commands, env: env}
}

// Find returns the command of that name, nil if there is none.
func (t *Table) Find(name string) *Command {
	if i := slices.IndexFunc(t.Commands, func(c *Command) bool { return c.Name == name }); i >= 0 {
		return t.Commands[i]
	}
	return nil
}

// names returns the commands that users may call.
func (t *Table) names() []string {
	names := []string{"help"}
	for _, c := range t.Commands {
		if c.Section != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// A Line is a command line that was parsed.
type Line struct {
	Command *Command
	Args    []string  // positional arguments
	Flags   []Setting // in the order in which they were given
}

// A Setting is a flag on a command line.
type Setting struct {
	Name, Value string
	Forwarded   bool // it is a flag of other commands
}

// Arg returns the setting as an argument.
func (s Setting) Arg() string { return "--" + s.Name + "=" + s.Value }

// ForwardedArgs returns the flags of other commands as arguments of these.
func (l *Line) ForwardedArgs() (args []string) {
	for _, s := range l.Flags {
		if s.Forwarded {
			args = append(args, s.Arg())
		}
	}
	return args
}

// Run parses args, which begin after the program's name, and calls act with
// the line. If args ask for help, Run writes that to out instead, for a
// terminal with so many columns; 0 means that it is not a terminal. The flags of the command
// keep their values until the next call.
func (t *Table) Run(ctx context.Context, args []string, out io.Writer, columns int, act func(context.Context, *Line) error) error {
	args = t.commandFirst(args)
	all := asksFor(args, "help-all")
	switch {
	case len(args) == 0 || all || asksFor(args, "help", "h"):
		return t.help(args, out, newHelp(all, columns))
	case asksFor(args, "autocompletion"):
		return t.Install()
	}
	if err := t.check(args); err != nil {
		return err
	}
	p := &parse{table: t, act: act}
	err := p.root(args).Run(ctx, slices.Concat([]string{"warp"}, args))
	if p.failed != nil {
		return p.failed
	}
	return err
}

// Parse parses a command line that runs a command.
func (t *Table) Parse(args []string) (line *Line, err error) {
	err = t.Run(context.Background(), args, io.Discard, 0, func(_ context.Context, l *Line) error {
		line = l
		return nil
	})
	if line == nil && err == nil {
		err = unknownCommand(t, "") // it asks for help
	}
	return line, err
}

// help writes the help of the command that args begin with, or of warp.
func (t *Table) help(args []string, out io.Writer, h *help) error {
	text := ""
	if len(args) == 0 || isFlag(args[0]) {
		text = h.root(t)
	} else if c := t.Find(args[0]); c != nil {
		text = h.command(c)
	} else {
		return unknownCommand(t, args[0])
	}
	_, err := io.WriteString(out, text)
	return err
}
