package cli

import (
	"context"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/console"
	"warp/cli/redact"
)

// An environment looks up a variable. There is one per call of Main, so that
// tests need not touch the environment of the process.
type environment func(name string) (value string, ok bool)

// vars are the sources of a flag whose value may come from the environment. An
// empty variable counts as not set: that is what a script means by it.
func (env environment) vars(names ...string) cli.ValueSourceChain {
	var chain cli.ValueSourceChain
	for _, name := range names {
		chain.Chain = append(chain.Chain, variable{name, env})
	}
	return chain
}

// A variable is one environment variable as a source of a flag.
type variable struct {
	name string
	env  environment
}

func (v variable) Lookup() (string, bool) {
	value, ok := v.env(v.name)
	return value, ok && value != ""
}

func (v variable) IsFromEnv() bool  { return true }
func (v variable) Key() string      { return v.name }
func (v variable) String() string   { return "environment variable " + v.name }
func (v variable) GoString() string { return "variable{" + v.name + "}" }

// A flagGroup is a part of a command's flags under one title.
type flagGroup struct {
	title string
	flags []cli.Flag // each has a line of its own in the help
	also  []cli.Flag // the plain help names them only, --help-all explains them
}

func (g flagGroup) all() []cli.Flag { return slices.Concat(g.flags, g.also) }

// The sections of the root help, in their order.
const (
	sectionBenchmark = "Benchmarks"
	sectionAnalysis  = "Recorded runs"
	sectionOther     = "Other"
)

// A command is one entry of the command table. Its flags are those of
// urfave/cli; commandLine parses them.
type command struct {
	name    string
	args    string // as shown after the flags: "FILE", "BEFORE AFTER"
	summary string // one line for the root help
	section string
	about   []string // lines below the usage of the command's own help

	examples []string
	groups   []flagGroup
	absent   []absentFlag // flags that scripts may use and that this command does not have

	minArgs, maxArgs int    // positional arguments; maxArgs < 0 means any number
	needs            string // "one op log": what the arguments are

	words  []string     // what completion offers as an argument
	bare   bool         // it has no output to shape, and none of the flags for that
	output *outputFlags // set by the table for every command that has output to shape

	given          map[string]bool       //  flags of the command line, once it was parsed: the names as written, and the flags' own
	forwardedFlags []cli.Flag            // flags of other commands, which this one hands on to them
	check          func(json bool) error //  finds out whether run would begin; benchmarks have it, and nothing else
	run            func(ctx context.Context, inv *invocation) error
}

// flags are the flags of all groups.
func (c *command) flags() []cli.Flag {
	var all []cli.Flag
	for _, g := range c.groups {
		all = append(all, g.all()...)
	}
	return all
}

// wasGiven says whether the flag of that name stands on the command line.
func (c *command) wasGiven(name string) bool { return c.given[name] }

// lookup finds a flag by any of its names.
func (c *command) lookup(name string) cli.Flag {
	if f := findFlag(c.flags(), name); f != nil {
		return f
	}
	return findFlag(c.forwardedFlags, name)
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// An invocation is what a command is run with.
type invocation struct {
	*console.Console
	command       *command
	args          []string // positional arguments
	forwardedArgs []string // flags of other commands, as they were given
	line          string   // the command line as it may be recorded
	env           environment
	in            io.Reader
	hangups       *hangups
	suite         bool // it is one of several that share their flags, so that some may have no use for all of them
}

// parameters lists the flags of the command with their effective values, as
// they are recorded in an op log. Secrets are left out of it, and so is what
// does not change what is measured: two runs that differ in the name of their
// log do not differ. The log has the statements of a script by themselves.
func (inv *invocation) parameters() map[string]string {
	params := make(map[string]string)
	for _, g := range inv.command.groups {
		if g.title == groupOutput || g.title == groupAnalysis {
			continue
		}
		for _, f := range g.all() {
			name := f.Names()[0]
			if name == "script" || name == "benchdata" || name == "stats-interval" || name == "stats-output" || name == "dry-run" || name == "html" || name == "web" || name == "serve" || isAssertion(name) {
				continue
			}
			value := flagValue(f)
			if redact.IsSecret(name) && value != "" {
				value = redact.Mark
			}
			params[name] = inv.Hide.Text(value)
		}
	}
	return params
}

// without leaves out the flags of the given names.
func without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		return slices.Contains(names, f.Names()[0])
	})
}
