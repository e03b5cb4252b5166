package cli

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/redact"
	"warp/internal/human"
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
// and after positional arguments, with one dash or two, and those for output and
// for profiles of warp itself also before the command.
func scan(table []*command, args []string) *commandLine {
	l := &commandLine{table: table}
	before := slices.Concat((&outputFlags{}).group().all(), (&profileFlags{}).flags())
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			for _, rest := range args[i+1:] {
				l.positional(rest)
			}
			break
		}
		name, value, hasValue, ok := redact.SplitFlag(args[i])
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
		if t.flag != nil && !hasValue && !isBool(t.flag) && i+1 < len(args) && (redact.IsCommand(name) || !l.isFlag(args[i+1])) {
			i++
			t.value, t.hasValue = args[i], true
		}
		if t.flag != nil && t.hasValue && foreign.convert != nil {
			t.value, t.wrong = foreign.convert(t.value)
		}
		l.tokens = append(l.tokens, t)
	}
	return l
}

// isFlag reports whether arg names a flag of the command. Such a word is not
// taken for the value of the flag before it: `--bucket --quiet` is a forgotten
// value, and a bucket with that name can still be given as --bucket=--quiet.
func (l *commandLine) isFlag(arg string) bool {
	name, _, _, ok := redact.SplitFlag(arg)
	return ok && l.command != nil && (l.command.lookup(name) != nil || slices.Contains(globalFlagNames(), name))
}

// positional takes the first word for the command and others for arguments.
func (l *commandLine) positional(word string) {
	switch {
	case l.command != nil || l.unknown != "":
		l.tokens = append(l.tokens, token{value: word})
	case word == "help":
		l.help = true
	case word == "version" && !l.version:
		l.version = true
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

// forwardedArgs are the flags of other commands, as they may be given to these.
func (l *commandLine) forwardedArgs() (args []string) {
	for _, t := range l.tokens {
		switch {
		case t.flag == nil || !slices.Contains(l.command.forwardedFlags, t.flag):
		case t.hasValue:
			args = append(args, "--"+t.name+"="+t.value)
		default:
			args = append(args, "--"+t.name)
		}
	}
	return args
}

// isBool reports whether f is a switch, which takes a value only after "=".
func isBool(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// parse sets the flags of the command, from the command line and else from the
// environment, and returns what is wrong with either.
func (l *commandLine) parse(env environment) error {
	for i := range l.tokens {
		t := &l.tokens[i]
		if t.name == "" || !t.early {
			continue
		}
		if t.flag == nil {
			return exit.Usagef("the flag %s must follow a command that has it", dashed(t.name)).
				WithHint("write warp COMMAND %s", dashed(t.name))
		}
		if l.command != nil {
			t.flag = l.command.lookup(t.name)
		}
	}
	if l.command == nil {
		return unknownCommand(l.table, l.unknown)
	}
	for _, f := range l.command.flags() {
		if err := f.PreParse(); err != nil { // writes the default
			return exit.Usagef("--%s: %w", f.Names()[0], err)
		}
	}
	l.command.given = make(map[string]bool)
	for _, t := range l.tokens {
		if t.name == "" {
			continue
		}
		if err := l.setFlag(t); err != nil {
			return err
		}
		l.command.given[t.flag.Names()[0]], l.command.given[t.name] = true, true
	}
	if err := l.setFromEnvironment(env); err != nil {
		return err
	}
	return l.checkArguments()
}

func (l *commandLine) setFlag(t token) error {
	if t.flag == nil {
		return unknownFlag(l.table, l.command, t.name)
	}
	name := "--" + t.flag.Names()[0]
	switch {
	case t.wrong != nil:
		return exit.Usagef("--%s: %w", t.name, t.wrong)
	case !t.hasValue && !isBool(t.flag):
		return exit.Usagef("%s needs a value", name).WithHint("write %s=%s", name, placeholder(t.flag))
	case t.hasValue && t.value == "":
		return exit.Usagef("%s has an empty value", name).WithHint("give it a value or leave it out")
	case slices.Contains(l.command.forwardedFlags, t.flag):
		return nil
	case !t.hasValue:
		t.value = "true"
	}
	if t.from != "" {
		name = t.from
	}
	if err := t.flag.Set(name, t.value); err != nil {
		return valueError(name, t.flag, t.value, err)
	}
	return nil
}

// setFromEnvironment sets flags that are not given from their variables.
func (l *commandLine) setFromEnvironment(env environment) error {
	for _, a := range l.command.absent {
		for _, name := range a.variables {
			value, ok := env(name)
			if on, err := strconv.ParseBool(value); ok && value != "" && (on || err != nil) {
				return exit.Usagef("environment variable %s: --%s %s", name, a.names[0], a.why).WithHint("unset it")
			}
		}
	}
	for _, f := range l.command.flags() {
		name := f.Names()[0]
		if l.command.given[name] || slices.ContainsFunc(insteadOf(name), l.command.wasGiven) {
			continue
		}
		for _, variable := range variablesOf(f) {
			value, ok := env(variable)
			if !ok || value == "" {
				continue
			}
			if err := f.Set(name, value); err != nil {
				return valueError("environment variable "+variable, f, value, err)
			}
			break
		}
	}
	return nil
}

// insteadOf are the flags that say in another way what the named one does. One
// that is given counts more than a variable of the named one.
func insteadOf(name string) []string {
	switch name {
	case "access-key", "secret-key", "session-token":
		return []string{"profile", "credentials-file"}
	}
	return nil
}

func (l *commandLine) checkArguments() error {
	c, args := l.command, l.arguments()
	switch {
	case c.maxArgs >= 0 && len(args) > c.maxArgs && c.maxArgs == 0:
		return l.strayArgument()
	case len(args) < c.minArgs || c.maxArgs >= 0 && len(args) > c.maxArgs:
		return exit.Usagef("warp %s needs %s, but got %s", c.name, c.needs, human.Plural(len(args), "argument")).
			WithHint("write warp %s %s", c.name, c.args)
	}
	for _, a := range args {
		if a == "" {
			return exit.Usagef("warp %s got an empty argument", c.name).WithHint("write warp %s %s", c.name, c.args)
		}
	}
	return nil
}

// strayArgument says what is wrong with the first argument of a command that
// takes none. Behind a switch it was most likely meant for that.
func (l *commandLine) strayArgument() error {
	i := slices.IndexFunc(l.tokens, func(t token) bool { return t.name == "" })
	word := l.tokens[i].value
	if i == 0 || l.tokens[i-1].hasValue {
		return exit.Usagef("warp %s takes no arguments, but got %q", l.command.name, word)
	}
	flag := dashed(l.tokens[i-1].name)
	err := exit.Usagef("%s is a switch and takes no value, but got %q", flag, word)
	if _, notBool := strconv.ParseBool(word); notBool == nil {
		return err.WithHint("write %s=%s", flag, word)
	}
	if flag == "--threads" {
		return err.WithHint("for %s requests at a time write --concurrent=%s; --threads is a profile of warp itself", word, word)
	}
	return err.WithHint("leave out %q", word)
}
