package transport

import (
	"errors"
	"fmt"
	"net/netip"
)

// minToken is the fewest characters of a token. Whoever answers in place of an
// agent can try out tokens offline, so it must not be a word.
const minToken = 16

// errNoToken says why an agent without a token does not listen to the network.
var errNoToken = errors.New("without a token anybody on the network could command this machine, so warp client listens on loopback addresses only: set WARP_CLIENT_TOKEN or --token-file to listen elsewhere")

// CheckToken refuses tokens that are easy to find, and none where one is needed.
func CheckToken(token string, addrs ...netip.Addr) error {
	if token != "" && len(token) < minToken {
		return fmt.Errorf("the token has %d characters, and the minimum is %d: make one with `openssl rand -hex 16`", len(token), minToken)
	}
	for _, addr := range addrs {
		if token == "" && !addr.IsLoopback() {
			return errNoToken
		}
	}
	return nil
}
