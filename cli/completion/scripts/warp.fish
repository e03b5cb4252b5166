# completion for warp, written by warp
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
