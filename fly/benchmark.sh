#!/usr/bin/env bash
# Runs a benchmark on machines of Fly.io: clients in each region, and one coordinator that finds them by DNS.
# docs/fly.md describes it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly port=7761    # of clients
readonly binary=/warp # in the image
readonly folder=/data # in the image, and the only one that its user can write to

regions=iad clients=2 concurrency=10 size=4KB endpoint=idev-storage.fly.tigris.dev bucket=test-bucket duration=1m workload=get
access_key=${WARP_ACCESS_KEY:-} secret_key=${WARP_SECRET_KEY:-}
insecure=false random=false range=false shut_down=false dry_run=false
extra=() # flags for warp, as they are
interrupted= # the signal
waiting= # process that is waited for
completed=false
token_set=false
secrets=() # those that this call set, and that go when it ends

usage() {
	cat <<END
Benchmarks an S3 store from machines of Fly.io.

Usage: benchmark.sh [-r|-n|-c|-o|-e|-a|-p|-b|-d|-t|-i|-f|-g|-s|-h] [--dry-run] [-- FLAGS OF WARP]
  -r REGIONS    where to run clients, such as iad,ord,sjc (default: $regions)
  -n N          clients per region (default: $clients)
  -c N          concurrent requests per client (default: $concurrency)
  -o SIZE       object size (default: $size)
  -e ENDPOINT   the store, as HOST or HOST:PORT (default: $endpoint)
  -a KEY        access key (default: that in \$WARP_ACCESS_KEY)
  -p KEY        secret key (default: that in \$WARP_SECRET_KEY)
  -b BUCKET     bucket to use (default: $bucket)
  -d TIME       how long to measure (default: $duration)
  -t WORKLOAD   get, put, mixed, list, stat or delete (default: $workload)
  -i            HTTP instead of HTTPS
  -f            random sizes up to -o
  -g            with -t get: download random parts of objects
  -s            stop and remove all machines of this script
  -h            this text
  --dry-run     print the commands without running them

The app is the one in fly.toml or \$FLY_APP. \$VM_SIZE is the machine size (default: performance-1x), \$IMAGE an
image to run instead of building one.
END
}

help=$(usage) # with the defaults, before options change them
readonly help

say() { printf 'benchmark.sh: %s\n' "$*" >&2; }

# refuse ends a call that is wrong.
refuse() {
	say "error: $*"
	exit 2
}

# fail ends a call that went wrong.
fail() {
	say "error: $*"
	exit 1
}

# show prints a command as one could type it.
show() {
	local word line='+'
	for word in "$@"; do
		if [[ $word =~ ^[][A-Za-z0-9_=.,:/@%+-]+$ ]]; then
			line+=" $word"
		else
			line+=" '${word//\'/\'\\\'\'}'"
		fi
	done
	printf '%s\n' "$line" >&2
}

# run shows a command and runs it. It finishes before Ctrl-C is heeded: what is half done cannot be cleaned up.
run() {
	show "$@"
	if $dry_run; then
		return 0
	fi
	(
		trap '' INT TERM
		exec "$@"
	)
}

# checks of options

matches() { [[ $2 =~ $3 ]] || refuse "$1 $2: $4"; }

parse() {
	local args=() option
	while [ $# -gt 0 ]; do
		case $1 in
		--dry-run) dry_run=true ;;
		--help) args+=(-h) ;;
		--)
			shift
			extra=("$@")
			break
			;;
		--*) refuse "$1: there is no such option; -h shows all, and flags of warp follow --" ;;
		*) args+=("$1") ;;
		esac
		shift
	done
	set -- ${args[@]+"${args[@]}"}
	while getopts ':r:n:c:o:e:a:p:b:d:t:ifgsh' option; do
		case $option in
		r) regions=$OPTARG ;;
		n) clients=$OPTARG ;;
		c) concurrency=$OPTARG ;;
		o) size=$OPTARG ;;
		e) endpoint=$OPTARG ;;
		a) access_key=$OPTARG ;;
		p) secret_key=$OPTARG ;;
		b) bucket=$OPTARG ;;
		d) duration=$OPTARG ;;
		t) workload=$OPTARG ;;
		i) insecure=true ;;
		f) random=true ;;
		g) range=true ;;
		s) shut_down=true ;;
		h)
			printf '%s\n' "$help"
			exit 0
			;;
		:) refuse "-$OPTARG wants a value" ;;
		*) refuse "-$OPTARG: there is no such option; -h shows all" ;;
		esac
	done
	shift $((OPTIND - 1))
	[ $# -eq 0 ] || refuse "$1: want options only; flags of warp follow --"
}

