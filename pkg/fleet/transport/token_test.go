package transport

import (
	"net/netip"
	"testing"
)

func TestTokenRules(t *testing.T) {
	t.Parallel()
	loop, wide, all := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("0.0.0.0")
	for _, test := range []struct {
		token string
		addr  netip.Addr
		ok    bool
	}{{"", loop, true}, {"", wide, false}, {"", all, false}, {"a token of the tests", wide, true}, {"short", loop, false}} {
		if err := CheckToken(test.token, test.addr); (err == nil) != test.ok {
			t.Errorf("%q at %v: %v", test.token, test.addr, err)
		}
	}
}
