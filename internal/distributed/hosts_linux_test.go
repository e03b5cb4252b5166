package distributed

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"warp/pkg/s3mem"
)

// system runs a program that changes the network, and says whether it could.
func system(line string) error {
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}

// onHosts makes a coordinator and four clients with addresses of their own, on two networks: one to the coordinator,
// one to the store, so that a client can lose either.
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
		c.clients = append(c.clients, h)
	}
	c.desk, c.clients = c.clients[0], c.clients[1:]
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	c.store = count(t, network+".78.1", e.Addr())
	c.target = []string{"--host=" + c.store.addr, "--access-key=key", "--secret-key=secretsecret", "--region=us-east-1", "--bucket=distributed"}
	return c
}

func TestHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: partitions take minutes")
	}
	c := onHosts(t)
	// All interfaces: with an explicit address the connections to the store would come from the other network.
	for _, h := range c.clients {
		h.client = h.start(t, "client", "0.0.0.0:7761", map[bool]string{true: "--clock-skew=300ms", false: "--clock-skew=0s"}[h == c.clients[1]])
	}
	for _, h := range c.clients {
		h.client.has(t, "listens at")
	}
	must := func(line string) {
		t.Helper()
		if err := system(line); err != nil {
			t.Fatal(err)
		}
	}
	// One slow link: to the coordinator.
	must("ip netns exec " + c.clients[3].namespace + " tc qdisc add dev eth0 root tbf rate 256kbit burst 16kbit latency 400ms")
	c.plain(t)

	// A partition of five seconds costs nothing.
	away := c.clients[0]
	p := c.run(t, "short", "9s")
	c.measuring(t, p)
	time.Sleep(2 * time.Second)
	must("ip link set " + away.link + " down")
	time.Sleep(5 * time.Second)
	must("ip link set " + away.link + " up")
	p.ends(t, 0, "4 clients began within")
	c.holds(t, "short", 0, 1, 2, 3)
	c.clean(t)

	// One for good loses the client, which cleans up by itself.
	p = c.run(t, "long", "8s")
	c.measuring(t, p)
	time.Sleep(2 * time.Second)
	must("ip link set " + away.link + " down")
	p.ends(t, 3, "client "+away.addr+" was lost")
	c.holds(t, "long", 1, 2, 3)
	c.clean(t)
	must("ip link set " + away.link + " up")
	time.Sleep(time.Second)

	c.killCoordinator(t)
}
