package distributed

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
)

// bucketOf returns a bucket that no other test uses at the same time.
func bucketOf(t *testing.T) string { return "distributed-" + strings.ToLower(t.Name()) }

// onThisMachine starts four clients as processes, with MinIO as the store.
func onThisMachine(t *testing.T) *cluster {
	s := stores.Shared(t, teststore.MinIO)
	c := &cluster{coordinator: &host{dir: t.TempDir()}, store: count(t, "127.0.0.1", s.Endpoints[0])}
	for range 4 {
		c.clients = append(c.clients, &host{addr: teststore.FreeAddress(t), dir: t.TempDir()})
	}
	c.target = []string{"--host=" + c.store.addr, "--access-key=" + s.AccessKey, "--secret-key=" + s.SecretKey, "--region=" + s.Region, "--bucket=" + bucketOf(t)}
	c.access, c.secret, c.region = s.AccessKey, s.SecretKey, s.Region
	return c
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	c := onThisMachine(t)
	c.clients[1].ahead(t, "300ms")
	c.startClients(t)
	c.plain(t)
	c.steady(t)
	c.traced(t)
	c.killClient(t)
	c.killCoordinator(t)
}

// plain is an undisturbed run. Merging the clients' own logs gives the same file.
func (c *cluster) plain(t *testing.T) (said string) {
	t.Helper()
	p := c.run(t, "plain", "3s")
	p.ends(t, 0, "4 clients began within")
	c.holds(t, "plain", 0, 1, 2, 3)
	args := []string{"merge", "--benchdata=again"}
	for _, h := range c.clients {
		logs, err := filepath.Glob(filepath.Join(h.dir, "warp-client-get-*.csv.zst"))
		if err != nil || len(logs) != 1 {
			t.Fatalf("%v, %v", logs, err)
		}
		args = append(args, logs[0])
	}
	c.coordinator.start(t, args...).ends(t, 0, "4 clients merged")
	a, err := os.ReadFile(filepath.Join(c.coordinator.dir, "plain.csv.zst"))
	b, err2 := os.ReadFile(filepath.Join(c.coordinator.dir, "again.csv.zst"))
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("the coordinator's log is not what merge makes of the clients' (%v, %v)", err, err2)
	}
	report := c.coordinator.start(t, "analyze", "--no-color", "again.csv.zst")
	if code := report.wait(t, time.Minute); code != 0 || !strings.Contains(p.out.String(), report.out.String()) {
		t.Errorf("the coordinator's report is not what analyze makes of that (%d):\n%s\n%s", code, p.out.String(), report.out.String())
	}
	c.clean(t)
	return p.out.String()
}

// steady is a run that automatic termination ends early, on all clients.
func (c *cluster) steady(t *testing.T) {
	t.Helper()
	c.run(t, "steady", "1h", "--autoterm", "--autoterm.dur=1s", "--autoterm.pct=60").
		ends(t, 0, "The run ended because the throughput was steady")
	c.holds(t, "steady", 0, 1, 2, 3)
	c.clean(t)
}

// traced is a run in which the coordinator enables tracing on SIGHUP.
func (c *cluster) traced(t *testing.T) {
	t.Helper()
	teststore.HearHangups()
	p := c.run(t, "traced", "1h", "--trace-http-sample=1", "--autoterm", "--autoterm.dur=3s", "--autoterm.pct=90")
	c.measuring(t, p)
	check.OK(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.ends(t, 0, "HTTP phases")
	_, rows := testlog.ReadFile(t, filepath.Join(c.coordinator.dir, "traced.csv.zst"))
	traced := map[string]int{}
	for i := range rows {
		if rows[i].Phases != nil {
			traced[rows[i].Client]++
		}
	}
	if len(traced) != len(c.clients) {
		t.Errorf("traced requests of clients: %v", traced)
	}
	c.clean(t)
}

// killClient kills a client during a run, and starts it again afterwards.
func (c *cluster) killClient(t *testing.T) {
	t.Helper()
	p := c.run(t, "killed", "8s")
	c.recorded(t, p, "killed")
	dead := c.clients[2]
	dead.client.kill()
	p.ends(t, 3, "client "+dead.addr+" was lost")
	c.holds(t, "killed", 0, 1, 3)
	c.clean(t)
	dead.client = dead.start(t, "client", dead.addr)
	dead.client.has(t, "listens at")
}

// killCoordinator kills the coordinator, collects the logs, and runs again.
func (c *cluster) killCoordinator(t *testing.T) {
	t.Helper()
	p := c.run(t, "orphans", "5m")
	c.recorded(t, p, "orphans")
	p.kill()
	began := time.Now()
	// Under the run's own name, the copies are in the way.
	c.coordinator.start(t, "collect", c.list(), "--benchdata=orphans").ends(t, 0, "4 clients merged")
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("collected after %v", took)
	}
	if left, _ := filepath.Glob(filepath.Join(c.coordinator.dir, "orphans.*.spool")); len(left) > 0 {
		t.Errorf("what is merged is left as copies: %v", left)
	}
	c.clean(t)
	c.run(t, "next", "1s").ends(t, 0, "4 clients began within")
	c.holds(t, "next", 0, 1, 2, 3)
	c.clean(t)
}
