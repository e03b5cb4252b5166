package doctest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// helpTitle is the title of a group of flags in a full help text.
var helpTitle = regexp.MustCompile(`(?m)^[A-Z][a-z]+$`)

// groups are the parts of a full help text by title.
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

// ownFlags are the flags, without aliases, that make a command different: those of a benchmark that not every benchmark
// has (other than script, whose statements stand for most flags), and those of another command that are neither about the store nor about its output.
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
					return other != "script" && !slices.Contains(heads(help[other]), name)
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

// heads are the flags that a help text explains, by their first names.
func heads(help string) []string {
	var names []string
	for _, m := range flagHead.FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	return names
}

// Each command has its page; the page is in the index, has the flags that are the command's own with their defaults and
// no others, and an example that is run.
func TestCommandPages(t *testing.T) {
	t.Parallel()
	help := helps(t)
	own := ownFlags(t, help)
	index := readAll(t, "docs/README.md")
	pages, err := filepath.Glob(filepath.Join(root, "docs/commands/*.md"))
	if err != nil {
		t.Fatal(err)
	}
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
		checkOwnFlags(t, page, help[command], flags)
	}
}

// checkOwnFlags holds the table of a page against the help of its command.
func checkOwnFlags(t *testing.T, page document, help string, own []string) {
	t.Helper()
	var listed []string
	for _, tab := range page.tables {
		if tab.section != "Its flags" {
			continue
		}
		for _, row := range tab.rows {
			names := flagMention.FindAllStringSubmatch(row[0], -1)
			if len(names) == 0 {
				t.Errorf("%s: %q names no flag", page.name, row[0])
				continue
			}
			listed = append(listed, names[0][1])
			for _, m := range names {
				if !slices.Contains(flagsOf(help), m[1]) {
					t.Errorf("%s: the command has no --%s", page.name, m[1])
				}
			}
			if value, _ := defaultIn(help, names[0][1]); value != row[1] {
				t.Errorf("%s: the default of --%s is %q, and the page says %q", page.name, names[0][1], value, row[1])
			}
		}
	}
	same(t, page.name, listed, own)
}
