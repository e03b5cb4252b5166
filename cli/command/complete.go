package command

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/cli/terminal/redact"
)

// CompleteWord is the hidden first argument of completion scripts, which ask for
// the possible next words.
const CompleteWord = "__complete"

// completionFlag is the last argument by which urfave/cli recognizes a request
// for completion.
const completionFlag = "--generate-shell-completion"

// Complete lists what can replace the last of words, the arguments so far.
// bash splits --flag=value into three words; they are put together again, and
// the answer is the value alone, as for a word of its own. An empty answer
// leaves the word to the shell, which offers files.
func (t *Table) Complete(words []string) (found []string) {
	words = joinAssignments(words)
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	words = append(t.commandFirst(words[:last:last]), words[last])
	p := &parse{table: t}
	p.offer = func(c *Command, parsed *cli.Command) {
		offered, current := t.offers(c, parsed, words)
		for _, word := range offered {
			if strings.HasPrefix(word, current) {
				found = append(found, word)
			}
		}
	}
	_ = p.root(words).Run(context.Background(), slices.Concat([]string{"warp"}, words, []string{completionFlag}))
	slices.Sort(found)
	return found
}

// joinAssignments undoes the splitting of words at "=".
func joinAssignments(words []string) (joined []string) {
	for i, w := range words {
		last := len(joined) - 1
		if last >= 0 && strings.HasPrefix(joined[last], "-") &&
			(w == "=" && !strings.Contains(joined[last], "=") || words[i-1] == "=" && strings.HasSuffix(joined[last], "=")) {
			joined[last] += w
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

// offers returns what may replace the last of words, and how that begins. At
// the root, c is nil.
func (t *Table) offers(c *Command, parsed *cli.Command, words []string) (offered []string, current string) {
	current = words[len(words)-1]
	name, value, hasValue, isFlag := redact.SplitFlag(current)
	switch {
	case c == nil && parsed.NArg() > 1:
		return nil, "" // behind an unknown command
	case c == nil && strings.HasPrefix(current, "-"):
		return []string{"--autocompletion", "--help", "--help-all", "--version"}, current
	case c == nil:
		return t.names(), current
	case isFlag && hasValue:
		return values(c.Lookup(name)), value
	case strings.HasPrefix(current, "-"):
		return c.flagNames(len(current) > 3), "--" + strings.TrimLeft(current, "-")
	}
	name, _, hasValue, _ = redact.SplitFlag(words[len(words)-2])
	if f := c.Lookup(name); f != nil && !hasValue && !isBool(f) {
		return values(f), current
	}
	return c.Words, current
}

// flagNames returns the flags of the command, rare ones only if they are wanted.
func (c *Command) flagNames(rare bool) []string {
	names := []string{"--help", "--help-all"}
	for _, f := range c.Flags() {
		if rare || visible(f) {
			names = append(names, "--"+f.Names()[0])
		}
	}
	return names
}

// values returns the values of a flag that has only a few.
func values(f cli.Flag) []string {
	if choice, ok := f.(*flagtype.Choice); ok {
		return choice.Config
	}
	if _, ok := f.(*flagtype.Question); ok {
		return []string{"all", "false", "true"}
	}
	if isBool(f) {
		return []string{"false", "true"}
	}
	return nil
}
