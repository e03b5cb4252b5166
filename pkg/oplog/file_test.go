package oplog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.csv.zst")
	f, err := oplog.Create(path, testlog.Header())
	check.OK(t, err)
	if f.Name() != path+".part" {
		t.Errorf("written to %s", f.Name())
	}
	if _, err := oplog.Create(path, testlog.Header()); err == nil || !strings.Contains(err.Error(), ".part exists already") {
		t.Errorf("second Create: %v", err)
	}
	check.OK(t, f.Write([]oplog.Record{{Op: "GET", Start: 1e18, Run: "run1"}}))
	got, err := f.Commit(testlog.Trailer())
	if err != nil || got != path {
		t.Fatal(got, err)
	}
	if _, err := os.Stat(path + ".part"); !os.IsNotExist(err) {
		t.Errorf("the temporary name is still there: %v", err)
	}
	if _, err := oplog.Create(path, testlog.Header()); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("Create over a log: %v", err)
	}
	r, err := oplog.Open(path)
	check.OK(t, err)
	defer r.Close()
	if _, rows, err := testlog.Drain(r, 3); err != nil || len(rows) != 1 || r.Trailer().End != "completed" || len(r.Warnings()) > 0 {
		t.Errorf("%v %v %v", rows, err, r.Warnings())
	}
}

// A file that appears while the log is written stays as it is, and so does the log.
func TestCommitReplacesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.csv.zst")
	f, err := oplog.Create(path, testlog.Header())
	check.OK(t, err)
	check.OK(t, os.WriteFile(path, []byte("mine"), 0o644))
	got, err := f.Commit(testlog.Trailer())
	if err == nil || got != path+".part" || !strings.Contains(err.Error(), got) {
		t.Errorf("%q, %v", got, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("overwritten: %q, %v", b, err)
	}
	if r, err := oplog.Open(got); err != nil {
		t.Error(err)
	} else {
		_ = r.Close()
	}
	if err := oplog.MoveByReserving(got, path); err == nil {
		t.Error("the way without links replaced a file")
	}
	if err := oplog.MoveByReserving(got, path+"2"); err != nil {
		t.Error(err)
	}
}

func TestDefaultName(t *testing.T) {
	t.Parallel()
	got := oplog.DefaultName("get", time.Date(2026, 5, 1, 2, 3, 4, 0, time.UTC), "a/b1")
	if want := "warp-get-2026-05-01[020304]-a-b1.csv.zst"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The error of a log that could not be written is known where it happened. It is not repeated at the end.
func TestCommitRepeatsNoError(t *testing.T) {
	t.Parallel()
	f, err := oplog.Create(filepath.Join(t.TempDir(), "a.csv.zst"), testlog.Header())
	check.OK(t, err)
	if err := f.Write([]oplog.Record{{Op: "GET", Start: 1e18, Run: "run1", Thread: oplog.MaxThread + 1}}); err == nil {
		t.Fatal("the row was written")
	}
	if part, err := f.Commit(testlog.Trailer()); err == nil || err.Error() != "the op log stays at "+part {
		t.Errorf("Commit: %v", err)
	}
}
