//go:build unix

package terminal

import "testing"

func TestKeySequences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"qm?":                       "qm?",
		"\x1b":                      "\x1b",
		"a\x1b[Ab":                  "ab",
		"\x1b[1;5Cx\x1b[15~\x1bOPy": "xy",
		"\x1bqx":                    "x", // Alt and q
		"\x1b[200":                  "",
		"größe":                     "größe",
	} {
		for size := range len(text) { // in two pieces, unless that cuts a sequence
			var got string
			k := &Keys{pressed: func(key rune) { got += string(key) }}
			if size > 0 && text[0] != '\x1b' && text[1] != '\x1b' {
				rest := k.hand([]byte(text[:size]))
				k.hand(append(rest, text[size:]...))
			} else {
				k.hand([]byte(text))
			}
			if got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
	}
}
