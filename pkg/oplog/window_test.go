package oplog_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// TestWindowComments reads the window between the rows where it was written.
func TestWindowComments(t *testing.T) {
	var log bytes.Buffer
	w, err := oplog.NewWriter(&log, oplog.Header{Warp: "test", Windowed: true})
	check.OK(t, err)
	windows := []oplog.Window{{}, {Start: 1e9}, {Start: 1e9, Begin: 2e9, Cold: 3}, {Start: 1e9, Begin: 2e9, End: 3e9, Cold: 3}}
	var want []string
	for i, window := range windows {
		if i > 0 {
			check.OK(t, w.SetWindow(window))
			want = append(want, fmt.Sprint(window))
		}
		for range 3 {
			check.OK(t, w.Write([]oplog.Record{{Op: "GET", Client: "c", Start: int64(i) * 1e9, Duration: time.Duration(i)}}))
			want = append(want, fmt.Sprint("row ", i))
		}
	}
	last := windows[len(windows)-1]
	check.OK(t, w.Close(oplog.Trailer{End: "completed", Window: &last}))
	r, err := oplog.NewReader(&log, "test")
	check.OK(t, err)
	var got []string
	err = r.EachInWindow(t.Context(), func(w oplog.Window, _ []oplog.Mark) { got = append(got, fmt.Sprint(w)) }, func(batch []oplog.Record) error {
		for i := range batch {
			got = append(got, fmt.Sprint("row ", batch[i].Start/1e9))
		}
		return nil
	})
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("error %v, read\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if end := r.Trailer().Window; end == nil || *end != last {
		t.Fatalf("the trailer has %v, want %v", end, last)
	}
	if len(r.Comments()) > 0 {
		t.Errorf("unknown comments: %q", r.Comments())
	}
}

func TestUnsentWaits(t *testing.T) {
	at := time.Unix(100, 0)
	u := &oplog.Unsent{Count: 3, FirstDue: at, Interval: 1e9, Until: at.Add(5 * time.Second)}
	var got []time.Duration
	u.Each(func(_ int64, d time.Duration) { got = append(got, d) })
	if fmt.Sprint(got) != "[5s 4s 3s]" {
		t.Errorf("waits are %v", got)
	}
}

// TestPlace has requests at the borders of a window, on time and late.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start, due, end int64
		want            oplog.Place
	}{
		{9, 0, 20, oplog.BeforeWindow},
		{10, 0, 20, oplog.InWindow},
		{20, 0, 20, oplog.InWindow},
		{21, 0, 20, oplog.AfterWindow},
		{21, 20, 20, oplog.InWindow},
		{10, 9, 20, oplog.BeforeWindow},
		{30, 21, 20, oplog.AfterWindow},
		{30, 21, 0, oplog.InWindow},
	} {
		r := oplog.Record{Start: test.start, Due: test.due}
		if got := r.Place(10, test.end); got != test.want {
			t.Errorf("start %d, due %d, window from 10 to %d: %d, want %d", test.start, test.due, test.end, got, test.want)
		}
	}
}
