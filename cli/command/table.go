package command

import (
	"github.com/urfave/cli/v3"

	"warp/cli/console"
)

// A Table has all commands and flags that a command line may consist of.
type Table struct {
	Commands []*Command
	Before   []cli.Flag          // flags that may precede the command, besides those for output
	Instead  map[string][]string // by the name of a flag: others that override its environment variables
	Absent   map[string]string   // commands of other tools, and why warp does not have them

	Version, Date string // of warp, for manual pages
}

// NewTable adds the flags that every command has.
func NewTable(commands []*Command) *Table {
	for _, c := range commands {
		if !c.Bare {
			c.Output = &console.Options{}
			c.Groups = append(c.Groups, outputGroup(c.Output))
		}
	}
	return &Table{Commands: commands}
}

// Find returns the command of that name, nil if there is none.
func (t *Table) Find(name string) *Command {
	for _, c := range t.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}
