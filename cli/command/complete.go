package command

import (
	"slices"
	"strings"

	"warp/cli/flagtype"
	"warp/cli/redact"
)

// CompleteWord is the hidden first argument of completion scripts, which ask for
// the possible next words.
const CompleteWord = "__complete"

// Complete lists what can replace the last of words, the arguments so far.
// bash splits --flag=value into three words; they are put together again, and
// the answer is the value alone, as for a word of its own. An empty answer
// leaves the word to the shell, which offers files.
func (t *Table) Complete(words []string) []string {
	words = joinAssignments(words)
	if len(words) == 0 {
		return nil
	}
	current := words[len(words)-1]
	line := t.Scan(words[:len(words)-1])
	if line.Command == nil {
		return completeCommand(line, current)
	}
	if name, value, hasValue, ok := redact.SplitFlag(current); ok && hasValue {
		return line.Command.completeValue(name, value)
	}
	if strings.HasPrefix(current, "-") {
		return line.Command.completeFlag(current)
	}
	if n := len(line.Tokens); n > 0 {
		if last := line.Tokens[n-1]; last.Flag != nil && !last.HasValue && !isBool(last.Flag) {
			return line.Command.completeValue(last.Name, current)
		}
	}
	return startingWith(current, line.Command.Words)
}

// joinAssignments undoes the splitting of words at "=".
func joinAssignments(words []string) []string {
	var joined []string
	for i, w := range words {
		n := len(joined)
		afterFlag := n > 0 && strings.HasPrefix(joined[n-1], "-")
		switch {
		case w == "=" && afterFlag && !strings.Contains(joined[n-1], "="):
			joined[n-1] += "="
		case i > 0 && words[i-1] == "=" && afterFlag && strings.HasSuffix(joined[n-1], "="):
			joined[n-1] += w
		default:
			joined = append(joined, w)
		}
	}
	return joined
}

func completeCommand(line *Line, current string) []string {
	if line.Unknown != "" {
		return nil
	}
	if strings.HasPrefix(current, "-") {
		return startingWith(current, []string{"--autocompletion", "--help", "--help-all", "--version"})
	}
	words := []string{"help"}
	for _, c := range line.Table.Commands {
		if c.Section != "" {
			words = append(words, c.Name)
		}
	}
	return startingWith(current, words)
}

// completeFlag offers rare flags only to those who have begun to write one.
func (c *Command) completeFlag(current string) []string {
	names := []string{"--help", "--help-all"}
	for _, f := range c.Flags() {
		name := "--" + f.Names()[0]
		if visible(f) || len(current) > 3 {
			names = append(names, name)
		}
	}
	if !strings.HasPrefix(current, "--") {
		current = "-" + current
	}
	return startingWith(current, names)
}

// completeValue offers the values of a flag that has only a few.
func (c *Command) completeValue(name, current string) []string {
	f := c.Lookup(name)
	switch f := f.(type) {
	case nil:
		return nil
	case *flagtype.Choice:
		return startingWith(current, f.Config)
	}
	if isBool(f) {
		return startingWith(current, []string{"false", "true"})
	}
	return nil
}

func startingWith(prefix string, words []string) []string {
	var found []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			found = append(found, w)
		}
	}
	slices.Sort(found)
	return found
}
