package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

// helpTitle is the title of a group of flags in a full help text.
var helpTitle = regexp.MustCompile(`(?m)^[A-Z][a-z]+$`)

// groups returns the parts of a full help text by title.
func groups(help string) map[string]string {
	all := make(map[string]string)
	titles := helpTitle.FindAllStringIndex(help, -1)
	for i, at := range titles {
		end := len(help)
		if i+1 < len(titles) {
			end = titles[i+1][0]
		}
		all[help[at[0]:at[1]]] = help[at[1]:end]
	}
	return all
}

// ownFlags returns the flags, without aliases, that are specific to a command. For a benchmark
// these are the flags that not every other benchmark has (except script, whose statements replace
// most flags, replay, whose log does, and aisloader, which has the flags of another tool). For other commands these are the
// flags that concern neither the store nor the output.
func ownFlags(t *testing.T, help map[string]string) map[string][]string {
	t.Helper()
	var benchmarks []string
	for command, text := range help {
		if command != "" && strings.Contains(text, "\nWorkload\n") {
			benchmarks = append(benchmarks, command)
		}
	}
	if len(benchmarks) < 16 {
		t.Fatalf("found only the benchmarks %q", benchmarks)
	}
	own := make(map[string][]string)
	for command, text := range help {
		if command == "" {
			continue
		}
		names := heads(text)
		if slices.Contains(benchmarks, command) {
			names = slices.DeleteFunc(names, func(name string) bool {
				return !slices.ContainsFunc(benchmarks, func(other string) bool {
					return other != "script" && other != "replay" && other != "aisloader" && !slices.Contains(heads(help[other]), name)
				})
			})
		} else {
			parts := groups(text)
			names = missing(names, slices.Concat(heads(parts["Target"]), heads(parts["Traffic"]), heads(parts["Output"])))
		}
		own[command] = names
	}
	return own
}

// heads returns the flags in a help text, by their first names.
func heads(help string) []string {
	var names []string
	for _, m := range flagHead.FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	return names
}

// Each command has its page, which is in the index, ends with the command's own flags as in the
// help, and has an example that is run.
func TestCommandPages(t *testing.T) {
	t.Parallel()
	help := helps(t)
	own := ownFlags(t, help)
	index := readAll(t, "docs/README.md")
	pages, err := filepath.Glob(filepath.Join(root, "docs/commands/*.md"))
	check.OK(t, err)
	var documented, commands []string
	for _, p := range pages {
		documented = append(documented, strings.TrimSuffix(filepath.Base(p), ".md"))
	}
	for command := range own {
		commands = append(commands, command)
	}
	same(t, "commands with a page", documented, commands)
	for command, flags := range own {
		if !slices.Contains(documented, command) {
			continue
		}
		page := read(t, "docs/commands/"+command+".md")
		if !strings.Contains(index, "(commands/"+command+".md)") {
			t.Errorf("the index does not link %s", page.name)
		}
		if strings.Contains(help[command], "\nWorkload\n") && !strings.Contains(readAll(t, page.name), "(../oplog.md#what-one-row-is)") {
			t.Errorf("%s does not say what a row of the log is", page.name)
		}
		if !slices.ContainsFunc(page.blocks, func(b block) bool {
			return b.language == "sh" && strings.HasPrefix(b.directive, "test") && strings.Contains(b.text, "./warp "+command+" ")
		}) {
			t.Errorf("%s has no example of its command that is run", page.name)
		}
		checkOwnFlags(t, page.name, ownFlagSection(command, help[command], flags))
	}
}

// flagSection is the title of the last section of a command's page.
const flagSection = "## Flags\n"

// ownFlagSection returns the section of a command's own flags.
func ownFlagSection(command, help string, own []string) string {
	var b strings.Builder
	b.WriteString(flagSection + "\n")
	switch {
	case command == "run":
		b.WriteString("The flags of the benchmarks in the file apply to all of them. ")
	case strings.Contains(help, "\nWorkload\n"):
		b.WriteString("These are the flags that not all benchmarks have. ")
	case len(own) == 0:
		b.WriteString("It has no flags of its own. ")
	}
	b.WriteString("The [flag reference](../flags.md) has the others.\n")
	if len(own) == 0 {
		return b.String()
	}
	b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
	var entries []*flagEntry
	for _, title := range flagGroups {
		entries = addFlags(entries, command, groups(help)[title])
	}
	for _, e := range entries {
		if slices.Contains(own, strings.TrimPrefix(regexp.MustCompile("--[a-zA-Z0-9.-]+").FindString(e.head), "--")) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", e.head, e.defaultCell(), cell(e.text+e.variables))
		}
	}
	return b.String()
}

// checkOwnFlags compares the end of a page with the help, or updates it.
func checkOwnFlags(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(root, name)
	text, err := os.ReadFile(path)
	check.OK(t, err)
	before, _, found := strings.Cut(string(text), flagSection)
	if !found {
		t.Errorf("%s has no section %q", name, flagSection)
		return
	}
	check.Golden(t, path, before+want)
}
