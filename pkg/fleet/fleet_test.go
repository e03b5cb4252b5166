package fleet

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/pause"
	"warp/internal/testlog"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/protocol"
	"warp/pkg/generator"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

const testToken = "a token of the tests"

func TestMain(m *testing.M) { os.Exit(check.Waiting(m).Run()) }

// A machine is an agent of a test, with what it can be reached by.
type machine struct {
	addr   string
	folder string
	stop   func()
	said   *logged
}

// operationOf knows the benchmark of these tests.
func operationOf(name string) bench.Op {
	if name == "get" {
		return &ops.Get{}
	}
	return nil
}

func startMachine(t *testing.T, change func(*agent.Options)) *machine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	m := &machine{addr: l.Addr().String(), folder: t.TempDir(), said: &logged{}}
	o := agent.Options{Warp: "test", Token: testToken, Folder: m.folder, Timeout: time.Minute, Operation: operationOf, Logf: func(f string, a ...any) {
		m.said.add(f, a...)
		t.Logf("agent %s: "+f, append([]any{m.addr}, a...)...)
	}}
	if change != nil {
		change(&o)
	}
	a := agent.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = a.Serve(ctx, l, nil) })
	m.stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(m.stop)
	return m
}

// waitUntilFree waits until another coordinator may come: a client cleans up in its own time.
func (m *machine) waitUntilFree(t *testing.T) {
	t.Helper()
	check.Eventually(t, "end of the run at "+m.addr, func() bool { return m.said.count(" is over") == m.said.count(" begins") })
}

// embedded starts an embedded store for a test.
func embedded(t *testing.T) *s3mem.Embedded {
	t.Helper()
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func storeAt(addr string) protocol.Store {
	return protocol.Store{Config: store.Config{Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Concurrency: 2}, Keys: []store.Keys{{AccessKey: "key", SecretKey: "secretsecret"}}}
}

// untilWarm is the length of a run that [measured] ends. On a machine that stalls, a run of a fixed length may be over
// before its first request.
const untilWarm = 0

func getPlan(t *testing.T, addr string, length time.Duration) Plan {
	t.Helper()
	sizes, err := generator.ParseSizes("4KiB", false)
	check.OK(t, err)
	op, err := bench.EncodeOp(&ops.Get{Pool: ops.Pool{Objects: 10, Sizes: sizes}})
	check.OK(t, err)
	return Plan{Job: protocol.Job{
		Options: bench.Options{Benchmark: "get", Bucket: "fleet", Seed: 7, Concurrency: 2, Duration: length, Lease: 20 * time.Second, Drain: 5 * time.Second,
			Payload: generator.PayloadOptions{Seed: 7}},
		Op: op, Store: storeAt(addr), Header: oplog.Header{Command: "warp get", Seed: 7},
	}}
}

// lead makes a coordinator of the machines.
func lead(t *testing.T, change func(*Options), machines ...*machine) *Fleet {
	t.Helper()
	folder := t.TempDir()
	o := Options{Warp: "test", Token: testToken, ConnectTimeout: time.Minute, Timeout: time.Minute, Run: "Rtest" + fmt.Sprint(time.Now().UnixNano()%1e6),
		Logf:  func(f string, a ...any) { t.Logf("coordinator: "+f, a...) },
		Spool: func(client string) string { return filepath.Join(folder, client+".spool") }}
	for _, m := range machines {
		o.Members = append(o.Members, Member{Addr: m.addr})
	}
	if change != nil {
		change(&o)
	}
	f := New(o)
	t.Cleanup(f.Close)
	return f
}

// measured performs the steps of a run up to its end.
func measured(t *testing.T, f *Fleet, p Plan) {
	t.Helper()
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, p))
	check.OK(t, f.Measure(ctx, func() {
		if p.Job.Options.Duration == untilWarm {
			when(t, func() bool { return warm(f) }, func() { f.End("") })
		}
	}))
	check.OK(t, f.Finish(ctx))
}

// whole performs all steps of a run.
func whole(t *testing.T, f *Fleet, p Plan, path string) *Result {
	t.Helper()
	ctx := t.Context()
	measured(t, f, p)
	r := f.Result()
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	return r
}

// empty fails unless the bucket is.
func empty(t *testing.T, addr string) {
	t.Helper()
	st := storeAt(addr)
	st.Config.Credentials = st.Keys[0]
	c, err := engines.New(st.Config)
	check.OK(t, err)
	var left []string
	err = c.List(t.Context(), store.List{Bucket: "fleet"}, func() { left = nil }, func(o store.Object) bool {
		left = append(left, o.Key)
		return true
	})
	check.OK(t, err)
	if len(left) > 0 {
		t.Errorf("%d objects are left in the bucket: %v", len(left), left)
	}
}

// when does something once a condition has come true, unless the test ends before.
func when(t *testing.T, holds func() bool, do func()) {
	ctx := t.Context()
	go func() {
		for !holds() {
			if !pause.For(ctx, 5*time.Millisecond) {
				return
			}
		}
		do()
	}()
}

// working reports whether all clients have had downloads answered.
func working(f *Fleet) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !slices.ContainsFunc(f.links, func(l *link) bool {
		if l.live == nil {
			return true
		}
		var live monitor.Live
		live.Merge(l.live)
		return !slices.ContainsFunc(live.Snapshot(l.liveAt).Ops, func(o monitor.Op) bool { return o.Op == "GET" && o.Requests > 0 })
	})
}

// warm reports whether the window has begun, and all clients have had downloads answered since.
func warm(f *Fleet) bool {
	f.mu.Lock()
	begun := f.window.Begin
	counted := begun != 0 && !slices.ContainsFunc(f.links, func(l *link) bool { return l.liveAt < begun+int64(time.Second) })
	f.mu.Unlock()
	return counted && working(f)
}

