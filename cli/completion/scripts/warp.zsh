#compdef warp
# completion for warp, written by warp
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
