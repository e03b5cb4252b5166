package hostload

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A link is a network interface that leads to the store.
type link struct {
	name   string
	speed  float64 // bytes/s in each direction; 0 = unknown
	rx, tx float64 // bytes at the start
}

const interfaces = "/sys/class/net"

// linksTo returns the interfaces through which the endpoints are reached. It omits loopback, which
// has no speed.
func linksTo(ctx context.Context, endpoints []string) (links []link) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	seen := make(map[string]bool)
	for _, e := range endpoints {
		name := interfaceTo(ctx, e)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		l := link{name: name, speed: readNumber(name, "speed") * 1e6 / 8}
		if l.speed <= 0 {
			continue // virtual interfaces do not report it
		}
		links = append(links, l)
	}
	return links
}

// linkTimeout limits how long slow name servers may delay a run, because only the verdict on the
// client needs them.
const linkTimeout = 2 * time.Second

func (l *link) begin() {
	l.rx, l.tx = readNumber(l.name, "statistics/rx_bytes"), readNumber(l.name, "statistics/tx_bytes")
}

// interfaceTo asks the routing table. Connecting a datagram socket sends nothing.
func interfaceTo(ctx context.Context, endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return ""
	}
	defer conn.Close()
	local, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok || local.IP.IsLoopback() {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(local.IP) {
				return i.Name
			}
		}
	}
	return ""
}

func readNumber(name, file string) float64 {
	data, err := os.ReadFile(filepath.Join(interfaces, name, file))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	if err != nil {
		return 0
	}
	return n
}

// share returns how much of the link's speed was used in the busier direction.
func (l link) share(seconds float64) float64 {
	rx := readNumber(l.name, "statistics/rx_bytes") - l.rx
	tx := readNumber(l.name, "statistics/tx_bytes") - l.tx
	return max(rx, tx) / seconds / l.speed
}
