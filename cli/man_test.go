package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Each command has a manual page with all of its flags, which groff formats
// without a warning where it is installed.
func TestManPages(t *testing.T) {
	t.Parallel()
	a := &app{env: os.LookupEnv}
	table := a.table()
	check := func(t *testing.T, words []string, want ...string) {
		t.Helper()
		page, err := manPage(table, words)
		if err != nil {
			t.Fatal(err)
		}
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
	for _, c := range table {
		if c.section == "" {
			continue
		}
		var flags []string
		for _, f := range c.flags() {
			flags = append(flags, "\n.B "+roff(flagHead(f))+"\n")
		}
		check(t, []string{c.name}, flags...)
	}
	if _, err := manPage(table, []string{"nonsense"}); err == nil {
		t.Error("an unknown command has a page")
	}
}

func TestRoff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"--a": `\-\-a`, ".TH": `\&.TH`, `a\b`: `a\eb`, "'x'": `\&'x'`} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) = %q, want %q", text, got, want)
		}
	}
}
