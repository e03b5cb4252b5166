package command

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/internal/human"
)

// isBool reports whether f is a switch, which has a value only after "=".
func isBool(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// Parse sets the flags of the command, from the command line and else from the
// environment, and returns what is wrong with either.
func (l *Line) Parse(env Environment) error {
	for i := range l.Tokens {
		t := &l.Tokens[i]
		if t.Name == "" || !t.Early {
			continue
		}
		if t.Flag == nil {
			return exit.Usagef("the flag %s must follow a command that has it", dashed(t.Name)).
				WithHint("write warp COMMAND %s", dashed(t.Name))
		}
		if l.Command != nil {
			t.Flag = l.Command.Lookup(t.Name)
		}
	}
	if l.Command == nil {
		return unknownCommand(l.Table, l.Unknown)
	}
	for _, f := range l.Command.Flags() {
		if err := f.PreParse(); err != nil { // writes the default
			return exit.Usagef("--%s: %w", f.Names()[0], err)
		}
	}
	l.Command.given = make(map[string]bool)
	for _, t := range l.Tokens {
		if t.Name == "" {
			continue
		}
		if err := l.SetFlag(t); err != nil {
			return err
		}
		l.Command.given[t.Flag.Names()[0]], l.Command.given[t.Name] = true, true
	}
	if err := l.setFromEnvironment(env); err != nil {
		return err
	}
	return l.checkArguments()
}

func (l *Line) SetFlag(t Token) error {
	if t.Flag == nil {
		return unknownFlag(l.Table, l.Command, t.Name)
	}
	name := "--" + t.Flag.Names()[0]
	switch {
	case !t.HasValue && !isBool(t.Flag):
		return exit.Usagef("%s needs a value", name).WithHint("write %s=%s", name, placeholder(t.Flag))
	case t.HasValue && t.Value == "":
		return exit.Usagef("%s has an empty value", name).WithHint("give it a value or leave it out")
	case slices.Contains(l.Command.ForwardedFlags, t.Flag):
		return nil
	case !t.HasValue:
		t.Value = "true"
	}
	if t.From != "" {
		name = t.From
	}
	if err := t.Flag.Set(name, t.Value); err != nil {
		return valueError(name, t.Flag, t.Value, err)
	}
	return nil
}

// setFromEnvironment sets flags that are not given from their variables.
func (l *Line) setFromEnvironment(env Environment) error {
	for _, a := range l.Command.Absent {
		for _, name := range a.Variables {
			value, ok := env(name)
			if on, err := strconv.ParseBool(value); ok && value != "" && (on || err != nil) {
				return exit.Usagef("environment variable %s: --%s %s", name, a.Names[0], a.Why).WithHint("unset it")
			}
		}
	}
	for _, f := range l.Command.Flags() {
		name := f.Names()[0]
		if l.Command.given[name] || slices.ContainsFunc(l.Table.Instead[name], l.Command.WasGiven) {
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

func (l *Line) checkArguments() error {
	c, args := l.Command, l.Arguments()
	switch {
	case c.MaxArgs >= 0 && len(args) > c.MaxArgs && c.MaxArgs == 0:
		return l.strayArgument()
	case len(args) < c.MinArgs || c.MaxArgs >= 0 && len(args) > c.MaxArgs:
		return exit.Usagef("warp %s needs %s, but got %s", c.Name, c.Needs, human.Plural(len(args), "argument")).
			WithHint("write warp %s %s", c.Name, c.Args)
	}
	for _, a := range args {
		if a == "" {
			return exit.Usagef("warp %s got an empty argument", c.Name).WithHint("write warp %s %s", c.Name, c.Args)
		}
	}
	return nil
}

// strayArgument says what is wrong with the first argument of a command that
// takes none. Behind a switch it was most likely meant for that.
func (l *Line) strayArgument() error {
	i := slices.IndexFunc(l.Tokens, func(t Token) bool { return t.Name == "" })
	word := l.Tokens[i].Value
	if i == 0 || l.Tokens[i-1].HasValue {
		return exit.Usagef("warp %s takes no arguments, but got %q", l.Command.Name, word)
	}
	flag := dashed(l.Tokens[i-1].Name)
	err := exit.Usagef("%s is a switch and takes no value, but got %q", flag, word)
	if _, notBool := strconv.ParseBool(word); notBool == nil {
		return err.WithHint("write %s=%s", flag, word)
	}
	if flag == "--threads" {
		return err.WithHint("for %s requests at a time write --concurrent=%s; --threads is a profile of warp itself", word, word)
	}
	return err.WithHint("leave out %q", word)
}
