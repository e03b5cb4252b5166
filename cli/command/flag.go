package command

import (
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/terminal/redact"
)

// A flag is a flag in the tree. It words errors as warp does, lets variables
// set it by warp's rules, and notes that it was given.
type flag struct {
	cli.Flag
	names     []string // urfave/cli computes them anew with each call, which takes long
	parse     *parse
	command   *Command
	forwarded bool // it is not set, but passed on
}

func (f *flag) Names() []string  { return f.names }
func (f *flag) IsLocal() bool    { return true }
func (f *flag) IsBoolFlag() bool { return isBool(f.Flag) }

// Set sets the flag as the command line says. name is its name as given there.
func (f *flag) Set(name, value string) (err error) {
	first := f.names[0]
	if err = checkEmpty("--"+first, value); err == nil && !f.forwarded {
		err = Set(f.Flag, "--"+first, value)
	}
	if err == nil && f.parse.line != nil {
		f.command.given[first], f.command.given[name] = true, true
		f.parse.line.Flags = append(f.parse.line.Flags, Setting{Name: first, Value: value, Forwarded: f.forwarded})
	}
	f.parse.failed = err
	return err
}

// PostParse sets a flag that is not given from its environment variables.
func (f *flag) PostParse() error {
	t, first := f.parse.table, f.names[0]
	if f.forwarded || f.command.given[first] || slices.ContainsFunc(t.Instead[first], f.command.WasGiven) {
		return nil
	}
	for _, name := range Variables(f.Flag) {
		if value, ok := t.env(name); ok && value != "" {
			return Set(f.Flag, "environment variable "+name, value)
		}
	}
	return nil
}

// Set sets f to a value that comes from where: a flag, a variable, or a line of a file.
func Set(f cli.Flag, where, value string) error {
	if err := checkEmpty(where, value); err != nil {
		return err
	}
	err := f.Set(where, value)
	switch {
	case err == nil:
		return nil
	case redact.IsSecret(f.Names()[0]):
		return exit.Usagef("%s: the value is not valid", where)
	case flagtype.IsWrong(err):
		return exit.Usagef("%s: %w", where, err)
	}
	switch f.Get().(type) {
	case bool:
		return exit.Usagef("%s: %q is neither true nor false", where, value)
	case int, int64:
		return exit.Usagef("%s: %q is not a whole number", where, value)
	case uint, uint64:
		return exit.Usagef("%s: %q is not a whole number from 0 up", where, value)
	case float64:
		return exit.Usagef("%s: %q is not a number", where, value)
	default:
		return exit.Usagef("%s: %q: %w", where, value, err)
	}
}

// checkEmpty refuses an empty value.
func checkEmpty(where, value string) error {
	if value != "" {
		return nil
	}
	return exit.Usagef("%s has an empty value", where).WithHint("give it a value or leave it out")
}
