// Package completion has the scripts that make shells complete warp's command
// line, and knows the folders for them. The scripts call warp __complete.
package completion

import (
	"embed"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// scriptMark is a line of every script.
const scriptMark = "# completion for warp, written by warp"

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

// Script returns the script of a shell, "" if there is none.
func Script(shell string) string {
	if !slices.Contains(Shells(), shell) {
		return ""
	}
	text, _ := scripts.ReadFile("scripts/warp." + shell) // it is in the binary
	return string(text)
}

// Written reports whether a file is a script that warp has written.
func Written(text string) bool { return strings.Contains(text, scriptMark) }

// Path returns the file that a shell reads as the script of a user, "" if there
// is none or it is unknown.
func Path(shell string, env func(name string) (value string, ok bool)) string {
	home, _ := env("HOME")
	if home == "" {
		return ""
	}
	folder := func(variable, fallback string) string {
		if dir, ok := env(variable); ok && filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(home, fallback)
	}
	switch shell {
	case "bash":
		return filepath.Join(folder("XDG_DATA_HOME", ".local/share"), "bash-completion", "completions", "warp")
	case "fish":
		return filepath.Join(folder("XDG_CONFIG_HOME", ".config"), "fish", "completions", "warp.fish")
	}
	return ""
}
