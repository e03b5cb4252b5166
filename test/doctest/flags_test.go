package doctest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// helps are the full help texts by command; "" is warp's own.
func helps(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"": mustWarp(t, 0, dir, "--help-all").out}
	command := regexp.MustCompile(`(?m)^  ([a-z][a-z0-9-]*) {2,}[a-z]`)
	for _, m := range command.FindAllStringSubmatch(all[""], -1) {
		all[m[1]] = mustWarp(t, 0, dir, m[1], "--help-all").out
	}
	if len(all) < 10 {
		t.Fatalf("found %d commands in\n%s", len(all), all[""])
	}
	return all
}

var flagHead = regexp.MustCompile(`(?m)^  (?:-\w, )?--([a-z][a-z0-9.-]*)`)

// aliases matches the other names of a flag in a help text.
var aliases = regexp.MustCompile(`\(also\s+(--[^)]*)\)`)

// flagsOf are the flags that a help text explains, with their aliases.
func flagsOf(help string) []string {
	var names []string
	for _, m := range flagHead.FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	for _, m := range aliases.FindAllStringSubmatch(help, -1) {
		for _, m := range flagMention.FindAllStringSubmatch(m[1], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// refusedVariables are variables of minio/warp that this tool says it does not have.
var refusedVariables = []string{"WARP_RDMA", "WARP_RDMA_WINDOW"}

// absentSection is the section of docs/compatibility.md about flags and commands that are refused.
const absentSection = "Not part of this tool"

var flagMention = regexp.MustCompile(`(?:^|[^-\w])--([a-z][a-zA-Z0-9-]*(?:\.[a-z0-9-]+)*)`)

// A foreignLine is a command of another program, with flags of its own, in a block or between backquotes.
var foreignLine = regexp.MustCompile("(?m)(^\\+ flyctl|^ *(curl|docker|helm|kubectl)|`(helm|statsd_exporter)|: az) [^`\n]*")

// A foreignMention is a flag as other tools write it, with one dash. They have more than warp understands.
var foreignMention = regexp.MustCompile("`-([a-z][a-zA-Z0-9-]*)[=`]")

func TestFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	var known, documented []string
	for _, help := range helps(t) {
		known = append(known, flagsOf(help)...)
		if strings.Contains(help, "-v, --version") {
			known = append(known, "version")
		}
	}
	for _, d := range documents(t) {
		for _, l := range d.lines {
			for _, m := range foreignMention.FindAllStringSubmatch(l.text, -1) {
				documented = append(documented, m[1])
			}
			for _, m := range flagMention.FindAllStringSubmatch(foreignLine.ReplaceAllString(l.text, ""), -1) {
				refused := l.section == absentSection
				if refused && !slices.Contains(known, m[1]) {
					continue // TestAbsent looks at these
				}
				documented = append(documented, m[1])
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s:%d: there is no --%s", d.name, l.number, m[1])
				}
			}
		}
		for _, b := range d.blocks {
			for _, m := range flagMention.FindAllStringSubmatch(foreignLine.ReplaceAllString(b.text, ""), -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s:%d: there is no --%s", d.name, b.number, m[1])
				}
			}
		}
	}
	for _, name := range missing(known, documented) {
		t.Errorf("--%s is in the help, and no document mentions it", name)
	}
}

// What compatibility.md says is not there is refused, in the documented way.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	known := flagsOf(helps(t)["get"])
	compatibility := read(t, "docs/compatibility.md")
	flags, commands := 0, 0
	for _, l := range compatibility.lines {
		if l.section != absentSection {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(l.text, -1) {
			name, isFlag := strings.CutPrefix(m[1], "--")
			args := []string{name}
			switch {
			case isFlag && slices.Contains(known, name), strings.HasPrefix(l.text, "These"), strings.HasPrefix(name, "WARP_"):
				continue // variables are tried by the tests of cli
			case isFlag:
				flags++
				args = []string{"get", m[1] + "=1"}
			default:
				commands++
			}
			if r := warp(t, dir, args...); r.code != 2 || !strings.Contains(r.errout, "is not part of this tool") {
				t.Errorf("compatibility.md:%d: warp %q exits with %d and says %q", l.number, args, r.code, r.errout)
			}
		}
	}
	if flags == 0 || commands == 0 {
		t.Errorf("tried only %d flags and %d commands", flags, commands)
	}
}

// defaultIn is the default that a help text gives for a flag; ok is false without the flag.
func defaultIn(help, name string) (value string, ok bool) {
	entry := regexp.MustCompile(`(?ms)^  (?:-\w, )?--` + regexp.QuoteMeta(name) + `( .*?)?\n(  -|\n|\S)`).FindString(help + "\n")
	if entry == "" {
		return "", false
	}
	m := regexp.MustCompile(`\(default ([^)]*)\)`).FindStringSubmatch(strings.Join(strings.Fields(entry), " "))
	if m == nil {
		return "", true
	}
	return m[1], true
}

// The table of benchmarks has the defaults of the help; TestFlagReference has the others.
func TestDefaults(t *testing.T) {
	t.Parallel()
	help := helps(t)
	usage := read(t, "docs/usage.md")
	rows := usage.in(t, "Benchmarks")[0].rows
	if len(rows) < 17 {
		t.Errorf("found only %d benchmarks", len(rows))
	}
	for _, row := range rows {
		command := strings.Trim(row[0], "`")
		for i, name := range []string{"objects", "obj.size"} {
			if d, ok := defaultIn(help[command], name); row[2+i] != "–" && d != row[2+i] || ok != (row[2+i] != "–") {
				t.Errorf("%s --%s: the documented default is %q, the help has %q", command, name, row[2+i], d)
			}
		}
	}
}

func TestVariablesAreDocumented(t *testing.T) {
	t.Parallel()
	inHelp := regexp.MustCompile(`\[(WARP_[A-Z_]+)\]`)
	mention := regexp.MustCompile(`WARP_[A-Z_]*[A-Z]`)
	var known, documented []string
	for _, help := range helps(t) {
		for _, m := range inHelp.FindAllStringSubmatch(help, -1) {
			known = append(known, m[1])
		}
	}
	for _, d := range documents(t) {
		for _, l := range d.lines {
			documented = append(documented, mention.FindAllString(l.text, -1)...)
		}
		for _, b := range d.blocks {
			documented = append(documented, mention.FindAllString(b.text, -1)...)
		}
	}
	same(t, "variables", documented, append(known, refusedVariables...))
}

func TestCommandsAreDocumented(t *testing.T) {
	t.Parallel()
	usage, readme := readAll(t, "docs/usage.md"), readAll(t, "README.md")
	for command := range helps(t) {
		if command == "" {
			continue
		}
		if !regexp.MustCompile("`(warp )?" + command + "[ `]").MatchString(usage) {
			t.Errorf("docs/usage.md does not mention %s", command)
		}
	}
	elsewhere := []string{"script", "aisloader", "replay", "consistency"} // consistency runs on every store; its page says what was found
	for _, command := range benchmarks(t) {
		if !slices.Contains(elsewhere, command) && !strings.Contains(readAll(t, "docs/compatibility.md"), "\n| `"+command+"` | ") {
			t.Errorf("the matrix of docs/compatibility.md, which test/conformance writes, has no row of %s", command)
		}
	}
	for _, command := range []string{"get", "put", "mixed", "analyze", "cmp"} {
		if !strings.Contains(readme, "\n./warp "+command+" ") {
			t.Errorf("README has no example of %s", command)
		}
	}
}
