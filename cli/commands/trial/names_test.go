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
		{"get --host=x", "put --host=x", "get, put"},
		{"get --host=x --md5", "get --host=y", "host=x md5, host=y no md5"},
		{"get", "get", "a, b"},
		{"get --secret-key=one-secret", "get --secret-key=two-secret", "a, b"},
		{"get --concurrent=1", "get --concurrent=2 --access-key=key --secret-key=one-secret", "concurrent=1, concurrent=2"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=y", strings.Repeat("x", 39) + "…, y"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=y" + strings.Repeat("x", 50), strings.Repeat("x", 39) + "…, y" + strings.Repeat("x", 38) + "…"},
		{"get --host=" + strings.Repeat("x", 50), "get --host=" + strings.Repeat("x", 51), "a, b"},
	} {
		names := names(strings.Fields(test.a), strings.Fields(test.b))
		if got := names[0] + ", " + names[1]; got != test.want {
			t.Errorf("%s and %s: %s, want %s", test.a, test.b, got, test.want)
		}
	}
}
