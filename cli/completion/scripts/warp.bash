# completion for warp, written by warp
_warp() {
	local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]}
	[[ $word == = ]] && word=
	COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _warp warp