// arrived says whether the coordinator has some of each log.
func arrived(f *Fleet) bool {
	return !slices.ContainsFunc(f.links, func(l *link) bool {
		info, err := os.Stat(f.options.Spool(l.id))
		return err != nil || info.Size() == 0
	})
}

// Nobody who runs next at the same store finds connections of a run that is over.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w := newWire(t, e.Addr())
	m := startMachine(t, nil)
	whole(t, lead(t, nil, m), getPlan(t, w.addr, untilWarm), filepath.Join(t.TempDir(), "all.csv.zst"))
	check.Eventually(t, "end of all connections to the store", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.seen) > 0 && len(w.conns) == 0
	})
}

func ownLogs(t *testing.T, machines ...*machine) []string {
	t.Helper()
	var all []string
	for _, m := range machines {
		logs, err := filepath.Glob(filepath.Join(m.folder, "*.csv.zst"))
		check.OK(t, err)
		all = append(all, logs...)
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	const skew = 900 * time.Millisecond
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, func(o *agent.Options) { o.Skew = skew }), startMachine(t, nil)}
	f := lead(t, nil, ms...)
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	r := whole(t, f, getPlan(t, e.Addr(), untilWarm), path)
	if len(r.Lost) > 0 || r.Fatal != nil || r.Sent == 0 || r.Failed > 0 {
		t.Errorf("%+v", r)
	}
	if r.Spread > skew/2 {
		t.Errorf("started within %v", r.Spread)
	}
	if c := f.Clients()[1].Clock; (c.Ahead - skew).Abs() > c.RoundTrip/2+5*time.Millisecond {
		t.Errorf("the second clock is %v ahead, by a round trip of %v", c.Ahead, c.RoundTrip)
	}
	empty(t, e.Addr())
	logs := ownLogs(t, ms...)
	if len(logs) != 3 {
		t.Fatalf("own logs: %v", logs)
	}
	again := filepath.Join(t.TempDir(), "again.csv.zst")
	_, err := merge.Logs(t.Context(), again, logs, merge.Options{})
	check.OK(t, err)
	a, err := os.ReadFile(path)
	check.OK(t, err)
	b, err := os.ReadFile(again)
	check.OK(t, err)
	if string(a) != string(b) {
		t.Error("the coordinator's log is not what merge makes of the clients' own logs")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.options.Spool("x")), "*")); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
	// Ready for the next one at once.
	f2 := lead(t, nil, ms...)
	whole(t, f2, getPlan(t, e.Addr(), untilWarm), filepath.Join(t.TempDir(), "next.csv.zst"))
}

// Whoever has seen enough ends all clients in good order at one instant; all logs say why, and no row is missing.
func TestEnd(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, func(o *agent.Options) { o.Skew = -300 * time.Millisecond })}
	f := lead(t, nil, ms...)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	check.OK(t, f.Measure(ctx, func() {
		go func() {
			seen := int64(0)
			for looks := 0; looks < 2; time.Sleep(50 * time.Millisecond) {
				if s, ok := f.Even(); ok && s.At > seen {
					looks++
					seen = s.At
				}
			}
			f.End("that was enough")
		}()
	}))
	check.OK(t, f.Finish(ctx))
	r := f.Result()
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	stats, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	empty(t, e.Addr())
	if r.Fatal != nil || len(r.Lost) > 0 || r.Sent != stats.Rows || r.Failed > 0 {
		t.Errorf("%+v, and %d rows", r, stats.Rows)
	}
	log, rows := testlog.ReadFile(t, path)
	last := map[string]int64{}
	for i := range rows {
		last[rows[i].Client] = max(last[rows[i].Client], rows[i].Start)
	}
	var ends []int64
	for _, at := range last {
		ends = append(ends, at)
	}
	if len(ends) != 2 || time.Duration(ends[0]-ends[1]).Abs() > 30*time.Second { // the run is an hour
		t.Errorf("the last requests began at %v", ends)
	}
	if tr := log.Trailer(); tr.End != "completed" || tr.Reason != "that was enough" {
		t.Errorf("%+v", tr)
	}
}

// TestTrace: phases of requests are noted at all clients from the start on, until the coordinator says otherwise.
func TestTrace(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	f := lead(t, nil, startMachine(t, nil), startMachine(t, nil))
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.Options.TraceHTTP, p.Job.Options.TraceSample, p.Job.Options.Rate = true, 1, 100
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, p))
	check.OK(t, f.Measure(ctx, func() {
		go func() {
			figures := func() {
				seen := f.Snapshot().At
				for n := 0; n < 2; time.Sleep(20 * time.Millisecond) {
					if s, ok := f.Even(); ok && s.At > seen {
						seen, n = s.At, n+1
					}
				}
			}
			figures()
			f.Trace(false)
			figures()
			f.End("that was enough")
		}()
	}))
	check.OK(t, f.Finish(ctx))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	log, rows := testlog.ReadFile(t, path)
	with, without := map[string]int{}, map[string]int{}
	for i := range rows {
		if rows[i].Phases != nil {
			with[rows[i].Client]++
		} else {
			without[rows[i].Client]++
		}
	}
	if len(with) != 2 || len(without) != 2 {
		t.Errorf("rows with phases by client: %v, without: %v", with, without)
	}
	if notes := strings.Join(log.Trailer().Notes, "\n"); strings.Count(notes, "HTTP tracing was switched off at ") == 0 {
		t.Errorf("notes %q", notes)
	}
}
