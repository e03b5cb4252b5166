// Package completion has the scripts that make shells complete warp's command
// line, and knows the folders for them. The scripts call warp __complete.
package completion

import (
	"path/filepath"
	"strings"
)

const scriptMark = "# completion for warp, written by warp"

const bashScript = scriptMark + `
_warp() {
	local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]}
	[[ $word == = ]] && word=
	COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _warp warp
`

const zshScript = "#compdef warp\n" + scriptMark + `
_warp() {
	local -a found
	found=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	found=("${(@)found:#}")
	if compset -P '--*='; then :; elif compset -P '-*='; then :; fi
	if (( ${#found} )); then
		compadd -- "${found[@]}"
	else
		_files
	fi
}
if [[ $funcstack[1] == _warp ]]; then
	_warp "$@"
else
	compdef _warp warp
fi
`

const fishScript = scriptMark + `
function __warp_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l lead (string match -r -- '^--?[a-z][a-z0-9.-]*=' $words[-1])
	set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)
	if set -q found[1]
		printf '%s\n' "$lead"$found
	else
		__fish_complete_path (string replace -- "$lead" '' $words[-1])
	end
end
complete -c warp -f -a '(__warp_complete)'
`

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

// Script returns the script of a shell, "" if there is none.
func Script(shell string) string {
	return map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
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
