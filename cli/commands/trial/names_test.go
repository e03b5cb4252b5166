package trial

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want string }{
		{"get --host=old:9000 --tls", "get --tls --host new:9000", "old:9000, new:9000"},
		{"get --concurrent=2", "get --concurrent=8", "concurrent=2, concurrent=8"},
		{"get --concurrent=1", "get --concurrent=1 --concurrent=2", "concurrent=1, concurrent=2"},
		{"get --host=x", "get --host=x --tls", "no tls, tls"},
		{"get", "get --concurrent=8", "default concurrent, concurrent=8"},
		{"get --host=x", "put --host=x", "get, put"},
		{"get --host=x --md5", "get --host=y", "host=x md5, host=y no md5"},
		{"get", "get", "a, b"},
		{"get --secret-key=one-secret", "get --secret-key=two-secret", "a, b"},
		{"get --concurrent=1", "get --concurrent=2 --access-key=key --secret-key=one-secret", "concurrent=1, concurrent=2"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=y", strings.Repeat("x", 39) + "…, y"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=y" + strings.Repeat("x", 50), strings.Repeat("x", 39) + "…, y" + strings.Repeat("x", 38) + "…"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=" + strings.Repeat("x", 51), "a, b"},
	} {
		if got := strings.Join(names([][]string{strings.Fields(test.a), strings.Fields(test.b)}), ", "); got != test.want {
			t.Errorf("%s and %s: %s, want %s", test.a, test.b, got, test.want)
		}
	}
}

func TestNamesOfSeveralSides(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sides []string
		want  string
	}{
		{[]string{"get --host=x", "get --host=y", "get --host=z"}, "x, y, z"},
		{[]string{"get --host=x", "get --host=x --tls", "get --host=y"}, "host=x no tls, host=x tls, host=y no tls"},
		{[]string{"get --concurrent=1 --md5", "get --concurrent=2 --md5", "put --concurrent=2 --md5"}, "get concurrent=1, get concurrent=2, put concurrent=2"},
		{[]string{"get --concurrent=1", "get --concurrent=2", "get --concurrent=1"}, "a, b, c"},
	} {
		var commands [][]string
		for _, s := range test.sides {
			commands = append(commands, strings.Fields(s))
		}
		if got := strings.Join(names(commands), ", "); got != test.want {
			t.Errorf("%q: %s, want %s", test.sides, got, test.want)
		}
	}
}
