package fleet

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/pause"
	"warp/internal/testlog"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
)

// rows counts the rows of a log by client.
func rows(t *testing.T, path string) map[string]int {
	t.Helper()
	_, all := testlog.ReadFile(t, path)
	n := map[string]int{}
	for i := range all {
		n[all[i].Client]++
	}
	return n
}

// shortTimeout and shortTimeouts make a machine, and a coordinator, that give up soon, but not because this machine stalls.
func shortTimeout(o *agent.Options) { o.Timeout = 8 * time.Second }

func shortTimeouts(o *Options) { o.Timeout = 12 * time.Second }

// Connections that break cost nothing: neither a row nor the client.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, m := through(t, startMachine(t, nil))
	other := startMachine(t, nil)
	f := lead(t, nil, m, other)
	rest := w.cutOften()
	ctx := t.Context()
	measured(t, f, getPlan(t, e.Addr(), 5*time.Second))
	rest()
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	stats, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	r := f.Result()
	if len(r.Lost) > 0 || stats.Rows != r.Sent || stats.Clients != 2 {
		t.Errorf("%+v, %+v", r, stats)
	}
	check.OK(t, f.Clean(ctx))
	empty(t, e.Addr())
}

// A partition that is short enough costs nothing either.
func TestShortPartition(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, m := through(t, startMachine(t, nil))
	f := lead(t, nil, m, startMachine(t, nil))
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	when(t, func() bool { return working(f) }, func() {
		w.hold()
		pause.For(ctx, 3*time.Second)
		w.release()
		f.End("the partition is over")
	})
	check.OK(t, f.Measure(ctx, func() {}))
	check.OK(t, f.Finish(ctx))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	if r := f.Result(); len(r.Lost) > 0 || len(rows(t, path)) != 2 {
		t.Errorf("%+v %v", r, rows(t, path))
	}
	empty(t, e.Addr())
}

// A client that stays away stops by itself; the run goes on without it and says so.
func TestLostClient(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	gone := startMachine(t, shortTimeout)
	w, m := through(t, gone)
	other := startMachine(t, nil)
	f := lead(t, shortTimeouts, m, other)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	when(t, func() bool { return working(f) && arrived(f) }, func() {
		w.hold()
		_ = f.await(ctx, "to be lost", time.Minute, forCounted, func(l *link) bool { return l.id != f.links[0].id })
		f.End("one is lost")
	})
	check.OK(t, f.Measure(ctx, func() {}))
	check.OK(t, f.Finish(ctx))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, left, err := f.Merge(ctx, path)
	check.OK(t, err)
	r := f.Result()
	if len(r.Lost) != 1 || r.Lost[0].Client != m.addr || r.Fatal != nil {
		t.Fatalf("%+v", r)
	}
	if n := rows(t, path); len(n) != 1 || n[f.links[1].id] != int(r.Sent) {
		t.Errorf("%v, and %d requests", n, r.Sent)
	}
	if len(left) != 1 {
		t.Errorf("what had arrived of the lost client's log is in %v", left)
	}
	log, _ := testlog.ReadFile(t, path)
	if notes := strings.Join(log.Trailer().Notes, "\n"); !strings.Contains(notes, "client "+m.addr+" was lost") || !strings.Contains(notes, "1 of 2 clients") {
		t.Errorf("notes: %s", notes)
	}
	check.OK(t, f.Clean(ctx))
	empty(t, e.Addr())
	w.release()
	// It is ready for the next one.
	next := lead(t, nil, m, other)
	whole(t, next, getPlan(t, e.Addr(), untilWarm), filepath.Join(t.TempDir(), "next"))
}

// A client that learns of the start only after the end of the run is lost, and the reason says how late it was.
func TestCutOffForTheWholeRun(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, m := through(t, startMachine(t, nil))
	f := lead(t, func(o *Options) {
		o.BeforeStart = func(ctx context.Context) {
			w.hold()
			go func() { pause.For(ctx, 6*time.Second); w.release() }()
		}
	}, m, startMachine(t, nil))
	r := whole(t, f, getPlan(t, e.Addr(), 2*time.Second), filepath.Join(t.TempDir(), "all.csv.zst"))
	if len(r.Lost) != 1 || !strings.Contains(r.Lost[0].Err.Error(), "after the measurement ended") {
		t.Errorf("%+v", r)
	}
	empty(t, e.Addr())
}

