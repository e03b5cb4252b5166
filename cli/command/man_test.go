package command

import "testing"

func TestRoff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"--a": `\-\-a`, ".TH": `\&.TH`, `a\b`: `a\eb`, "'x'": `\&'x'`} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) = %q, want %q", text, got, want)
		}
	}
}
