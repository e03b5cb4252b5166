// Package command is a table of commands and their flags, with all that follows from
// it. urfave/cli parses command lines, dispatches them, prints help and finds the
// command whose line a shell completes. The package makes the command tree for it,
// refuses what it would accept in silence, and words errors, help, completions and
// manual pages.
package command

import (
	"context"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/process"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
)

// A Group is a part of a command's flags under one title.
type Group struct {
	Title string
	Flags []cli.Flag // each has a line of its own in the help
	Also  []cli.Flag // the plain help names them only, --help-all explains them
}

// All returns all flags of the group.
func (g Group) All() []cli.Flag { return slices.Concat(g.Flags, g.Also) }

// With returns the group with more flags.
func (g Group) With(flags ...cli.Flag) Group {
	g.Flags = slices.Concat(g.Flags, flags)
	return g
}

// The sections of the root help, in their order.
const (
	SectionBenchmark = "Benchmarks"
	SectionAnalysis  = "Recorded runs"
	SectionOther     = "Other"
)

// A Command is an entry of a [Table]. [Table.Run] sets its flags.
type Command struct {
	Name    string
	Args    string // as shown after the flags: "FILE", "BEFORE AFTER"
	Summary string // one line for the root help
	Section string
	About   []string // lines below the usage of the command's own help

	Examples []string
	Groups   []Group
	Absent   []Absent // flags of other tools that this command refuses by name

	OtherTool bool // it has another tool's flags, which are only suggested if no other command has them

	MinArgs, MaxArgs int    // positional arguments; MaxArgs < 0 means any number
	Needs            string // the arguments in words, such as "one op log"

	Words  []string         // what completion offers as an argument
	Bare   bool             // it has no flags for output
	Output *console.Options // set by the flags for output, which NewTable adds; nil if Bare

	given          map[string]bool       // flags on the parsed command line, by their own names and as written
	ForwardedFlags []cli.Flag            // flags of other commands, which this one passes on to them
	Check          func(json bool) error // tells if Run would start; only benchmarks have it
	Run            func(ctx context.Context, inv *Invocation) error
}

// Flags returns the flags of all groups.
func (c *Command) Flags() []cli.Flag {
	var all []cli.Flag
	for _, g := range c.Groups {
		all = append(all, g.All()...)
	}
	return all
}

// WasGiven reports whether the flag is on the command line.
func (c *Command) WasGiven(name string) bool { return c.given[name] }

// Lookup finds a flag by any of its names.
func (c *Command) Lookup(name string) cli.Flag {
	if f := FindFlag(c.Flags(), name); f != nil {
		return f
	}
	return FindFlag(c.ForwardedFlags, name)
}

// FindFlag finds a flag by any of its names, nil if there is none.
func FindFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// An Invocation is all that Run gets of the command line and the process.
type Invocation struct {
	*console.Console
	Command       *Command
	Args          []string // positional arguments
	ForwardedArgs []string // flags of other commands, as they were given
	Line          string   // the command line without its secrets
	Version       string   // of warp
	Env           Environment
	In            io.Reader
	Hangups       *process.Hangups
	Suite         bool // it is one of several benchmarks that share flags, so some flags may have no use
}

// Shown returns the value of a flag as text, without secrets.
func (inv *Invocation) Shown(f cli.Flag) string {
	value := Value(f)
	if redact.IsSecret(f.Names()[0]) && value != "" {
		value = redact.Mark
	}
	return inv.Hide.Text(value)
}

// Names returns the names of flags, without their aliases.
func Names(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()[0])
	}
	return names
}

// Without returns flags except the ones with the given names.
func Without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		return slices.Contains(names, f.Names()[0])
	})
}
