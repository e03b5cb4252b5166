package tokens

import (
	"cmp"
	"net"
	"net/netip"
	"strings"

	"warp/pkg/store"
)

// Exposed reports whether a request would send a secret from this machine over plain HTTP.
func Exposed(cfg *store.Config) bool { return !cfg.TLS && !Local(cfg.Hosts...) }

// Local reports whether all hosts are this machine.
func Local(hosts ...store.Address) bool {
	for _, a := range hosts {
		host := cmp.Or(a.Dial, a.Name)
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); host != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}
