#!/usr/bin/env bash
# Runs a benchmark for the GitHub Action in action.yml, and writes its report to the job's summary.
set -euo pipefail

warp=${INPUT_WARP:-}
if [ -z "$warp" ]; then
	warp=${RUNNER_TEMP:-/tmp}/warp
	(cd "$GITHUB_ACTION_PATH" && CGO_ENABLED=0 go build -trimpath -o "$warp" .)
fi

name=${INPUT_NAME:-warp}
# The command is split as a shell does, but nothing in it is expanded or run.
if ! words=$(xargs -n 1 printf '%s\n' <<<"$INPUT_COMMAND"); then
	echo "the input command has an unmatched quote: $INPUT_COMMAND" >&2
	exit 2
fi
mapfile -t args <<<"$words"
while IFS= read -r assertion; do
	if [ -n "${assertion// /}" ]; then
		args+=(--assert "$assertion")
	fi
done <<<"${INPUT_ASSERT:-}"
# Without assertions there is nothing that JUnit's file could hold, and warp refuses --junit.
case " ${args[*]} " in
*" --assert"*) args+=("--junit=$name.junit.xml") ;;
esac

# The messages go to the job's log at once, and to the summary if there is no report.
code=0
{ "$warp" "${args[@]}" --benchdata="$name" --no-color 2>&1 >"$name.txt" | tee "$name.log" >&2; } || code=$?
cat "$name.txt"
report=$name.txt
if [ ! -s "$report" ]; then
	report=$name.log
fi

case $code in
0) verdict="✅ passed" ;;
3) verdict="❌ requests failed" ;;
4) verdict="❌ an assertion failed" ;;
5) verdict="⚠️ inconclusive" ;;
*) verdict="❌ failed" ;;
esac
{
	echo "### $name: $verdict"
	echo
	# A report that contains backticks must not leave its fence.
	fence=$(grep -o '`\+' "$report" | sort -r | head -n 1 || true)
	fence='```'$fence
	echo "${fence}text"
	cat "$report"
	echo "$fence"
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
