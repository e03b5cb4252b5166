package cli

import (
	"slices"

	"github.com/urfave/cli/v3"
)

// A token is one thing that the command line says: a flag with its value, or a
// positional argument.
type token struct {
	flag  cli.Flag // nil for a positional argument and for an unknown flag
	name  string   // of the flag as it was written; "" for a positional argument
	value string
	wrong error  // why the value of another tool is none here
	from  string // the line and the key of a file that it is from; "" = the command line

	hasValue bool
	early    bool // stands before the command
}

// A commandLine is the reading of the arguments on which everything before the
// run agrees: checks, suggestions, help and completion.
type commandLine struct {
	table   []*command
	command *command // nil where none was named
	unknown string   // the word in the place of the command that is none
	tokens  []token
	help    bool
	helpAll bool
	version bool
	install bool // --autocompletion
}

// globalFlag handles the flags that end the reading of a command line in any
// place. They are not the flags of a command, because with them it does not
// matter whether the rest is right.
func (l *commandLine) globalFlag(name string) bool {
	switch name {
	case "help", "h":
		l.help = true
	case "help-all":
		l.help, l.helpAll = true, true
	case "autocompletion":
		l.install = true
	case "version", "v":
		if l.command != nil {
			return false
		}
		l.version = true
	default:
		return false
	}
	return true
}

// globalFlagNames are the names under which globalFlag knows them.
func globalFlagNames() []string { return []string{"help", "help-all", "autocompletion"} }

// scan reads the arguments after the program's name. Flags may stand before
// and after positional arguments, with one dash or two, and output flags also
// before the command.
func scan(table []*command, args []string) *commandLine {
	l := &commandLine{table: table}
	before := (&outputFlags{}).group().all()
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			for _, rest := range args[i+1:] {
				l.positional(rest)
			}
			break
		}
		name, value, hasValue, ok := splitFlag(args[i])
		if !ok {
			l.positional(args[i])
			continue
		}
		if !hasValue && l.globalFlag(name) {
			continue
		}
		t := token{name: name, value: value, hasValue: hasValue}
		if l.command != nil {
			t.flag = l.command.lookup(name)
		} else {
			t.flag, t.early = findFlag(before, name), l.unknown == ""
		}
		foreign := aisloaderValues()[name]
		if !hasValue && foreign.bare != "" {
			t.value, t.hasValue, hasValue = foreign.bare, true, true
		}
		if t.flag != nil && !hasValue && !isBool(t.flag) && i+1 < len(args) && !l.isFlag(args[i+1]) {
			i++
			t.value, t.hasValue = args[i], true
		}
		l.add(t, foreign)
	}
	return l
}

// add takes a token, with its value as we write it.
func (l *commandLine) add(t token, foreign foreignValue) {
	var also []token
	if t.flag != nil && t.hasValue && foreign.convert != nil {
		t.value, also, t.wrong = foreign.convert(t.value)
	}
	l.tokens = append(l.tokens, t)
	for _, more := range also {
		more.flag = l.command.lookup(more.name)
		l.tokens = append(l.tokens, more)
	}
}

// isFlag reports whether arg names a flag of the command. Such a word is not
// taken for the value of the flag before it: `--bucket --quiet` is a forgotten
// value, and a bucket with that name can still be given as --bucket=--quiet.
func (l *commandLine) isFlag(arg string) bool {
	name, _, _, ok := splitFlag(arg)
	return ok && l.command != nil && (l.command.lookup(name) != nil || slices.Contains(globalFlagNames(), name))
}

// positional takes the first word for the command and others for arguments.
func (l *commandLine) positional(word string) {
	switch {
	case l.command != nil || l.unknown != "":
		l.tokens = append(l.tokens, token{value: word})
	case word == "help":
		l.help = true
	default:
		for _, c := range l.table {
			if c.name == word {
				l.command = c
				return
			}
		}
		l.unknown = word
	}
}

// arguments are the positional arguments.
func (l *commandLine) arguments() []string {
	var words []string
	for _, t := range l.tokens {
		if t.name == "" {
			words = append(words, t.value)
		}
	}
	return words
}

// canonical writes the command line in the one form that cannot be read in two
// ways: the command, then each flag as --name=value, then the arguments.
func (l *commandLine) canonical() []string {
	args := []string{"warp", l.command.name}
	for _, t := range l.tokens {
		if t.name == "" {
			continue
		}
		value := t.value
		if !t.hasValue {
			value = "true"
		}
		args = append(args, "--"+t.flag.Names()[0]+"="+value)
	}
	return append(append(args, "--"), l.arguments()...)
}

// isBool reports whether f is a switch, which takes a value only after "=".
func isBool(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// check returns what is wrong with the command line. It tries the values on
// the flags of the table that was scanned; the command then runs on a table of
// its own.
func (l *commandLine) check(env environment) error {
	for _, t := range l.tokens {
		if t.name != "" && t.early && t.flag == nil {
			return usageError("the flag %s stands before a command that has it", dashed(t.name)).
				tell("write warp COMMAND %s", dashed(t.name))
		}
	}
	if l.command == nil {
		return unknownCommand(l.table, l.unknown)
	}
	given := make(map[cli.Flag]bool)
	for _, t := range l.tokens {
		if t.name == "" {
			continue
		}
		if err := l.checkFlag(t); err != nil {
			return err
		}
		given[t.flag] = true
	}
	if err := l.checkEnvironment(env, given); err != nil {
		return err
	}
	return l.checkArguments()
}

func (l *commandLine) checkFlag(t token) error {
	if t.flag == nil {
		return l.command.unknownFlag(t.name)
	}
	name := "--" + t.flag.Names()[0]
	switch {
	case t.wrong != nil:
		return usageError("--%s: %w", t.name, t.wrong)
	case !t.hasValue && !isBool(t.flag):
		return usageError("%s needs a value", name).tell("write %s=%s", name, placeholder(t.flag))
	case t.hasValue && t.value == "":
		return usageError("%s has an empty value", name).tell("give it a value or leave it out")
	case !t.hasValue, slices.Contains(l.command.lent, t.flag):
		return nil
	}
	if t.from != "" {
		name = t.from
	}
	if err := t.flag.Set(name, t.value); err != nil {
		return valueError(name, t.flag, t.value, err)
	}
	return nil
}

// checkEnvironment tries the variables that stand in for flags not given.
func (l *commandLine) checkEnvironment(env environment, given map[cli.Flag]bool) error {
	for _, f := range l.command.flags() {
		for _, name := range variablesOf(f) {
			value, ok := env(name)
			if !ok || value == "" || given[f] {
				continue
			}
			if err := f.Set(name, value); err != nil {
				return valueError("environment variable "+name, f, value, err)
			}
			break
		}
	}
	return nil
}

func (l *commandLine) checkArguments() error {
	c, args := l.command, l.arguments()
	switch {
	case c.maxArgs >= 0 && len(args) > c.maxArgs && c.maxArgs == 0:
		return usageError("warp %s takes no arguments, but got %q", c.name, args[0])
	case len(args) < c.minArgs || c.maxArgs >= 0 && len(args) > c.maxArgs:
		return usageError("warp %s needs %s, but got %d arguments", c.name, c.needs, len(args)).
			tell("write warp %s %s", c.name, c.args)
	}
	for _, a := range args {
		if a == "" {
			return usageError("warp %s got an empty argument", c.name).tell("write warp %s %s", c.name, c.args)
		}
	}
	return nil
}
