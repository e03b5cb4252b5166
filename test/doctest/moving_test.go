package doctest

import (
	"slices"
	"strings"
	"testing"
)

// warpFlags are the flags in the READMEs of the other warp that existing scripts use.
var warpFlags = strings.Fields(`access-key analyze.dur analyze.host analyze.op analyze.out analyze.skip analyze.v autoterm autoterm.dur
	autoterm.pct batch benchdata bucket compress concurrent copies delete-distrib duration encrypt files get-distrib host
	host-select influxdb list-existing list-flat md5 noclear noprefix obj.randsize obj.size objects objs.per part.size parts
	prefix put-distrib range region secret-key serverprof sse-s3-encrypt stat-distrib stress syncstart tls versions warp-client`)

// The functions of the other tools in docs/moving.md, by the head of their table.
var foreign = map[string][]string{
	"statement or clause there": {
		"PUT", "GET", "REUSE", "DELETE", "n OBJECTS", "USING NAMING STRATEGY CONSTANT PREFIX", "USING NAMING STRATEGY RANDOM PREFIX",
		"WITH SEED", "AT RATE", "WARMUP", "MAX c CONCURRENT", "RUNTIME", "IN CONTEXT", "OF SIZE",
	},
	"column there": {"count", "Request duration", "Time to 1st bytes", "concurr", "bytes", "req's", "errs"},
}

// Every flag, statement and option of the other tools has a row, and its replacement works: a
// command or a flag in the second column is tried in a dry run.
func TestMoving(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	help := helps(t)
	known := map[string]bool{}
	for _, text := range help {
		for _, name := range flagsOf(text) {
			known[name] = true
		}
	}
	tried := 0
	doc := read(t, "docs/moving.md")
	heads := map[string][]string{}
	for _, tab := range doc.tables {
		var first []string
		for _, row := range tab.rows {
			if tab.head[0] == "flag there" {
				for _, m := range flagMention.FindAllStringSubmatch(row[0], -1) {
					first = append(first, m[1])
					if !known[m[1]] {
						t.Errorf("there is no --%s", m[1])
					}
				}
				continue
			}
			for _, m := range code.FindAllStringSubmatch(row[0], -1) {
				first = append(first, m[1])
			}
			if tab.head[0] == "column there" {
				continue
			}
			for _, m := range code.FindAllStringSubmatch(row[1], -1) {
				tried++
				r := warp(t, dir, dryRun(help, m[1])...)
				if r.code != 0 {
					t.Errorf("%s: %q ends with %d: %s", row[0], m[1], r.code, r.errout)
				}
			}
		}
		heads[tab.head[0]] = append(heads[tab.head[0]], first...)
	}
	if tried < 30 {
		t.Errorf("tried only %d commands and flags", tried)
	}
	same(t, "flags of warp", heads["flag there"], warpFlags)
	for head, want := range foreign {
		same(t, head, heads[head], want)
	}
	options := append(strings.Split("-r -n -c -o -e -a -p -b -d -t -i -f -g -s -h", " "), "base-uri", "s3-access-key", "s3-secret-key", "s3-region", "implementation")
	same(t, "options", heads["option there"], options)
}

// dryRun returns a documented command, or a benchmark with a documented flag, as a dry run.
func dryRun(help map[string]string, text string) []string {
	args := strings.Fields(text)
	if args[0] == "warp" {
		return append(args[1:], "--dry-run")
	}
	command := "get"
	if name := flagMention.FindStringSubmatch(args[0])[1]; !slices.Contains(flagsOf(help["get"]), name) {
		command = "put"
	}
	switch { // one key is rejected without the other
	case strings.Contains(args[0], "access-key"):
		args = append(args, "--secret-key=x")
	case strings.Contains(args[0], "secret-key"):
		args = append(args, "--access-key=x")
	}
	return append([]string{command}, append(args, "--dry-run")...)
}
