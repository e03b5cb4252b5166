package doctest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

const flagReferenceHead = `# Flag reference

<!-- Written by "go test -C test ./doctest -run TestFlagReference -update" from the help of each command. Do not edit. -->

This page lists every flag, as ` + "`warp COMMAND --help-all`" + ` explains it. [Usage](usage.md) has the rules that apply to all of
them. "All benchmarks" are all except ` + "`script`, `consistency`, `aisloader` and `replay`" + `, which are named separately.
`

// flagGroups is the order of the sections in docs/flags.md.
var flagGroups = []string{"Workload", "Target", "Traffic", "Run", "Analysis", "Assertions", "Output", "Verdict", "Sides", "Points", "Search", "Runs", "Clients", "Files", "File"}

// A flagEntry is a flag with the explanation of one or more commands.
type flagEntry struct {
	head, text, variables string
	commands, defaults    []string // same indices
}

// docs/flags.md agrees with the help texts.
func TestFlagReference(t *testing.T) {
	t.Parallel()
	want := flagReference(t)
	check.Golden(t, filepath.Join(root, "docs/flags.md"), want)
}

func flagReference(t *testing.T) string {
	t.Helper()
	help := helps(t)
	order := commandOrder(help[""])
	sections := make(map[string][]*flagEntry)
	for _, command := range order {
		for title, text := range groups(help[command]) {
			sections[title] = addFlags(sections[title], command, text)
		}
	}
	var b strings.Builder
	b.WriteString(flagReferenceHead)
	for _, title := range flagGroups {
		fmt.Fprintf(&b, "\n## %s\n\n| flag | default | meaning | commands |\n|---|---|---|---|\n", title)
		for _, e := range sections[title] {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.head, e.defaultCell(), cell(e.text+e.variables), commandsCell(e.commands, order))
		}
		delete(sections, title)
	}
	for title := range sections {
		t.Errorf("flagGroups lacks %q", title)
	}
	return b.String()
}

// commandOrder lists the commands, benchmarks first, as in the help.
func commandOrder(help string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}[a-z]`).FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	return names
}

var (
	entryStart = regexp.MustCompile(`(?m)^  (?:(-\w), )?--([a-z][a-z0-9.-]*)(?: ([A-Z][^ \n]*))?(?:\s+|$)`)
	endOfGroup = regexp.MustCompile(`(?m)^Example `)
	hasDefault = regexp.MustCompile(` \(default ([^)]*)\)`)
	alsoCalled = regexp.MustCompile(` \(also (-[^)]*)\)`)
	variable   = regexp.MustCompile(` (\[(?:WARP_|NO_)[A-Z_, ]*\])$`)
)

// addFlags adds the flags of one group of a command's help.
func addFlags(entries []*flagEntry, command, text string) []*flagEntry {
	if at := endOfGroup.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	starts := entryStart.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		e, byDefault := parseEntry(entryStart.FindStringSubmatch(text[at[0]:at[1]]), strings.Join(strings.Fields(text[at[1]:end]), " "))
		same := slices.IndexFunc(entries, func(o *flagEntry) bool { return o.head == e.head && o.text == e.text })
		if same < 0 {
			same = len(entries)
			// Entries for the same flag of other commands follow each other.
			if last := slices.IndexFunc(entries, func(o *flagEntry) bool { return o.head == e.head }); last >= 0 {
				same = last + 1
			}
			entries = slices.Insert(entries, same, e)
		}
		entries[same].commands = append(entries[same].commands, command)
		entries[same].defaults = append(entries[same].defaults, byDefault)
	}
	return entries
}

func parseEntry(head []string, text string) (e *flagEntry, byDefault string) {
	e = &flagEntry{}
	names := []string{"--" + head[2]}
	if head[1] != "" {
		names = append(names, head[1])
	}
	text = " " + text
	if m := alsoCalled.FindStringSubmatch(text); m != nil {
		names = append(names, strings.Split(m[1], ", ")...)
		text = strings.Replace(text, m[0], "", 1)
	}
	if m := variable.FindStringSubmatch(text); m != nil {
		e.variables = " " + m[1]
		text = strings.TrimSuffix(text, m[0])
	}
	if m := hasDefault.FindStringSubmatch(text); m != nil {
		byDefault = m[1]
		text = strings.Replace(text, m[0], "", 1)
	}
	if head[3] != "" {
		names[0] += "=" + head[3]
	}
	e.head = strings.ReplaceAll("`"+strings.Join(names, "`, `")+"`", "|", "\\|")
	e.text = strings.TrimSpace(text)
	return e, byDefault
}

// defaultCell returns the default, or the defaults by command if they differ.
func (e *flagEntry) defaultCell() string {
	if len(slices.Compact(slices.Sorted(slices.Values(e.defaults)))) == 1 {
		return cell(e.defaults[0])
	}
	byValue := make(map[string][]string)
	for i, d := range e.defaults {
		byValue[d] = append(byValue[d], "`"+e.commands[i]+"`")
	}
	var parts []string
	for d, commands := range byValue {
		parts = append(parts, cell(cmp.Or(d, "none"))+" ("+strings.Join(commands, ", ")+")")
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func commandsCell(commands, order []string) string {
	benchmarks := order[:slices.Index(order, "script")]
	switch {
	case len(commands) == len(order):
		return "all"
	case len(missing(benchmarks, commands)) == 0:
		rest := slices.DeleteFunc(slices.Clone(commands), func(c string) bool { return slices.Contains(benchmarks, c) })
		return strings.Join(append([]string{"all benchmarks"}, quoted(rest)...), ", ")
	}
	return strings.Join(quoted(commands), ", ")
}

func quoted(names []string) []string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+n+"`")
	}
	return all
}

// cell escapes text for a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(text)
}
