package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/terminal/console"
	"warp/cli/terminal/redact"
)

// everywhere returns the flags of every command. With one of them the rest of the
// line does not matter, and may be wrong.
func everywhere() []string { return []string{"help", "help-all", "autocompletion"} }

// early returns the flags that may precede the command.
func (t *Table) early() []cli.Flag {
	flags := slices.Concat(outputGroup(&console.Options{}).All(), t.Before)
	for _, name := range append(everywhere(), "h") {
		flags = append(flags, &cli.BoolFlag{Name: name})
	}
	return flags
}

// isFlag reports whether an argument has the form of a flag.
func isFlag(arg string) bool {
	_, _, _, ok := redact.SplitFlag(arg)
	return ok
}

// asksFor reports whether args have one of the flags, without a value.
func asksFor(args []string, names ...string) bool {
	for _, arg := range args {
		name, _, hasValue, ok := redact.SplitFlag(arg)
		if arg == "--" {
			break
		}
		if ok && !hasValue && slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// commandFirst moves the flags that precede the command behind it, because
// urfave/cli would not give them to it. The command may be a word or a flag:
// `warp help get` is `warp get --help`, and `warp -v` is `warp version`.
func (t *Table) commandFirst(args []string) []string {
	early := t.early()
	for i := 0; i < len(args); i++ {
		name, _, hasValue, ok := redact.SplitFlag(args[i])
		f := FindFlag(early, name)
		switch {
		case args[i] == "help":
			return t.commandFirst(slices.Concat(args[:i], args[i+1:], []string{"--help"}))
		case !ok:
			return slices.Concat(args[i:i+1], args[:i], args[i+1:])
		case !hasValue && (name == "version" || name == "v"):
			return slices.Concat([]string{"version"}, args[:i], args[i+1:])
		case f == nil:
			return args
		case !hasValue && !isBool(f):
			i++
		}
	}
	return args
}

// check refuses what urfave/cli accepts in silence: a switch with an empty
// value or with one in a word of its own, a flag that is taken for the value
// of the flag before it, an argument with a dash behind which no flag is read
// any more, and blanks around a flag. Unknown flags are left to urfave/cli.
func (t *Table) check(args []string) error {
	c := t.Find(args[0])
	if args[0] == "--" && len(args) > 1 {
		return exit.Usagef("-- precedes the command").WithHint("leave it out")
	}
	if c == nil {
		return nil
	}
	for i := 1; i < len(args); i++ {
		name, value, hasValue, ok := redact.SplitFlag(args[i])
		f := c.Lookup(name)
		switch {
		case args[i] == "--" && (c.MaxArgs != 0 || i+1 == len(args)):
			return nil
		case args[i] == "--":
			return c.strayArgument(args, i+1)
		case !ok && c.MaxArgs == 0:
			return c.strayArgument(args, i)
		case !ok && args[i] != "-" && strings.HasPrefix(strings.TrimSpace(args[i]), "-"):
			return exit.Usagef("%q is not a flag", args[i]).WithHint("write -- %q for an argument that begins with a dash", args[i])
		case !ok:
		case f == nil && strings.TrimSpace(args[i]) != args[i]:
			return unknownFlag(t, c, name)
		case f == nil:
			return nil
		case isBool(f) && hasValue:
			if err := checkEmpty("--"+f.Names()[0], value); err != nil {
				return err
			}
		case !isBool(f) && !hasValue:
			if i++; i == len(args) || !redact.IsCommand(name) && c.hasFlag(args[i]) {
				name = "--" + f.Names()[0]
				return exit.Usagef("%s needs a value", name).WithHint("write %s=%s", name, placeholder(f))
			}
		}
	}
	return nil
}

// hasFlag reports whether arg names a flag of the command. Such a word is not
// taken for a value: in `--bucket --quiet` the value was forgotten, and a
// bucket of that name can be given as --bucket=--quiet.
func (c *Command) hasFlag(arg string) bool {
	name, _, _, ok := redact.SplitFlag(arg)
	return ok && (c.Lookup(name) != nil || slices.Contains(everywhere(), name))
}

// strayArgument returns the error for the argument at i of a command that
// takes none. Behind a switch it was most likely meant for that.
func (c *Command) strayArgument(args []string, i int) error {
	word := args[i]
	before := i - 1
	if args[before] == "--" {
		before--
	}
	name, _, hasValue, ok := redact.SplitFlag(args[before])
	if !ok || hasValue || !isBool(c.Lookup(name)) {
		return exit.Usagef("warp %s takes no arguments, but got %q", c.Name, word)
	}
	err := exit.Usagef("%s is a switch and takes no value, but got %q", dashed(name), word)
	switch _, notBool := strconv.ParseBool(word); {
	case notBool == nil:
		return err.WithHint("write %s=%s", dashed(name), word)
	case name == "threads":
		return err.WithHint("for %s requests at a time write --concurrent=%s; --threads is a profile of warp itself", word, word)
	}
	return err.WithHint("leave out %q", word)
}
