package terminal

import (
	"strings"
	"testing"
)

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
		if got := Wrap(test.head, strings.Fields(test.text), test.mark, 20); got != test.want {
			t.Errorf("%q behind %q: %q, want %q", test.text, test.head, got, test.want)
		}
	}
}