// A client that goes while all wait for a start that is far ahead ends the run, before it begins.
func TestLostBeforeTheStart(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)}
	f := lead(t, shortTimeouts, ms...)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	p := getPlan(t, e.Addr(), time.Second)
	p.Start = time.Now().Add(time.Hour)
	check.OK(t, f.Prepare(ctx, p))
	time.AfterFunc(500*time.Millisecond, ms[1].stop)
	err := f.Measure(ctx, func() { t.Error("it began") })
	var which *Error
	if !errors.As(err, &which) || which.Client != ms[1].addr {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(ctx, err))
	empty(t, e.Addr())
	ms[0].waitUntilFree(t)
}

// After the coordinator is gone the clients stop, clean up, and keep their logs
// for the next one.
func TestDeadCoordinator(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, shortTimeout), startMachine(t, shortTimeout)}
	f := lead(t, nil, ms...)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	go func() { _ = f.Measure(ctx, func() {}) }()
	check.Eventually(t, "requests of all clients", func() bool { return working(f) })
	f.Close() // as a kill does: nothing is said
	folder := t.TempDir()
	collect := func() (*Collected, error) {
		c := lead(t, nil, ms...)
		return c.Collect(ctx, "", func(b string) string { return filepath.Join(folder, b+".csv.zst") })
	}
	c, err := collect()
	check.OK(t, err)
	if c.Clients != 2 || c.Rows == 0 || c.Run != f.options.Run || len(c.Without) > 0 {
		t.Errorf("%+v", c)
	}
	if n := rows(t, filepath.Join(folder, "get.csv.zst")); len(n) != 2 {
		t.Errorf("%v", n)
	}
	empty(t, e.Addr())
	if _, err := collect(); !errors.Is(err, errNothingKept) {
		t.Errorf("a second time: %v", err)
	}
	whole(t, lead(t, nil, ms...), getPlan(t, e.Addr(), untilWarm), filepath.Join(folder, "next"))
}

// What one client cannot do before the run ends it for all, and is said of that client.
func TestFailureBeforeTheRun(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	bad := startMachine(t, func(o *agent.Options) {
		o.Operation = func(string) bench.Op { return &failingGet{} }
	})
	good := startMachine(t, nil)
	f := lead(t, nil, good, bad)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	err := f.Prepare(ctx, getPlan(t, e.Addr(), time.Second))
	var which *Error
	if !errors.As(err, &which) || which.Client != bad.addr || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(ctx, err))
	empty(t, e.Addr())
	if logs := ownLogs(t, good, bad); len(logs) > 0 {
		t.Errorf("logs of nothing: %v", logs)
	}
	for _, m := range []*machine{good, bad} {
		m.waitUntilFree(t)
	}
}

// A failingGet cannot prepare its objects.
type failingGet struct{ ops.Get }

func (*failingGet) Prepare(context.Context, *bench.Env) error { return errors.New("no room") }

// Whoever interrupts the coordinator stops everybody, and has the log of what was done.
func TestInterruption(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)}
	f := lead(t, nil, ms...)
	ctx, cancel := context.WithCancelCause(t.Context())
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	when(t, func() bool { return working(f) }, func() { cancel(bench.ErrInterrupted) })
	check.OK(t, f.Measure(ctx, func() {}))
	check.OK(t, f.Finish(t.Context()))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(t.Context(), path)
	check.OK(t, err)
	if r := f.Result(); !errors.Is(r.Fatal, bench.ErrInterrupted) || r.Sent == 0 || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
	if n := rows(t, path); len(n) != 2 {
		t.Errorf("%v", n)
	}
	check.OK(t, f.Clean(t.Context()))
	empty(t, e.Addr())
}

// A clock that is too far off is an error that names the client.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	m := startMachine(t, func(o *agent.Options) { o.Skew = -1500 * time.Millisecond })
	f := lead(t, nil, startMachine(t, nil), m)
	err := f.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "client "+m.addr+": its clock is off by -1.5") {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(t.Context(), err))
}

// Nobody there is said at once, and of whom.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	f := lead(t, func(o *Options) {
		o.ConnectTimeout = 300 * time.Millisecond
		o.Members = []Member{{Addr: "127.0.0.1:1"}}
	})
	err := f.Connect(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "client 127.0.0.1:1: ") {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(t.Context(), err))
}

