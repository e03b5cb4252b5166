package sink

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// A reader accepts writes only while its gate is open.
type reader struct {
	inbox
	gate chan struct{} // closed = open
	fail error
}

func (r *reader) Write(p []byte) (int, error) {
	<-r.gate
	if r.fail != nil {
		return 0, r.fail
	}
	return r.inbox.Write(p)
}

func openGate() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// A listener counts warnings.
type listener struct{ warned, waited atomic.Int64 }

func rowsTo(w io.Writer, l *listener, change func(*RowsOptions)) *Rows {
	o := RowsOptions{Max: 1 << 20, Timeout: time.Minute, Grace: time.Minute,
		Warn: func(string) { l.warned.Add(1) }, Waiting: func() { l.waited.Add(1) }}
	if change != nil {
		change(&o)
	}
	return NewRows(w, o)
}

// waiting returns how many bytes wait for the reader.
func waiting(r *Rows) int {
	r.buffer.mu.Lock()
	defer r.buffer.mu.Unlock()
	return r.buffer.size
}

func writeRows(t *testing.T, r *Rows, times int) {
	t.Helper()
	for range times {
		check.OK(t, errors.Join(r.Write(rows()), r.Flush()))
	}
}

// expected returns the text of the rows of writeRows.
func expected(times int) string {
	var text oplog.Text
	b := text.AppendColumns(nil)
	for range times {
		for _, record := range rows() {
			b = text.AppendRow(b, &record)
		}
	}
	return string(b)
}

func TestRows(t *testing.T) {
	t.Parallel()
	got, l := &reader{gate: openGate()}, &listener{}
	r := rowsTo(got, l, nil)
	writeRows(t, r, 500)
	if lost := r.Close(t.Context(), nil); lost != "" || l.warned.Load() != 0 {
		t.Errorf("lost %q, and warned %d times", lost, l.warned.Load())
	}
	if got.String() != expected(500) {
		t.Error("the text is another")
	}
}

// A row reaches the reader without a flush and without a further row.
func TestRowsComeAtOnce(t *testing.T) {
	t.Parallel()
	got := &reader{gate: openGate()}
	r := rowsTo(got, &listener{}, nil)
	for n := 1; n <= 3; n++ {
		writeRows(t, r, 1)
		for deadline := time.Now().Add(20 * time.Second); got.String() != expected(n); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d rows, and the reader has %q", 4*n, got.String())
			}
		}
	}
	r.Close(t.Context(), nil)
}

// While nobody reads, writing continues. Whole rows are dropped and counted, and the reader sees
// where.
func TestRowsSlowReader(t *testing.T) {
	t.Parallel()
	got, l := &reader{gate: make(chan struct{})}, &listener{}
	r := rowsTo(got, l, func(o *RowsOptions) { o.Max = 100 << 10 })
	writeRows(t, r, 1000)
	held, dropped := waiting(r), r.dropped
	if held > 100<<10 || held < 99<<10 || dropped == 0 {
		t.Errorf("%d bytes are held and %d rows dropped", held, dropped)
	}
	close(got.gate)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if waiting(r) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the reader reads, and rows still wait")
		}
	}
	writeRows(t, r, 1) // there is room again
	if lost, want := r.Close(t.Context(), nil), "rows were dropped because the reader was slow"; !strings.Contains(lost, want) {
		t.Errorf("lost %q", lost)
	}
	if n := l.warned.Load(); n != 1 {
		t.Errorf("warned %d times", n)
	}
	all := expected(1001)
	lines := strings.SplitAfter(got.String(), "\n")
	for _, line := range lines {
		if !strings.Contains(all, line) {
			t.Fatalf("%q is not a row of the log", line)
		}
	}
	if n, want := len(lines)-2, 4004-int(dropped); n != want { // the columns, and the empty string after the last line end
		t.Errorf("%d rows arrived, want %d", n, want)
	}
	if !strings.HasPrefix(lines[len(lines)-2], "4003\t") {
		t.Errorf("the last row is %q", lines[len(lines)-2])
	}
}

