package command

import (
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/console"
	"warp/cli/redact"
)

// A Token is a flag with its value, or a positional argument.
type Token struct {
	Flag  cli.Flag // nil for a positional argument and for an unknown flag
	Name  string   // of the flag as it was written; "" for a positional argument
	Value string
	From  string // the file, line and key that it comes from; "" = the command line

	HasValue bool
	Early    bool // precedes the command
}

// A Line is a command line split into tokens. Checks, suggestions, help and
// completion all start from it.
type Line struct {
	Table   *Table
	Command *Command // nil = none was named
	Unknown string   // the first word, if it is no command
	Tokens  []Token
	Help    bool
	helpAll bool
	Version bool
	Install bool // --autocompletion
}

// globalFlag handles the flags that work in any place. They are not flags of a
// command, because with them the rest of the line may be wrong.
func (l *Line) globalFlag(name string) bool {
	switch name {
	case "help", "h":
		l.Help = true
	case "help-all":
		l.Help, l.helpAll = true, true
	case "autocompletion":
		l.Install = true
	case "version", "v":
		if l.Command != nil {
			return false
		}
		l.Version = true
	default:
		return false
	}
	return true
}

// globalFlagNames are the names that globalFlag knows.
func globalFlagNames() []string { return []string{"help", "help-all", "autocompletion"} }

// Scan splits the arguments that follow the program's name. Flags have one dash or
// two, and may stand before and after positional arguments. Those for output and
// those in t.Before may also precede the command.
func (t *Table) Scan(args []string) *Line {
	l := &Line{Table: t}
	before := slices.Concat(outputGroup(&console.Options{}).All(), t.Before)
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
		token := Token{Name: name, Value: value, HasValue: hasValue}
		if l.Command != nil {
			token.Flag = l.Command.Lookup(name)
		} else {
			token.Flag, token.Early = FindFlag(before, name), l.Unknown == ""
		}
		if token.Flag != nil && !hasValue && !isBool(token.Flag) && i+1 < len(args) && (redact.IsCommand(name) || !l.isFlag(args[i+1])) {
			i++
			token.Value, token.HasValue = args[i], true
		}
		l.Tokens = append(l.Tokens, token)
	}
	return l
}

// isFlag reports whether arg names a flag of the command. Such a word is not
// taken for the value of the flag before it: `--bucket --quiet` is a forgotten
// value, and a bucket with that name can still be given as --bucket=--quiet.
func (l *Line) isFlag(arg string) bool {
	name, _, _, ok := redact.SplitFlag(arg)
	return ok && l.Command != nil && (l.Command.Lookup(name) != nil || slices.Contains(globalFlagNames(), name))
}

// positional treats the first word as the command and the others as arguments.
func (l *Line) positional(word string) {
	switch {
	case l.Command != nil || l.Unknown != "":
		l.Tokens = append(l.Tokens, Token{Value: word})
	case word == "help":
		l.Help = true
	case word == "version" && !l.Version:
		l.Version = true
	default:
		if l.Command = l.Table.Find(word); l.Command == nil {
			l.Unknown = word
		}
	}
}

// Arguments are the positional arguments.
func (l *Line) Arguments() []string {
	var words []string
	for _, t := range l.Tokens {
		if t.Name == "" {
			words = append(words, t.Value)
		}
	}
	return words
}

// ForwardedArgs are the flags of other commands, as they may be given to these.
func (l *Line) ForwardedArgs() (args []string) {
	for _, t := range l.Tokens {
		switch {
		case t.Flag == nil || !slices.Contains(l.Command.ForwardedFlags, t.Flag):
		case t.HasValue:
			args = append(args, "--"+t.Name+"="+t.Value)
		default:
			args = append(args, "--"+t.Name)
		}
	}
	return args
}
