package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/fleet/agent"
	"warp/pkg/oplog"
)

// A listing keeps the text of rows as they arrive, by client.
type listing struct {
	mu   sync.Mutex
	rows map[string][]string
}

func (l *listing) write(batch []oplog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[string][]string{}
	}
	for i := range batch {
		l.rows[batch[i].Client] = append(l.rows[batch[i].Client], rowText(&batch[i]))
	}
	return nil
}

// rowText is a row with the first number.
func rowText(r *oplog.Record) string {
	var text oplog.Text
	return string(text.AppendRow(nil, r))
}

func (l *listing) clients() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rows)
}

// await waits until rows of so many clients are there.
func (l *listing) await(t *testing.T, clients int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); l.clients() < clients; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("there are rows of %d clients", l.clients())
			return
		}
	}
}

// inLog are the rows of a log by client, in its order: as they are
// written in a merged log, and as a merge moves the rows of a client.
func inLog(t *testing.T, path string) map[string][]string {
	t.Helper()
	r, all := testlog.ReadFile(t, path)
	ahead, offset := r.Header().ClockOffset, map[string]uint32{}
	for _, o := range r.Header().Merged {
		offset[o.Client] = o.Offset
	}
	rows := map[string][]string{}
	for i := range all {
		all[i].MoveBack(ahead)
		all[i].Thread += offset[all[i].Client]
		rows[all[i].Client] = append(rows[all[i].Client], rowText(&all[i]))
	}
	return rows
}

// same fails unless a client's rows are those, once each, whatever their order.
func same(t *testing.T, client string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("client %s: %d rows arrived, and its log has %d, or their text differs", client, len(got), len(want))
	}
}

// Rows arrive while the run goes on, and in the end are the rows of the merged log,
// though a connection breaks again and again and clocks differ; a client's are in
// the order of its own log.
func TestRows(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	w, broken := through(t, startMachine(t, nil))
	ms := []*machine{broken, startMachine(t, func(o *agent.Options) { o.Skew = 300 * time.Millisecond }), startMachine(t, nil)}
	var arrived listing
	f := lead(t, func(o *Options) { o.Rows = arrived.write }, ms...)
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.Options.Rate = 500
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, p))
	rest := w.cutOften()
	check.OK(t, f.Measure(ctx, func() {
		go func() {
			defer f.End("there were rows")
			arrived.await(t, 3)
			time.Sleep(2 * time.Second) // some pieces more
		}()
	}))
	rest()
	check.OK(t, f.Finish(ctx))
	check.OK(t, f.EndRows())
	if r := f.Result(); len(r.Lost) > 0 || r.Sent < 100 {
		t.Errorf("%+v", r)
	}
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	merged := inLog(t, path)
	for i, l := range f.links {
		same(t, l.id, arrived.rows[l.id], merged[l.id])
		begins(t, ms[i], arrived.rows[l.id])
	}
}

// begins fails unless a machine's own log begins with the rows. Only their
// threads have other numbers.
func begins(t *testing.T, m *machine, rows []string) {
	t.Helper()
	logs := ownLogs(t, m)
	if len(logs) != 1 {
		t.Fatalf("%s has the logs %v", m.addr, logs)
	}
	for _, own := range inLog(t, logs[0]) {
		for i, row := range rows {
			if i == len(own) || withoutThread(row) != withoutThread(own[i]) {
				t.Fatalf("row %d of %d is\n%s\nand the log has %d, with\n%s", i, len(rows), row, len(own), own[min(i, len(own)-1)])
			}
		}
	}
}

func withoutThread(row string) string { return strings.SplitN(row, "\t", 3)[2] }

// What has arrived of a client that is lost is there once, as it is in its own log, and nothing is missing of the others.
func TestRowsOfLostClient(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	gone := startMachine(t, shortTimeout)
	w, m := through(t, gone)
	var arrived listing
	f := lead(t, func(o *Options) { shortTimeouts(o); o.Rows = arrived.write }, startMachine(t, nil), m)
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	check.OK(t, f.Measure(ctx, func() {
		go func() {
			defer f.End("one is lost")
			arrived.await(t, 2)
			w.hold()
			_ = f.await(ctx, "to be lost", time.Minute, forCounted, func(l *link) bool { return l.id != f.links[1].id })
		}()
	}))
	check.OK(t, f.Finish(ctx))
	check.OK(t, f.EndRows())
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	r := f.Result()
	if len(r.Lost) != 1 {
		t.Fatalf("%+v", r)
	}
	there, lost := f.links[0].id, f.links[1].id
	same(t, there, arrived.rows[there], inLog(t, path)[there])
	gone.waitUntilFree(t)
	begins(t, gone, arrived.rows[lost])
	check.OK(t, f.Clean(ctx))
	w.release()
}

// A log that is wanted for its rows only is nobody's in the end, even if its client is lost.
func TestDroppedLogs(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	ms := []*machine{startMachine(t, nil), startMachine(t, nil)}
	var arrived listing
	f := lead(t, func(o *Options) {
		o.Rows = func(batch []oplog.Record) error {
			time.Sleep(100 * time.Millisecond) // whoever takes them slowly has them all the same when the run is over
			return arrived.write(batch)
		}
	}, ms...)
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.DropLog = true
	ctx := t.Context()
	measured(t, f, p)
	check.OK(t, f.EndRows())
	there := f.links[0].id
	rows := slices.Clone(arrived.rows[there])
	f.update(func() { f.links[1].lost = errors.New("lost") })
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, left, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	same(t, there, rows, inLog(t, path)[there])
	if copies, err := os.ReadDir(filepath.Dir(f.options.Spool("x"))); err != nil || len(copies) > 0 || len(left) > 0 {
		t.Errorf("copies are left: %v, %v, %v", copies, left, err)
	}
	for _, m := range ms {
		m.waitUntilFree(t)
	}
	nothingKept(t, ms...)
}

// Rows that could not be handed on are said of their client, and cost the run nothing else.
func TestRowsRefused(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	m := startMachine(t, nil)
	f := lead(t, func(o *Options) { o.Rows = func([]oplog.Record) error { return errors.New("full") } }, m)
	measured(t, f, getPlan(t, e.Addr(), untilWarm))
	var which *Error
	if err := f.EndRows(); !errors.As(err, &which) || which.Client != m.addr || !strings.Contains(err.Error(), "full") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err := f.Merge(t.Context(), path)
	check.OK(t, err)
	check.OK(t, f.Clean(t.Context()))
	r := f.Result()
	if n := rows(t, path)[f.links[0].id]; r.Sent == 0 || len(r.Lost) > 0 || n != int(r.Sent) {
		t.Errorf("%+v, and %d rows", r, n)
	}
}
