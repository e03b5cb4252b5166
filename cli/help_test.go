package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/commands"
	"warp/internal/check"
)

// TestHelp compares every help text with its golden file and holds it to what
// a screen shows.
func TestHelp(t *testing.T) {
	t.Parallel()
	texts := map[string][]string{"root": {"--help"}, "root-all": {"--help-all"}}
	for _, c := range commands.All(mapEnvironment(nil)) {
		texts[c.Name] = []string{c.Name, "--help"}
		texts[c.Name+"-all"] = []string{c.Name, "--help-all"}
	}
	for name, args := range texts {
		// Only the real commands, unlike runWarp.
		var out strings.Builder
		a := &app{out: &out, errw: &out, env: mapEnvironment(nil)}
		if code := a.main(t.Context(), args); code != 0 {
			t.Fatalf("warp %v: %d, %s", args, code, out.String())
		}
		check.Golden(t, filepath.Join("testdata", "help", name+".txt"), out.String())
		fitsScreen(t, name, out.String())
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
					t.Errorf("warp %s: flag %s is there twice", c.Name, name)
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
		if err := a.table().Run(t.Context(), []string{c.Name, "--help"}, &out, 0, nil); err != nil {
			t.Fatal(err)
		}
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