// If Write waits, no rows are lost, neither with a slow reader nor at the end.
func TestRowsWait(t *testing.T) {
	t.Parallel()
	got, l := &reader{gate: make(chan struct{})}, &listener{}
	r := rowsTo(got, l, func(o *RowsOptions) { o.Wait, o.Max = true, 100<<10 })
	var writing sync.WaitGroup
	writing.Go(func() { writeRows(t, r, 2000) })
	for deadline := time.Now().Add(20 * time.Second); waiting(r) < 100<<10; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes wait", waiting(r))
		}
	}
	if _, rows, _ := r.buffer.lost(); rows == 8000 || waiting(r) > 110<<10 {
		t.Errorf("%d rows came, and %d bytes wait", rows, waiting(r))
	}
	close(got.gate)
	if lost := r.Close(t.Context(), writing.Wait); lost != "" || l.warned.Load() != 0 {
		t.Errorf("lost %q, and warned %d times", lost, l.warned.Load())
	}
	if got.String() != expected(2000) {
		t.Error("the text is another")
	}
	if n := waiting(r); n > 0 {
		t.Errorf("%d bytes wait", n)
	}
}

// Write stops waiting if nobody reads any more, and the rows are counted.
func TestRowsWaitEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail   error // error of the reader, if it accepts writes at all
		change func(*RowsOptions)
		then   func(*Rows)
		lost   string
	}{
		"stuck":    {change: func(o *RowsOptions) { o.Timeout = 50 * time.Millisecond }, lost: "up to 8000 of 8000 rows did not reach the reader"},
		"closed":   {fail: syscall.EPIPE},
		"full":     {fail: syscall.ENOSPC, lost: "8000 of 8000 rows could not be written"},
		"released": {change: func(o *RowsOptions) { o.Timeout = 50 * time.Millisecond }, then: (*Rows).Release, lost: "of 8000 rows did not reach"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &reader{gate: make(chan struct{}), fail: test.fail}
			if test.fail != nil {
				close(got.gate)
			}
			r := rowsTo(got, &listener{}, func(o *RowsOptions) {
				o.Wait, o.Max = true, 100<<10
				if test.change != nil {
					test.change(o)
				}
			})
			var writing sync.WaitGroup
			writing.Go(func() { writeRows(t, r, 2000) })
			if test.then != nil {
				test.then(r)
				writing.Wait() // nothing else ends it
			}
			if lost := r.Close(t.Context(), writing.Wait); !strings.Contains(lost, test.lost) || (lost == "") != (test.lost == "") {
				t.Errorf("lost %q, want %q", lost, test.lost)
			}
		})
	}
}

// Close waits for a reader that reads, and only for a limited time for one that does not.
func TestRowsEnd(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		reader *reader
		change func(*RowsOptions)
		lost   string
		warned int64
	}{
		{"stuck", t.Context(), &reader{gate: make(chan struct{})}, func(o *RowsOptions) { o.Timeout = 50 * time.Millisecond },
			"up to 40 of 40 rows did not reach the reader, which took nothing for 50ms", 0},
		{"stuck and interrupted", interrupted, &reader{gate: make(chan struct{})}, func(o *RowsOptions) { o.Grace = 50 * time.Millisecond },
			"up to 40 of 40 rows did not reach the reader, which was not waited for after the interruption", 0},
		{"interrupted", interrupted, &reader{gate: openGate()}, nil, "", 0},
		{"closed", t.Context(), &reader{gate: openGate(), fail: syscall.EPIPE}, nil, "", 1},
		{"full", t.Context(), &reader{gate: openGate(), fail: syscall.ENOSPC}, nil, "40 of 40 rows could not be written: " + syscall.ENOSPC.Error(), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := &listener{}
			r := rowsTo(test.reader, l, test.change)
			writeRows(t, r, 10)
			if lost := r.Close(test.ctx, nil); lost != test.lost {
				t.Errorf("lost %q, want %q", lost, test.lost)
			}
			if n := l.warned.Load(); n != test.warned {
				t.Errorf("warned %d times, want %d", n, test.warned)
			}
		})
	}
}

// A slow reader is reported once.
func TestRowsNoteTheWait(t *testing.T) {
	t.Parallel()
	got, l := &reader{gate: make(chan struct{})}, &listener{}
	r := rowsTo(got, l, func(o *RowsOptions) {
		o.Waiting = func() { l.waited.Add(1); close(got.gate) }
	})
	writeRows(t, r, 1)
	if lost := r.Close(t.Context(), nil); lost != "" || got.String() != expected(1) || l.waited.Load() != 1 {
		t.Errorf("lost %q, told %d times", lost, l.waited.Load())
	}
}
