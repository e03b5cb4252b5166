package oplog_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/oplog"
)

func TestChecksAreInTheLog(t *testing.T) {
	t.Parallel()
	checks := oplog.Checks{Properties: []string{"create"}, NotPromised: map[string]string{"whole": "nobody did"}, Unordered: true}
	var file bytes.Buffer
	w, err := oplog.NewWriter(&file, oplog.Header{Warp: "test", Run: "r", Checks: &checks})
	check.OK(t, err)
	rows := []oplog.Record{
		{Op: "PUT", Key: "k", Start: 1, Duration: 2, Check: &oplog.Check{Property: "create", Outcome: "won", Condition: "absent", Sent: "0-0-1:1"}},
		{Op: "GET", Key: "k", Start: 4, Duration: 2, Check: &oplog.Check{Property: "create", Outcome: "won", Received: "0-0-1:1+\"x\"\t"}},
		{Op: "PUT", Key: "prepared", Start: 5, Duration: 1},
	}
	check.OK(t, w.Write(rows))
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	r, err := oplog.NewReader(&file, "log")
	check.OK(t, err)
	if h := r.Header().Checks; h == nil || strings.Join(h.Properties, " ") != "create" || h.NotPromised["whole"] != "nobody did" || !h.Unordered {
		t.Errorf("the header has %+v", h)
	}
	got := make([]oplog.Record, 10)
	n, err := r.Read(got)
	if err != nil && !errors.Is(err, io.EOF) || n != len(rows) {
		t.Fatalf("%d rows, %v", n, err)
	}
	for i, want := range rows {
		if got := got[i].Check; (got == nil) != (want.Check == nil) || got != nil && *got != *want.Check {
			t.Errorf("row %d: %+v, want %+v", i, got, want.Check)
		}
	}
}

// Every other log is as it was.
func TestLogsWithoutChecksHaveNoColumnsForThem(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w, err := oplog.NewWriter(&file, oplog.Header{Warp: "test"})
	check.OK(t, err)
	check.OK(t, w.Write([]oplog.Record{{Op: "PUT", Start: 1}}))
	check.OK(t, w.Close(oplog.Trailer{End: "completed"}))
	r, err := oplog.NewReader(&file, "log")
	check.OK(t, err)
	if r.Header().Checks != nil {
		t.Error("the log has columns for checks")
	}
}
