package distributed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

var (
	seed     = flag.Uint64("seed", 1, "of TestKills: what is killed, and when; 0 = another one each time")
	kills    = flag.Int("kills", 5, "of TestKills: how many runs are disturbed")
	onlyThis = flag.String("fault", "", "of TestKills: nothing but this, such as 'clients killed'")
	killsFor = flag.Duration("kills.for", 0, "of TestKills: go on for that long")
)

// A fault is a disturbance of a run.
type fault struct {
	op     string
	what   string
	client int    // the affected client
	sign   string // the output after which it happens
	after  time.Duration
	then   time.Duration // delay before the next client is killed, if two are
}

func (f fault) String() string {
	whom := ""
	if strings.HasPrefix(f.what, "client") {
		whom = fmt.Sprintf(" %d", f.client)
	}
	then := ""
	if f.what == clientsKilled {
		then = fmt.Sprintf(", the next one %v later", f.then)
	}
	return fmt.Sprintf("%s: %s%s %v after %s%s", f.op, f.what, whom, f.after, f.sign, then)
}

const (
	clientKilled      = "client killed"
	clientsKilled     = "clients killed" // the second one may be about to remove what the first one left
	clientEnded       = "client interrupted"
	coordinatorKilled = "coordinator killed"
	coordinatorEnded  = "coordinator interrupted"
	coordinatorTwice  = "coordinator interrupted twice"
)

// The signs represent the phases of a run, including short ones.
const (
	signStart    = "the start"
	signReserved = "the client was reserved"
	signUploads  = "the first upload"
	signMeasured = "all measure"
	signOver     = "the end"
	signLog      = "the log"
	signClean    = "the first clean-up"
)

func randomFault(r *rand.Rand) fault {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	return fault{
		op:     pick("get", "put", "stat"),
		what:   pick(clientKilled, clientsKilled, clientEnded, coordinatorKilled, coordinatorEnded, coordinatorTwice),
		client: r.IntN(4),
		sign:   pick(signStart, signReserved, signUploads, signMeasured, signOver, signLog, signClean),
		after:  time.Duration(r.IntN(1200)) * time.Millisecond,
		then:   time.Duration(r.IntN(20000)) * time.Millisecond,
	}
}

// Runs are disturbed at random moments in all phases. Whatever happens, nothing hangs, the exit
// code is right, the rows are the requests of the clients that count, nothing is left in the
// bucket, and the clients are ready.
func TestKills(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: there are no signals")
	}
	if *seed == 0 {
		*seed = rand.Uint64() >> 40
	}
	t.Logf("go test -C test ./distributed -run TestKills -seed=%d repeats this", *seed)
	c := onThisMachine(t)
	c.clients[1].ahead(t, "200ms")
	c.startClients(t)
	r := rand.New(rand.NewPCG(*seed, 0))
	for n, began := 0, time.Now(); n < *kills || time.Since(began) < *killsFor; n++ {
		f := randomFault(r)
		if *onlyThis != "" {
			f.what = *onlyThis
		}
		c.runWith(t, n, f)
		if t.Failed() {
			t.Fatalf("seed %d, number %d: %s", *seed, n, f)
		}
	}
}

// sign reports whether the sign has appeared.
func (c *cluster) sign(p *process, f fault) bool {
	switch f.sign {
	case signReserved:
		return strings.Contains(c.clients[f.client].client.out.String()[c.clients[f.client].read:], " begins")
	case signUploads:
		return c.store.count("PUT") > 0
	case signMeasured:
		return len(c.store.busy(25)) == len(c.clients) // 20 are uploads
	case signOver:
		return strings.Contains(p.out.String(), "clients began within")
	case signLog:
		return strings.Contains(p.out.String(), "Benchmark data written")
	case signClean:
		return c.store.count("POST") > 0
	}
	return true
}

// runWith disturbs one run, and checks what is left.
func (c *cluster) runWith(t *testing.T, n int, f fault) {
	name := fmt.Sprintf("run%d", n)
	for _, h := range c.clients {
		h.read = len(h.client.out.String())
	}
	began := time.Now()
	p := c.runOp(t, f.op, name, "2s")
	hit := false
	for !hit && !p.over() {
		if hit = c.sign(p, f); hit {
			time.Sleep(f.after)
			c.inject(t, p, f)
		}
		time.Sleep(5 * time.Millisecond)
	}
	code := p.wait(t, 2*time.Minute)
	took := time.Since(began)
	c.judge(t, p, f, name, code)
	t.Logf("%d: %s: exit code %d after %v", n, f, code, took.Round(100*time.Millisecond))
	if t.Failed() {
		for i, h := range c.clients {
			t.Logf("client %d, %s: %s", i, h.addr, h.client.out.String()[h.read:])
		}
	}
	c.ready(t, f, name)
}

func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (c *cluster) inject(t *testing.T, p *process, f fault) {
	t.Helper()
	h := c.clients[f.client]
	switch f.what {
	case clientKilled:
		h.client.kill()
	case clientsKilled:
		h.client.kill()
		select { // the run may already be over
		case <-time.After(f.then):
		case <-p.done:
		}
		c.clients[f.next()].client.kill()
	case clientEnded:
		_ = h.client.cmd.Process.Signal(os.Interrupt)
	case coordinatorKilled:
		p.kill()
	case coordinatorEnded:
		_ = p.cmd.Process.Signal(os.Interrupt)
	case coordinatorTwice:
		_ = p.cmd.Process.Signal(os.Interrupt)
		time.Sleep(50 * time.Millisecond)
		_ = p.cmd.Process.Signal(os.Interrupt)
	}
}

