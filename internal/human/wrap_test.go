package human

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A percent sign stays with its number.
func TestWrapPercent(t *testing.T) {
	t.Parallel()
	if got, want := Wrap("% the first is at 21 %, the other at 5 % of it", 0, 20, "  "), "% the first is at\n  21 %, the other at\n  5 % of it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ head, text, mark, want string }{
		{"", "one two", "", "one two"},
		{"", "", "", ""},
		{"head  ", "exactly twenty", "", "head  exactly twenty"},
		{"head  ", "exactly twenty one", "", "head  exactly twenty\n      one"},
		{"a head of some width ", "one two", "", "a head of some width one\n          two"},
		{"  ", "averyveryverylongwordthatfitsnowhere b", "", "  averyveryverylongwordthatfitsnowhere\n  b"},
		{"  ", "größer größer größer", "", "  größer größer\n  größer"},
		{"  ", "warp get --host=h --tls", ` \`, "  warp get \\\n  --host=h --tls"},
	} {
		head := utf8.RuneCountInString(test.head)
		indent := strings.Repeat(" ", min(head, 10))
		if got := test.head + WrapWords(strings.Fields(test.text), head, 20, indent, test.mark); got != test.want {
			t.Errorf("%q behind %q: %q, want %q", test.text, test.head, got, test.want)
		}
	}
}
