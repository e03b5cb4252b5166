package cli

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/internal/check"
)

// TestHelp compares every help text with its golden file and holds it to what
// a screen shows. Flags that many commands explain alike are in common.txt,
// and their place in the text is in the files of the root and of get.
func TestHelp(t *testing.T) {
	t.Parallel()
	golden := func(name, text string) { check.Golden(t, filepath.Join("testdata", "help", name+".txt"), text) }
	var common strings.Builder
	for _, level := range []string{"--help", "--help-all"} {
		suffix := strings.TrimPrefix(level, "--help")
		golden("root"+suffix, helpText(t, "root"+suffix, level))
		pages := map[string][]helpEntry{}
		sharers := map[string][]string{} // commands by the entries that they have
		var all []string                 // entries, in order
		for _, c := range commands.All(mapEnvironment(nil)) {
			pages[c.Name] = helpEntries(helpText(t, c.Name+suffix, c.Name, level))
			for _, e := range pages[c.Name] {
				if len(sharers[e.key]) == 0 {
					all = append(all, e.key)
				}
				sharers[e.key] = append(sharers[e.key], c.Name)
			}
		}
		isCommon := func(key string) bool { return key != "" && len(sharers[key]) >= 8 }
		for name, page := range pages {
			var own strings.Builder
			for _, e := range page {
				if name == "get" || !isCommon(e.key) {
					own.WriteString(e.text)
				}
			}
			golden(name+suffix, own.String())
		}
		fmt.Fprintln(&common, level)
		before := ""
		for _, key := range slices.DeleteFunc(all, func(key string) bool { return !isCommon(key) }) {
			if list := strings.Join(sharers[key], " "); list != before {
				fmt.Fprintf(&common, "\nOf %s:\n", list)
				before = list
			}
			fmt.Fprintln(&common, key)
		}
		fmt.Fprintln(&common)
	}
	golden("common", common.String())
}

// helpText returns what a command line for help prints, from the real commands
// only, unlike runWarp.
func helpText(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out strings.Builder
	a := &app{out: &out, errw: &out, env: mapEnvironment(nil)}
	if code := a.main(t.Context(), args); code != 0 {
		t.Fatalf("warp %v: %d, %s", args, code, out.String())
	}
	fitsScreen(t, name, out.String())
	return out.String()
}

// A helpEntry is a flag in a help text, or a line that is about none.
type helpEntry struct {
	text string // as it is shown
	key  string // its group and its words, however they are laid out; "" = no flag
}

// helpEntries splits a help text.
func helpEntries(text string) (all []helpEntry) {
	group := ""
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		last := len(all) - 1
		switch {
		case strings.HasPrefix(line, "  -"), strings.HasPrefix(line, "  also:"), oneLineGroup.MatchString(line):
			all = append(all, helpEntry{text: line, key: strings.TrimSpace(group + " " + words)})
		case strings.HasPrefix(line, "   ") && last >= 0 && all[last].key != "":
			all[last].text += line
			all[last].key += " " + words
		default:
			all = append(all, helpEntry{text: line})
			if group = ""; !strings.Contains(words, " ") {
				group = words
			}
		}
	}
	return all
}

// oneLineGroup matches a group of which the help only names the flags.
var oneLineGroup = regexp.MustCompile(`^[A-Z][a-z]+ +--`)

// TestHelpFitsTerminal: on a narrow terminal the help has the same words, in
// lines that are broken between them.
func TestHelpFitsTerminal(t *testing.T) {
	t.Parallel()
	a := &app{env: mapEnvironment(nil)}
	shown := func(columns int, args ...string) string {
		var out strings.Builder
		check.OK(t, a.table().Run(t.Context(), args, &out, columns, nil))
		return out.String()
	}
	lines := [][]string{{"--help"}, {"--help-all"}}
	for _, c := range commands.All(mapEnvironment(nil)) {
		lines = append(lines, []string{c.Name, "--help"}, []string{c.Name, "--help-all"})
	}
	for _, args := range lines {
		wide := shown(0, args...)
		for _, columns := range []int{60, 80} {
			narrow := shown(columns, args...)
			for line := range strings.Lines(narrow) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns && len(strings.Fields(line)) > 1 {
					t.Errorf("warp %v on %d columns has a line of %d: %q", args, columns, n, line)
				}
			}
			if got := strings.Fields(strings.ReplaceAll(narrow, " \\\n", "\n")); !slices.Equal(got, strings.Fields(wide)) {
				t.Errorf("warp %v on %d columns has other words:\n%s", args, columns, narrow)
			}
		}
		if shown(300, args...) != wide {
			t.Errorf("warp %v has lines of more than 100 columns on a wide terminal", args)
		}
	}
}

func fitsScreen(t *testing.T, name, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	limit := 43
	if name == "root" {
		limit = 50 // it has a line per command
	}
	if len(lines) > limit && !strings.HasSuffix(name, "-all") {
		t.Errorf("the help of %s has %d lines, which is more than a screen", name, len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("the help of %s has a line of %d: %q", name, n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("the help of %s has spaces at the end of %q", name, line)
		}
	}
}

// TestFlagsHaveHelp: no flag without a word about it, no name twice.
func TestFlagsHaveHelp(t *testing.T) {
	t.Parallel()
	a := &app{env: mapEnvironment(nil), extra: fakeCommands}
	for _, c := range a.table().Commands {
		seen := map[string]bool{}
		for _, f := range c.Flags() {
			if doc, ok := f.(cli.DocGenerationFlag); !ok || doc.GetUsage() == "" {
				t.Errorf("warp %s: flag %v has no help", c.Name, f.Names())
			}
			for _, name := range f.Names() {
				if seen[name] {
					t.Errorf("warp %s: flag %s occurs twice", c.Name, name)
				}
				seen[name] = true
			}
		}
		for _, absent := range c.Absent {
			for _, name := range absent.Names {
				if seen[name] {
					t.Errorf("warp %s: flag %s is there and refused as absent", c.Name, name)
				}
			}
		}
	}
}

// TestHelpHasDefaults: the plain help shows the default of each flag that it
// explains.
func TestHelpHasDefaults(t *testing.T) {
	t.Parallel()
	a := &app{env: mapEnvironment(nil)}
	for _, c := range a.table().Commands {
		var out strings.Builder
		check.OK(t, a.table().Run(t.Context(), []string{c.Name, "--help"}, &out, 0, nil))
		help := out.String()
		for _, g := range c.Groups {
			for _, f := range g.Flags {
				if d := command.DefaultText(f); shown(f) && d != "" && !strings.Contains(help, "(default "+d+")") {
					t.Errorf("warp %s --help does not show the default %s of --%s", c.Name, d, f.Names()[0])
				}
			}
		}
	}
}

func shown(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}