// A client may come up after the coordinator: on a cluster nobody says which is scheduled first.
func TestClientComesLater(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	var up atomic.Bool
	f := lead(t, func(o *Options) {
		o.ConnectTimeout = time.Minute
		o.Members = []Member{{Addr: m.addr}}
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if !up.Load() {
				return nil, errors.New("no such host")
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	})
	if text := f.absent(); text != "" {
		t.Errorf("before the first attempt: %q", text)
	}
	connected := make(chan error, 1)
	go func() { connected <- f.Connect(t.Context()) }()
	check.Eventually(t, "somebody who is missed", func() bool { return f.absent() != "" })
	want := "client " + m.addr + " does not answer yet: no such host; it is given 1m0s"
	if text := f.absent(); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	up.Store(true)
	check.OK(t, <-connected)
	if text := f.absent(); text != "" {
		t.Errorf("when it is there: %q", text)
	}
	check.OK(t, f.Abort(t.Context(), nil))
}

// A slow link delays the logs and nothing else.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, m := through(t, startMachine(t, nil))
	w.rate = 60 << 10
	f := lead(t, nil, m, startMachine(t, nil))
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	r := whole(t, f, getPlan(t, e.Addr(), 4*time.Second), path)
	if len(r.Lost) > 0 || len(rows(t, path)) != 2 {
		t.Errorf("%+v", r)
	}
}

// More failed requests than --max-errors allows, over all clients, end the run for all, and nobody is lost.
func TestTooManyErrors(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]bench.ErrorLimit{"count": {Set: true, Count: 10}, "share": {Set: true, IsPct: true, Percent: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooMany(t, limit)
		})
	}
}

func tooMany(t *testing.T, limit bench.ErrorLimit) {
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)}
	f := lead(t, nil, ms...)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.Options.MaxErrors = limit
	p.Job.Options.Lease = time.Hour // no renewal succeeds either, which must not be what ends the run
	check.OK(t, f.Prepare(ctx, p))
	when(t, func() bool { return working(f) }, func() { _ = e.Close() }) // every request fails from now on
	check.OK(t, f.Measure(ctx, func() {}))
	check.OK(t, f.Finish(ctx))
	if r := f.Result(); !errors.Is(r.Fatal, bench.ErrTooManyErrors) || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
}

// A client that somebody ends cleans up, and says so before it goes: nobody waits for its lease, which is an hour.
func TestEndedClient(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)} // the first one would be asked to clean up after others
	f := lead(t, nil, ms...)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.Options.Lease = time.Hour
	check.OK(t, f.Prepare(ctx, p))
	when(t, func() bool { return working(f) }, func() {
		ms[0].stop()
		f.End("one is gone")
	})
	check.OK(t, f.Measure(ctx, func() {}))
	check.OK(t, f.Finish(ctx))
	r := f.Result()
	if len(r.Lost) != 1 || !strings.Contains(r.Lost[0].Error(), "warp client was stopped") || !strings.Contains(r.Lost[0].Error(), ms[0].addr) {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	check.OK(t, f.Clean(ctx))
	empty(t, e.Addr())
	ms[0].stop()
	if said := ms[0].said; said.count("is over") != 1 || said.count("ready for the next one") > 0 {
		t.Errorf("%q", said.lines)
	}
}

// A client that has gone in good order is nobody's delegate.
func TestDelegateIsThere(t *testing.T) {
	t.Parallel()
	left := &link{id: "left", status: protocol.Status{Phase: protocol.Released, TakesOrphans: true}, job: &protocol.Job{}}
	there := &link{id: "there", status: protocol.Status{Phase: protocol.Cleaned, TakesOrphans: true}, job: &protocol.Job{}, wakeUp: make(chan struct{}, 1)}
	dead := &link{id: "dead", status: protocol.Status{Phase: protocol.Measured}, gone: logcopy.ErrDiffers, job: &protocol.Job{}}
	f := New(Options{})
	f.links = []*link{left, there, dead}
	if delegate, gone := f.delegate(); delegate != there || len(gone) != 1 || gone[0] != dead {
		t.Errorf("%v of %v", delegate, gone)
	}
}