check() {
	local word
	matches -r "$regions" '^[a-z]{3}(,[a-z]{3})*$' 'want regions of Fly.io, three letters each, such as iad,ord'
	[ -z "$(tr ',' '\n' <<<"$regions" | sort | uniq -d)" ] || refuse "-r $regions: a region is named twice; -n says how many clients it has"
	matches -n "$clients" '^[1-9][0-9]{0,3}$' 'want a number of clients, 1 or more'
	matches -c "$concurrency" '^[1-9][0-9]{0,5}$' 'want a number of requests, 1 or more'
	matches -o "$size" '^[0-9][0-9A-Za-z.,:-]*$' 'want a size, such as 4KB or 1MiB'
	matches -e "$endpoint" '^[][A-Za-z0-9.,:{}-]+$' 'want HOST or HOST:PORT; HTTPS is the default, -i says HTTP'
	matches -b "$bucket" '^[A-Za-z0-9._-]+$' 'want the name of a bucket'
	matches -d "$duration" '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$' 'want a time, such as 90s or 5m'
	matches -t "$workload" '^(get|put|mixed|list|stat|delete)$' 'want get, put, mixed, list, stat or delete'
	if $range && [ "$workload" != get ]; then
		refuse "-g is about downloads: it goes with -t get, and not with -t $workload"
	fi
	if [ "${access_key:+given}" != "${secret_key:+given}" ]; then
		refuse "an access key and a secret key belong together: give -a and -p, or WARP_ACCESS_KEY and WARP_SECRET_KEY"
	fi
	[[ $access_key$secret_key =~ ^[[:graph:]]*$ ]] || refuse "a key has a blank or a line break in it"
	for word in ${extra[@]+"${extra[@]}"}; do
		# They travel in one string that the other side splits.
		[[ $word =~ ^[][A-Za-z0-9_=.,:/@%+{}-]+$ ]] || refuse "after --: $word: quotes, blanks and the like do not survive the way to the machine"
	done
}

find_app() {
	app=${FLY_APP:-$(sed -n 's/^app *= *"\([^"]*\)".*/\1/p' "$here/fly.toml")}
	[[ $app =~ ^[a-z0-9-]+$ ]] || refuse "fly.toml names no app, and neither does FLY_APP"
}

find_tools() {
	local tool
	if $dry_run; then
		return 0
	fi
	for tool in flyctl jq; do
		command -v "$tool" >/dev/null || refuse "$tool is not installed"
	done
}

# machines of this script

