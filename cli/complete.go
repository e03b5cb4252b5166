package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warp/cli/completion"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/redact"
)

// completeWord is the hidden first argument with which completion scripts ask
// what can follow.
const completeWord = "__complete"

// complete lists what can replace the last of words, the arguments so far.
// bash splits --flag=value into three words; they are put together again, and
// the answer is the value alone, as for a word of its own. An empty answer
// leaves the word to the shell, which offers files.
func complete(table []*command, words []string) []string {
	words = joinAssignments(words)
	if len(words) == 0 {
		return nil
	}
	current := words[len(words)-1]
	line := scan(table, words[:len(words)-1])
	if line.command == nil {
		return completeCommand(line, current)
	}
	if name, value, hasValue, ok := redact.SplitFlag(current); ok && hasValue {
		return line.command.completeValue(name, value)
	}
	if strings.HasPrefix(current, "-") {
		return line.command.completeFlag(current)
	}
	if n := len(line.tokens); n > 0 {
		if last := line.tokens[n-1]; last.flag != nil && !last.hasValue && !isBool(last.flag) {
			return line.command.completeValue(last.name, current)
		}
	}
	return startingWith(current, line.command.words)
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

func completeCommand(line *commandLine, current string) []string {
	if line.unknown != "" {
		return nil
	}
	if strings.HasPrefix(current, "-") {
		return startingWith(current, []string{"--autocompletion", "--help", "--help-all", "--version"})
	}
	words := []string{"help"}
	for _, c := range line.table {
		if c.section != "" {
			words = append(words, c.name)
		}
	}
	return startingWith(current, words)
}

// completeFlag offers rare flags only to those who have begun to write one.
func (c *command) completeFlag(current string) []string {
	names := []string{"--help", "--help-all"}
	for _, f := range c.flags() {
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
func (c *command) completeValue(name, current string) []string {
	f := c.lookup(name)
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

// completionCommand prints what a shell needs to complete warp's command line.
func completionCommand() *command {
	shells := completion.Shells()
	return &command{
		name: "completion", args: "bash|fish|zsh", section: sectionOther, bare: true,
		summary: "print the completion script of a shell",
		about: []string{
			"bash:  warp completion bash > ~/.local/share/bash-completion/completions/warp",
			"fish:  warp completion fish > ~/.config/fish/completions/warp.fish",
			"zsh:   add to ~/.zshrc, after compinit:  source <(warp completion zsh)",
			"The flag --autocompletion does that for bash and fish.",
		},
		words:   shells,
		minArgs: 1, maxArgs: 1, needs: "the name of a shell",
		run: func(_ context.Context, inv *invocation) error {
			script := completion.Script(inv.args[0])
			if script == "" {
				return exit.Usagef("there is no completion for %q", inv.args[0]).WithHint("it exists for %s", strings.Join(shells, ", "))
			}
			_, err := io.WriteString(inv.Out, script)
			return err
		},
	}
}

// installCompletion writes the script into the folder from which the user's
// shell loads such scripts. A file that warp has not written stays as it is.
// zsh has no such folder by itself, so what to do there is said.
func installCompletion(env environment, out io.Writer) error {
	shellPath, _ := env("SHELL")
	shell := filepath.Base(shellPath)
	if shell == "zsh" {
		_, err := fmt.Fprintln(out, "add this line to ~/.zshrc, after compinit:  source <(warp completion zsh)")
		return err
	}
	path := completion.Path(shell, env)
	if path == "" {
		return exit.Errorf("cannot tell which shell to install completion for: SHELL is %q", shellPath).
			WithHint("warp completion --help shows how to do it by hand")
	}
	old, err := os.ReadFile(path)
	switch {
	case err == nil && !completion.Written(string(old)):
		return exit.Errorf("%s exists and was not written by warp", path).WithHint("move it away first")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return exit.Errorf("cannot install completion: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return exit.Errorf("cannot install completion: %w", err)
	}
	if err := os.WriteFile(path, []byte(completion.Script(shell)), 0o644); err != nil {
		return exit.Errorf("cannot install completion: %w", err)
	}
	_, err = fmt.Fprintf(out, "completion for %s is installed in %s; it works in new shells\n", shell, path)
	return err
}
