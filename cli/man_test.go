package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"warp/internal/check"
)

// Each command has a manual page with all of its flags, which groff formats
// without a warning where it is installed.
func TestManPages(t *testing.T) {
	t.Parallel()
	a := &app{env: os.LookupEnv}
	table := a.table()
	check := func(t *testing.T, words []string, want ...string) {
		t.Helper()
		page, err := table.ManPage(words)
		check.OK(t, err)
		for _, s := range want {
			if !strings.Contains(page, s) {
				t.Errorf("the page of %q has no %q", words, s)
			}
		}
		groff, err := exec.LookPath("groff")
		if err != nil {
			return
		}
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tascii", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff says of the page of %q: %v\n%s", words, err, out)
		}
	}
	check(t, nil, "warp\\-get", "EXIT STATUS")
	for _, c := range table.Commands {
		if c.Section == "" {
			continue
		}
		var flags []string
		for _, f := range c.Flags() {
			flags = append(flags, `\-\-`+strings.ReplaceAll(f.Names()[0], "-", `\-`))
		}
		check(t, []string{c.Name}, flags...)
	}
	if _, err := table.ManPage([]string{"nonsense"}); err == nil {
		t.Error("an unknown command has a page")
	}
}
