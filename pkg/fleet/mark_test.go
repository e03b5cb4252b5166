package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/bench"
	"warp/pkg/fleet/agent"
	"warp/pkg/oplog"
)

// marksIn are the marks before the first row of a log, or all of them.
func marksIn(t *testing.T, path string, all bool) []oplog.Mark {
	t.Helper()
	r, err := oplog.Open(path)
	check.OK(t, err)
	defer func() { _ = r.Close() }()
	for rows := make([]oplog.Record, 1); ; {
		if _, err := r.Read(rows); err != nil || !all {
			return r.Marks()
		}
	}
}

// TestMarks: marks of the coordinator are before the first row of the merged log, by
// its clock, and in the logs of the clients by theirs.
func TestMarks(t *testing.T) {
	t.Parallel()
	store := embedded(t)
	ahead := func(o *agent.Options) { o.Skew = 100 * time.Millisecond }
	a, b := startMachine(t, nil), startMachine(t, ahead)
	f := lead(t, nil, a, b)
	if _, err := f.Mark("too early"); !errors.Is(err, bench.ErrNotMeasuring) {
		t.Errorf("a mark before the run: %v", err)
	}
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, store.Addr(), time.Hour)))
	var set []oplog.Mark
	done := make(chan struct{})
	check.OK(t, f.Measure(ctx, func() {
		go func() {
			defer when(t, func() bool { return working(f) }, func() { f.End("all marks are set") })
			defer close(done)
			for i := range 5 {
				time.Sleep(200 * time.Millisecond)
				m, err := f.Mark(fmt.Sprint("mark\n", i))
				if err != nil {
					t.Error(err)
				}
				set = append(set, m)
			}
			if _, err := f.Mark(" "); err == nil {
				t.Error("an empty text was taken")
			}
		}()
	}))
	<-done
	if _, err := f.Mark("too late"); !errors.Is(err, bench.ErrNotMeasuring) {
		t.Errorf("a mark after the run: %v", err)
	}
	check.OK(t, f.Finish(ctx))
	path := filepath.Join(t.TempDir(), "merged.csv.zst")
	_, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	if got := marksIn(t, path, false); fmt.Sprint(got) != fmt.Sprint(set) || len(got) != 5 || got[0].Text != "mark 0" {
		t.Errorf("the merged log begins with %v, want %v", got, set)
	}
	for _, m := range []*machine{a, b} {
		for _, log := range ownLogs(t, m) {
			got := marksIn(t, log, true)
			r, err := oplog.Open(log)
			check.OK(t, err)
			offset := r.Header().ClockOffset
			_ = r.Close()
			for i := range got {
				got[i].At -= offset
			}
			if fmt.Sprint(got) != fmt.Sprint(set) {
				t.Errorf("the log of a client whose clock is %v ahead has %v, want %v", time.Duration(offset), got, set)
			}
		}
	}
}
