package distributed

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/s3mem"
)

// system runs a program that changes the network, and reports whether it succeeded.
func system(line string) error {
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}

// onHosts starts a coordinator and four clients with separate addresses on two networks, one to the
// coordinator and one to the store, so that a client can lose either.
func onHosts(t *testing.T) *cluster {
	t.Helper()
	id := fmt.Sprintf("w%d", os.Getpid()%10000)
	network := fmt.Sprintf("10.%d", 128+os.Getpid()%100) // so that two of these tests can run at once
	var undo []string
	t.Cleanup(func() {
		for i := len(undo) - 1; i >= 0; i-- {
			_ = system(undo[i])
		}
	})
	do := func(line, back string) {
		if err := system(line); err != nil {
			t.Skipf("SKIPPED: hosts of their own need root and network namespaces: %v", err)
		}
		if back != "" {
			undo = append(undo, back)
		}
	}
	control, data := id+"c", id+"d"
	for i, bridge := range []string{control, data} {
		do("ip link add "+bridge+" type bridge", "ip link del "+bridge)
		do("ip link set "+bridge+" up", "")
		do(fmt.Sprintf("ip addr add %s.%d.1/24 dev %s", network, 77+i, bridge), "")
	}
	c := &cluster{}
	for n := range 5 {
		h := &host{namespace: fmt.Sprintf("%sn%d", id, n), link: fmt.Sprintf("%sc%d", id, n), dir: t.TempDir()}
		do("ip netns add "+h.namespace, "ip netns del "+h.namespace)
		do("ip -n "+h.namespace+" link set lo up", "")
		for i, bridge := range []string{control, data} {
			end, inner := fmt.Sprintf("%s%d", bridge, n), fmt.Sprintf("eth%d", i)
			do("ip link add "+end+" type veth peer name "+inner+" netns "+h.namespace, "ip link del "+end)
			do("ip link set "+end+" master "+bridge+" up", "")
			do(fmt.Sprintf("ip -n %s addr add %s.%d.%d/24 dev %s", h.namespace, network, 77+i, 10+n, inner), "")
			do("ip -n "+h.namespace+" link set "+inner+" up", "")
		}
		h.addr = fmt.Sprintf("%s.77.%d:7761", network, 10+n)
		h.second = fmt.Sprintf("%s.78.%d", network, 110+n)
		do(fmt.Sprintf("ip -n %s addr add %s/24 dev eth1", h.namespace, h.second), "")
		c.clients = append(c.clients, h)
	}
	c.coordinator, c.clients = c.clients[0], c.clients[1:]
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = e.Close() })
	c.store = count(t, network+".78.1", e.Addr())
	c.target = []string{"--host=" + c.store.addr, "--access-key=key", "--secret-key=secretsecret", "--region=us-east-1", "--bucket=distributed"}
	return c
}

func TestHosts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED: partitions take minutes")
	}
	c := onHosts(t)
	// All interfaces: with an explicit address, connections to the store come from that address, as
	// with this client.
	bound := c.clients[2]
	bound.addr = bound.second + ":7761"
	for i, h := range c.clients {
		args := []string{"client", "0.0.0.0:7761"}
		switch i {
		case 1:
			h.ahead(t, "300ms")
		case 2:
			args[1] = bound.addr
		}
		h.client = h.start(t, args...)
	}
	for _, h := range c.clients {
		h.client.has(t, "listens at")
	}
	c.slowLinks(t)
	if from := c.store.from("2"); from != bound.second {
		t.Errorf("the client at %s loads the store from %s", bound.addr, from)
	}
	c.shortPartition(t, c.clients[0])
	c.partition(t, c.clients[0], bound)
}

// change changes the network.
func change(t *testing.T, line string) {
	t.Helper()
	check.OK(t, system(line))
}

// slowLinks is a run with two slow links to clients, one of them slow in both directions. The
// measured clock offset of a client is correct all the same.
func (c *cluster) slowLinks(t *testing.T) {
	t.Helper()
	const way = 40 * time.Millisecond
	skewed := c.clients[1]
	skewed.addr = delay(t, skewed.addr, way) // slow in both directions
	change(t, "ip netns exec "+c.clients[3].namespace+" tc qdisc add dev eth0 root tbf rate 256kbit burst 16kbit latency 400ms")
	said := c.plain(t)
	clock := regexp.MustCompile(regexp.QuoteMeta(skewed.addr) + `.* ahead by (\S+) \(round trip (\S+)\)`).FindStringSubmatch(said)
	if clock == nil {
		t.Fatalf("nothing is said of the clock of %s:\n%s", skewed.addr, said)
	}
	ahead, err := time.ParseDuration(clock[1])
	trip, err2 := time.ParseDuration(clock[2])
	if err != nil || err2 != nil || trip < 2*way || (ahead-300*time.Millisecond).Abs() > trip/2 {
		t.Errorf("a clock that is 300ms ahead behind %v of delay was found to be %s", way, clock[0])
	}
}

// shortPartition disconnects a client for five seconds, which has no effect on the result.
func (c *cluster) shortPartition(t *testing.T, away *host) {
	t.Helper()
	p := c.run(t, "short", "9s")
	c.recorded(t, p, "short")
	change(t, "ip link set "+away.link+" down")
	time.Sleep(5 * time.Second)
	change(t, "ip link set "+away.link+" up")
	p.ends(t, 0, "4 clients began within")
	c.holds(t, "short", 0, 1, 2, 3)
	c.clean(t)
}

// partition disconnects the first client permanently. The run loses it, and it cleans up by itself.
// Meanwhile the third client dies, and others remove its objects. Both can be part of the next run.
func (c *cluster) partition(t *testing.T, away, dead *host) {
	t.Helper()
	p := c.run(t, "long", "8s")
	c.recorded(t, p, "long")
	change(t, "ip link set "+away.link+" down")
	dead.client.kill()
	p.ends(t, 3, "client "+away.addr+" was lost")
	p.has(t, "client "+dead.addr+" was lost")
	c.holds(t, "long", 1, 3)
	c.clean(t)
	change(t, "ip link set "+away.link+" up")
	dead.client = dead.start(t, "client", dead.addr)
	dead.client.has(t, "listens at")
	away.client.await(t, "its network does not come back", func() bool {
		conn, err := net.DialTimeout("tcp", away.addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	c.run(t, "next", "1s").ends(t, 0, "4 clients began within")
	c.holds(t, "next", 0, 1, 2, 3)
	c.clean(t)
}

// delay forwards connections to addr, and delays their data.
func delay(t *testing.T, addr string, way time.Duration) string {
	t.Helper()
	host, _, err := net.SplitHostPort(addr)
	check.OK(t, err)
	l, err := net.Listen("tcp", host[:strings.LastIndexByte(host, '.')]+".1:0")
	check.OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.DialTimeout("tcp", addr, 2*time.Second)
			if err != nil {
				_ = from.Close()
				continue
			}
			go later(from, to, way)
			go later(to, from, way)
		}
	}()
	return l.Addr().String()
}

// later copies data from one connection to the other, with a delay.
func later(from, to net.Conn, way time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			pieces <- piece{time.Now().Add(way), buf[:n]}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		_, _ = to.Write(p.data) // the other side may have hung up
	}
	_ = to.Close()
}
