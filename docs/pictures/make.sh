#!/usr/bin/env bash
# Makes the pictures of the README: docs/pictures/run.svg and report.png. Needs warp built, python3, npm and chromium;
# installs the recorder (asciinema) and its renderer (svg-term) into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
warp=$PWD/warp out=$PWD/docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv tools
tools/bin/pip install --quiet asciinema==2.4.0
npm install --silent --no-fund svg-term-cli@2.1.1 >/dev/null

cat >session.sh <<SESSION
PATH=$(dirname "$warp"):\$PATH
type() { printf '\$ '; for ((i = 0; i < \${#1}; i++)); do printf '%s' "\${1:i:1}"; sleep 0.03; done; sleep 0.5; echo; eval "\$1"; }
type "warp mixed --host=embedded --obj.size=64KiB --objects=200 --concurrent=8 --rps-limit=1000 --duration=10s"
sleep 4
SESSION
TERM=xterm-256color tools/bin/asciinema rec --quiet --cols=92 --rows=26 --command="bash session.sh" run.cast
node_modules/.bin/svg-term --in=run.cast --out="$out/run.svg" --window --no-cursor --width=92 --height=26

"$warp" mixed --host=embedded --obj.size=64KiB --objects=200 --concurrent=8 --rps-limit=1000 --duration=30s --stress --quiet --html=report.html >/dev/null
chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" --hide-scrollbars \
	--window-size=1200,1500 --screenshot="$out/report.png" "file://$work/report.html" >/dev/null 2>&1