# machines lists them as "ID ADDRESS STATE REGION IMAGE ROLE SET", those of one role or one set only where that is said.
machines() {
	local list
	list=$(flyctl machine list --app "$app" --json) || fail "flyctl cannot list the machines of app $app; does it exist? flyctl apps create $app"
	jq -r --arg role "${1:-}" --arg set "${2:-}" '.[]
		| select(.state != "destroyed" and .state != "destroying") | .config.metadata as $m
		| select($m.warp_role and ($role == "" or $m.warp_role == $role) and ($set == "" or $m.warp_set == $set))
		| [.id, .private_ip, .state, .region, .config.image, $m.warp_role, ($m.warp_set // "-")] | join(" ")' <<<"$list"
}

# remove stops and removes machines, given as lines of machines. Clients remove their objects before they stop.
remove() {
	local id rest stopping=()
	while read -r id _ _ _ _ rest; do
		if [[ $rest == coordinator* ]]; then
			run flyctl machine destroy "$id" --app "$app" --force || say "machine $id was not removed"
		elif [ -n "$id" ]; then
			stopping+=("$id")
		fi
	done <<<"$1"
	if [ ${#stopping[@]} -eq 0 ]; then
		return 0
	fi
	run flyctl machine stop "${stopping[@]}" --app "$app" --signal SIGINT --timeout 60 --wait-timeout 90s || true
	for id in "${stopping[@]}"; do
		run flyctl machine destroy "$id" --app "$app" --force || say "machine $id was not removed"
	done
}

shut_down() {
	local all
	if $dry_run; then
		show flyctl machine list --app "$app" --json
		run flyctl machine stop MACHINE --app "$app" --signal SIGINT --timeout 60 --wait-timeout 90s
		run flyctl machine destroy MACHINE --app "$app" --force
		run flyctl secrets unset WARP_CLIENT_TOKEN --app "$app" --stage
		return 0
	fi
	show flyctl machine list --app "$app" --json
	all=$(machines)
	if [ -z "$all" ]; then
		say "no machine of this script is in app $app"
		return 0
	fi
	remove "$all"
	run flyctl secrets unset WARP_CLIENT_TOKEN --app "$app" --stage || say "the secret WARP_CLIENT_TOKEN is still set"
	all=$(machines)
	[ -z "$all" ] || fail "these machines are still there: $(cut -d' ' -f1 <<<"$all" | paste -sd' ')"
}

# finish is what happens at the end, whatever the end is.
finish() {
	local code=$? all=''
	trap '' INT TERM
	trap - EXIT
	if $dry_run; then
		run flyctl machine destroy MACHINE --app "$app" --force
	elif [ -n "$run_id" ]; then
		if ! $completed; then
			say "removing the machines that were started"
			all=$(machines client "$run_id" || true)
			if $token_set; then
				secrets+=(WARP_CLIENT_TOKEN)
			fi
		fi
		all=$(machines coordinator "$run_id" || true)$'\n'$all
		remove "$all"
	fi
	if [ ${#secrets[@]} -gt 0 ]; then
		run flyctl secrets unset "${secrets[@]}" --app "$app" --stage || say "these secrets are still set: ${secrets[*]}"
	fi
	if [ -n "$interrupted" ]; then
		code=130
	fi
	exit "$code"
}

interrupt() {
	interrupted=$1
	if [ -n "$waiting" ]; then
		kill "$waiting" 2>/dev/null || true
	fi
	exit 130
}

# the run

# wanted is the region of each client, one on a line.
wanted() {
	local region i
	tr ',' '\n' <<<"$regions" | while read -r region; do
		for ((i = 0; i < clients; i++)); do echo "$region"; done
	done | sort
}

build_image() {
	if [ -n "${IMAGE:-}" ]; then
		image=$IMAGE
		return 0
	fi
	local label
	label=warp-$(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || date -u +%Y%m%d%H%M%S)
	image=registry.fly.io/$app:$label
	run flyctl deploy "$here/.." --app "$app" --config "$here/fly.toml" --build-only --push --image-label "$label"
}

# reuse looks whether clients of an earlier call are just those that are wanted.
reuse() {
	local standing=$1
	[ -n "$standing" ] || return 1
	[[ $image != *-dirty ]] || return 1
	[ -z "$(awk -v image="$image" '$3 != "started" || $5 != image' <<<"$standing")" ] || return 1
	[ "$(awk '{ print $7 }' <<<"$standing" | sort -u | wc -l)" -eq 1 ] || return 1
	[ "$(awk '{ print $4 }' <<<"$standing" | sort)" = "$(wanted)" ] || return 1
	set_id=$(awk 'NR == 1 { print $7 }' <<<"$standing")
}

# set_secrets hands over lines NAME=VALUE, by standard input: a command line could be seen by others.
set_secrets() {
	show flyctl secrets import --app "$app" --stage
	say "  with $(cut -d= -f1 <<<"$1" | paste -sd' ') on standard input"
	if $dry_run; then
		return 0
	fi
	(
		trap '' INT TERM
		flyctl secrets import --app "$app" --stage <<<"$1"
	)
}

start_clients() {
	local standing='' region n=0 last=''
	if ! $dry_run; then
		standing=$(machines coordinator)
		[ -z "$standing" ] || fail "a run is going on in app $app, or was cut off; benchmark.sh -s ends it and removes its machines"
		standing=$(machines client)
		if reuse "$standing"; then
			say "using the $(wc -l <<<"$standing") clients that are there"
			return 0
		fi
		if [ -n "$standing" ]; then
			say "the clients that are there are not those that are wanted"
			remove "$standing"
		fi
	fi
	token_set=true
	set_secrets "WARP_CLIENT_TOKEN=$(head -c 24 /dev/urandom | od -An -vtx1 | tr -d ' \n')"
	while read -r region; do
		[ "$region" = "$last" ] || n=0
		n=$((n + 1)) last=$region
		run flyctl machine run --app "$app" --region "$region" --name "warp-$set_id-$region-$n" \
			--metadata warp_role=client --metadata "warp_set=$set_id" --vm-size "$vm_size" --restart no --detach \
			"$image" client "[::]:$port"
	done < <(wanted)
}

# await waits until a command succeeds.
await() {
	local what=$1 i
	shift
	if $dry_run; then
		return 0
	fi
	for ((i = 0; i < 60; i++)); do
		if "$@"; then
			return 0
		fi
		sleep 2
	done
	fail "waited two minutes for $what"
}

# all_named says whether the name has an address for each client.
all_named() { [ "$(flyctl dig aaaa "$name" --app "$app" --short 2>/dev/null | grep -c :)" -eq "$(wanted | wc -l)" ]; }

coordinator_up() {
	local id state
	read -r id address state _ < <(machines coordinator "$run_id") || true
	[ -n "$id" ] && [ "$state" = started ]
}

# start_coordinator starts the machine that the benchmark is commanded from. Until then a warp client keeps it busy that
# listens on loopback. It has no name in DNS, so it cannot be taken for one of the clients.
start_coordinator() {
	run flyctl machine run --app "$app" --region "${regions%%,*}" --name "warp-$run_id-coordinator" --skip-dns-registration \
		--metadata warp_role=coordinator --metadata "warp_set=$run_id" --vm-size "$vm_size" --restart no --detach \
		"$image" client
	show flyctl machine list --app "$app" --json
	await "the coordinator to start" coordinator_up
	show flyctl dig aaaa "$name" --app "$app" --short
	await "$(wanted | wc -l) clients under the name $name" all_named
}

# benchmark runs warp on the coordinator and returns its exit code.
benchmark() {
	local log=warp-fly-$run_id command code=0 errors
	command="$binary $workload --warp-client=dns:$name:$port --warp-client-wait=2m --host=$endpoint --bucket=$bucket --concurrent=$concurrency"
	command+=" --obj.size=$size --duration=$duration --benchdata=$folder/$log --analyze.v"
	$insecure || command+=" --tls"
	! $random || command+=" --obj.randsize"
	! $range || command+=" --range"
	command+="${extra[*]+ ${extra[*]}}"
	local ssh=(flyctl ssh console --app "$app" --address "$address" --command "$command")
	local fetch=(flyctl ssh sftp get "$folder/$log.csv.zst" "$log.csv.zst" --app "$app" --address "$address")
	show "${ssh[@]}"
	if $dry_run; then
		run "${fetch[@]}"
		return 0
	fi
	errors=$(mktemp)
	# In the background, so that Ctrl-C is heeded at once.
	"${ssh[@]}" 2> >(tee "$errors" >&2) &
	waiting=$!
	wait "$waiting" || code=$?
	waiting=
	if [ "$code" -ne 0 ]; then
		sleep 1 # until tee has written
		local status
		status=$(sed -n 's/.*exited with status \([0-9][0-9]*\).*/\1/p' "$errors" | tail -n 1)
		rm -f "$errors"
		[ -n "$status" ] || fail "the connection to the coordinator ended, exit code $code of flyctl"
		code=$status
	fi
	rm -f "$errors"
	completed=true
	if run "${fetch[@]}" && [ -s "$log.csv.zst" ]; then
		say "the log of all requests is $log.csv.zst; warp analyze reports on it"
	elif [ "$code" -eq 0 ]; then
		fail "the log was not fetched"
	fi
	return "$code"
}

main() {
	parse "$@"
	check
	find_app
	find_tools
	vm_size=${VM_SIZE:-performance-1x}
	if $shut_down; then
		shut_down
		return 0
	fi
	run_id=$(date -u +%Y%m%d%H%M%S)
	set_id=$run_id address=ADDRESS
	trap finish EXIT
	trap 'interrupt INT' INT
	trap 'interrupt TERM' TERM
	build_image
	start_clients
	name=$set_id.warp_set.kv._metadata.$app.internal
	if [ -n "$access_key" ]; then
		secrets=(WARP_ACCESS_KEY WARP_SECRET_KEY)
		set_secrets "WARP_ACCESS_KEY=$access_key"$'\n'"WARP_SECRET_KEY=$secret_key"
	fi
	start_coordinator
	local code=0
	benchmark || code=$?
	if $completed; then
		say "clients stay for the next run, and cost money while they do: benchmark.sh -s removes them"
	fi
	return "$code"
}

run_id=
main "$@"
