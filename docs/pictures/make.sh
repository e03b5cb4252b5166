#!/usr/bin/env bash
# Makes the pictures of the README, run.svg and report.png, and the page of the latter, report.html. In both, a store with a
# known service time stops for two seconds. Needs Go, python3, npm and chromium, and a machine that does nothing else: it
# fails if this machine was the limit. Installs the recorder (asciinema) and its renderer (svg-term) into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$PWD/docs/pictures
work=$(mktemp -d)
store=""
cleanup() {
	[ -z "$store" ] || kill "$store" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
CGO_ENABLED=0 go build -o "$work/bin/warp" .
CGO_ENABLED=0 go build -C test -o "$work/bin/store" ./timedstore
cd "$work"
mkdir --mode=700 sockets
export PATH=$work/bin:$PATH XDG_RUNTIME_DIR=$work/sockets # marks reach only the runs of this script

python3 -m venv tools
tools/bin/pip install --quiet asciinema==2.4.0
npm install --silent --no-fund svg-term-cli@2.1.1 >/dev/null

host=127.0.0.1:9000
store -addr "$host" -random -service 2ms -size 65536 >/dev/null < <(sleep 600) &
store=$!
sleep 2

# outage stops the store for two seconds, after a while.
outage() {
	sleep "$1"
	warp mark "disk pulled" >/dev/null
	kill -STOP "$store"
	sleep 2
	kill -CONT "$store"
}

run="warp get --host=$host --obj.size=64KiB --objects=200 --concurrent=8"
cat >session.sh <<SESSION
export WARP_ACCESS_KEY=key WARP_SECRET_KEY=secretsecret
type() { printf '\$ '; for ((i = 0; i < \${#1}; i++)); do printf '%s' "\${1:i:1}"; sleep 0.03; done; sleep 0.5; echo; eval "\$1"; }
type "$run --duration=12s"
sleep 6
printf ' ' # the recording ends with the last thing that is printed
SESSION
outage 9 &
TERM=xterm-256color tools/bin/asciinema rec --quiet --cols=92 --rows=28 --command="bash session.sh" run.cast
wait $!
node_modules/.bin/svg-term --in=run.cast --out="$out/run.svg" --window --no-cursor --width=92 --height=28

outage 10 &
WARP_ACCESS_KEY=key WARP_SECRET_KEY=secretsecret $run --duration=30s --quiet --json --html=report.html >report.json
wait $!
python3 - report.json <<'CHECK'
import json, sys
r = json.load(open(sys.argv[1]))
if r["client"]["verdict"] != "store" or r["warnings"]:
    sys.exit("not a picture to show: %s %s" % (r["client"]["sentence"], r["warnings"]))
CHECK
chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$work/profile" --hide-scrollbars \
	--window-size=1200,1500 --screenshot="$out/report.png" "file://$work/report.html" >/dev/null 2>&1
cp report.html "$out/report.html"
