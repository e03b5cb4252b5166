package commands

import "testing"

func TestListenAddress(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	for _, test := range []struct{ arg, token, addr, source string }{
		{"", "", "127.0.0.1:7761", "invalid IP"},
		{"127.0.0.2:99", "", "127.0.0.2:99", "invalid IP"},
		{"0.0.0.0", token, "0.0.0.0:7761", "invalid IP"},
		{":99", token, ":99", "invalid IP"},
		{"10.1.2.3", token, "10.1.2.3:7761", "10.1.2.3"},
		{"[fd00::1]:5", token, "[fd00::1]:5", "fd00::1"},
		{"0.0.0.0", "", "!", ""},
		{":99", "", "!", ""},
		{"10.1.2.3:99", "", "!", ""},
		{"127.0.0.1:x", "", "!", ""},
	} {
		var args []string
		if test.arg != "" {
			args = []string{test.arg}
		}
		addr, source, err := listenAddress(args, test.token)
		if test.addr == "!" {
			if err == nil {
				t.Errorf("%+v: no error", test)
			}
			continue
		}
		if err != nil || addr != test.addr || source.String() != test.source {
			t.Errorf("%+v: %s, %v, %v", test, addr, source, err)
		}
	}
}
