package terminal

import (
	"bytes"
	"testing"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, plain, colored string }{
		"text":                 {"größer\t→ 😀\n", "größer\t→ 😀\n", "größer\t→ 😀\n"},
		"a color":              {"\x1b[1;32mgood\x1b[0m", `\u001b[1;32mgood\u001b[0m`, "\x1b[1;32mgood\x1b[0m"},
		"a title":              {"\x1b]0;owned\a", `\u001b]0;owned\u0007`, `\u001b]0;owned\u0007`},
		"a cleared screen":     {"a\x1b[2Jb", `a\u001b[2Jb`, `a\u001b[2Jb`},
		"one byte for two":     {"a\u009b2Jb", `a\u009b2Jb`, `a\u009b2Jb`},
		"no UTF-8":             {"a\x9b2Jb", "a?2Jb", "a?2Jb"},
		"overwritten":          {"bad\rgood\bx\x7f", `bad\u000dgood\u0008x\u007f`, `bad\u000dgood\u0008x\u007f`},
		"another direction":    {"a\u202eb\u2066c", `a\u202eb\u2066c`, `a\u202eb\u2066c`},
		"a color without end":  {"a\x1b[1", `a\u001b[1`, `a\u001b[1`},
		"a character half way": {"a\xe2\x82", "a??", "a??"},
	}
	for name, test := range tests {
		if got := Plain(test.in); got != test.plain {
			t.Errorf("%s: %q, want %q", name, got, test.plain)
		}
		for _, color := range []bool{false, true} {
			want := test.plain
			if color {
				want = test.colored
			}
			for size := 1; size <= 3; size++ { // in pieces
				var out bytes.Buffer
				w := &PlainWriter{w: &out, color: color}
				for in := []byte(test.in); len(in) > 0; in = in[min(size, len(in)):] {
					if _, err := w.Write(in[:min(size, len(in))]); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Flush(); err != nil || out.String() != want {
					t.Errorf("%s, colored %t, in pieces of %d: %q, want %q (%v)", name, color, size, out.String(), want, err)
				}
			}
		}
	}
}
