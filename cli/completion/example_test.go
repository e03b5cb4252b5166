package completion_test

import (
	"fmt"
	"path/filepath"

	"warp/cli/completion"
)

// A script without a path has to be added to a file of the user's own.
func Example() {
	env := func(name string) (string, bool) {
		if name == "HOME" {
			return "/home/user", true
		}
		return "", false
	}
	for _, shell := range completion.Shells() {
		path := filepath.ToSlash(completion.Path(shell, env))
		fmt.Printf("%s: %q, written by warp: %v\n", shell, path, completion.Written(completion.Script(shell)))
	}
	// Output:
	// bash: "/home/user/.local/share/bash-completion/completions/warp", written by warp: true
	// fish: "/home/user/.config/fish/completions/warp.fish", written by warp: true
	// zsh: "", written by warp: true
}
