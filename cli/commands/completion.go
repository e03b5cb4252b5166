package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"warp/cli/command"
	"warp/cli/completion"
	"warp/cli/exit"
	"warp/internal/wholefile"
)

// completionCommand prints completion scripts.
func completionCommand() *command.Command {
	shells := completion.Shells()
	return &command.Command{
		Name: "completion", Args: "bash|fish|zsh", Section: command.SectionOther, Bare: true,
		Summary: "print the completion script of a shell",
		About: []string{
			"bash:  warp completion bash > ~/.local/share/bash-completion/completions/warp",
			"fish:  warp completion fish > ~/.config/fish/completions/warp.fish",
			"zsh:   add to ~/.zshrc, after compinit:  source <(warp completion zsh)",
			"The flag --autocompletion does that for bash and fish.",
		},
		Words:   shells,
		MinArgs: 1, MaxArgs: 1, Needs: "the name of a shell",
		Run: func(_ context.Context, inv *command.Invocation) error {
			script := completion.Script(inv.Args[0])
			if script == "" {
				return exit.Usagef("there is no completion for %q", inv.Args[0]).WithHint("it exists for %s", strings.Join(shells, ", "))
			}
			_, err := io.WriteString(inv.Out, script)
			return err
		},
	}
}

// InstallCompletion writes the script into the folder from which the user's
// shell loads such scripts. A file that warp has not written stays as it is.
// zsh has no such folder by default, so a line for its configuration is printed.
func InstallCompletion(env command.Environment, out io.Writer) error {
	shell := filepath.Base(env.Value("SHELL"))
	if shell == "zsh" {
		_, err := fmt.Fprintln(out, "add this line to ~/.zshrc, after compinit:  source <(warp completion zsh)")
		return err
	}
	path := completion.Path(shell, env)
	if path == "" {
		return exit.Errorf("cannot tell which shell to install completion for: SHELL is %q", env.Value("SHELL")).
			WithHint("warp completion --help shows how to do it by hand")
	}
	old, err := wholefile.Read(path, wholefile.Small)
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