// judge checks how the coordinator ended, and its log.
func (c *cluster) judge(t *testing.T, p *process, f fault, name string, code int) {
	t.Helper()
	text := p.out.String()
	if strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		t.Errorf("it broke:\n%s", text)
	}
	whole := []int{0, 1, 2, 3}
	addr := c.clients[f.client].addr
	_, err := os.Stat(filepath.Join(c.coordinator.dir, name+".csv.zst"))
	switch {
	case f.what == coordinatorKilled && code == -1, f.what == coordinatorTwice && code == 130:
		return // the clients have whatever there is of it
	case code == 0:
		c.holds(t, name, whole...)
	case code == 130 && strings.HasPrefix(f.what, "coordinator"):
		if err == nil {
			c.about(t, name, whole...)
		}
	case code == 3 && strings.HasPrefix(f.what, "client"):
		lost := c.lostIn(text)
		killed := []int{f.client}
		if f.what == clientsKilled {
			killed = append(killed, f.next())
		}
		if len(lost) == 0 || slices.ContainsFunc(lost, func(i int) bool { return !slices.Contains(killed, i) }) ||
			!strings.Contains(text, fmt.Sprintf(" of 4 lost, whose share is missing; client %s", c.clients[lost[0]].addr)) {
			t.Errorf("it names clients %v as lost:\n%s", lost, text)
		}
		c.holds(t, name, slices.DeleteFunc(whole, func(i int) bool { return slices.Contains(lost, i) })...)
	case code == 1 && strings.HasPrefix(f.what, "client"):
		named := strings.Contains(text, "warp: error: client "+addr) ||
			f.what == clientsKilled && strings.Contains(text, "warp: error: client "+c.clients[f.next()].addr)
		if !named || err == nil {
			t.Errorf("it does not name client %s, or has a log (%v):\n%s", addr, err, text)
		}
	default:
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// next returns the second client that is killed.
func (f *fault) next() int { return (f.client + 1) % 4 }

// lostIn returns the clients that the report calls lost.
func (c *cluster) lostIn(text string) (lost []int) {
	for i, h := range c.clients {
		if strings.Contains(text, "client "+h.addr+" was lost") {
			lost = append(lost, i)
		}
	}
	return lost
}

// ready collects the logs of a run without a coordinator, checks that the bucket is empty, and runs
// again.
func (c *cluster) ready(t *testing.T, f fault, name string) {
	t.Helper()
	h := c.clients[f.client]
	switch f.what {
	case clientEnded:
		if code := h.client.wait(t, time.Minute); code != 0 {
			t.Errorf("an interrupted client: exit code %d\n%s", code, h.client.out.String())
		}
		c.restart(t, h)
	case clientKilled:
		c.restart(t, h)
	case clientsKilled:
		c.restart(t, h)
		c.restart(t, c.clients[f.next()])
	case coordinatorKilled, coordinatorTwice:
		c.collect(t, name+"-collected")
	}
	c.empty(t)
	c.runOp(t, "get", name+"-next", "1s").ends(t, 0, "4 clients began within")
	c.holds(t, name+"-next", 0, 1, 2, 3)
	c.empty(t)
}

func (c *cluster) restart(t *testing.T, h *host) {
	t.Helper()
	<-h.client.done
	h.client = h.start(t, "client", h.addr)
	h.client.has(t, "listens at")
	h.read = 0
}

// collect fetches the logs of a run from the clients: all of them, or none if nothing was measured.
func (c *cluster) collect(t *testing.T, name string) {
	t.Helper()
	began := time.Now()
	p := c.coordinator.start(t, "collect", c.list(), "--benchdata="+name)
	code, text := p.wait(t, time.Minute), p.out.String()
	if took := time.Since(began); took > 50*time.Second {
		t.Errorf("the clients were free after %v", took)
	}
	switch {
	case code == 0 && strings.Contains(text, "4 clients merged"):
		c.about(t, name, 0, 1, 2, 3)
	case code == 1 && strings.Contains(text, "no client has a log that was not collected"):
	default:
		t.Errorf("exit code %d of collect:\n%s", code, text)
	}
}

// empty fails if the bucket does not become empty soon.
func (c *cluster) empty(t *testing.T) {
	t.Helper()
	client, err := engines.New(store.Config{Hosts: []store.Address{{Name: c.store.addr}}, Region: c.region, Concurrency: 1,
		Credentials: store.Keys{AccessKey: c.access, SecretKey: c.secret}})
	check.OK(t, err)
	var left []string
	err = client.List(t.Context(), store.List{Bucket: bucketOf(t)}, func() { left = nil }, func(o store.Object) bool {
		left = append(left, o.Key)
		return true
	})
	if err != nil && store.CodeOf(err) != "NoSuchBucket" {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("%d objects are left, %s among them", len(left), left[0])
	}
}
