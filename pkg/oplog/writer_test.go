package oplog_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 123, time.UTC).UnixNano()
	records := []oplog.Record{
		{Op: "PUT", Client: "abcd", Endpoint: "http://127.0.0.1:9000", Key: "p/1.rnd", Thread: 3, Objects: 1, Bytes: 1024,
			Start: start, LastByte: 2000, Duration: 5000, Status: 200, Requests: 1,
			Phases: &oplog.Phases{0, 150, 0, 12, 345, 6}},
		{Op: "GET", Client: "abcd", Endpoint: "http://127.0.0.1:9000", Key: "p/1.rnd", Objects: 1, Bytes: 1024,
			Start: start + 999_999_876, Due: start, FirstByte: 7, Duration: 8, Status: 200, Retries: 1, Requests: 2, Category: 9},
		{Op: "STAT", Client: "abcd", Key: "with\ttab and \"quote\"", Err: "NoSuchKey: line\nbreak", Thread: 65535,
			Start: start + 1e9, Duration: time.Minute, Status: 404},
	}
	got := testlog.Unzstd(t, testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 1))
	check.Golden(t, filepath.Join("testdata", "small.golden.csv"), string(got))
}

// What we write must be what a plain CSV reader makes of it, apart from the
// carriage return that Go's drops before a line feed.
func TestPlainCSVReaderAgrees(t *testing.T) {
	t.Parallel()
	records := testlog.Everything(rand.New(rand.NewPCG(1, 1)), 300, "run1", "c")
	c := csv.NewReader(bytes.NewReader(testlog.Unzstd(t, testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 100))))
	c.Comma, c.Comment = '\t', '#'
	rows, err := c.ReadAll()
	check.OK(t, err)
	if len(rows) != len(records)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	norm := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	for i, r := range records {
		row := rows[i+1]
		if row[2] != r.Op || row[7] != norm(r.Key) || row[8] != norm(r.Err) {
			t.Errorf("row %d: %q, want key %q, error %q", i, row, r.Key, r.Err)
		}
		for col, want := range map[int]int64{9: r.Start, 12: r.End()} {
			if at, err := time.Parse(time.RFC3339Nano, row[col]); err != nil || at.UnixNano() != want {
				t.Errorf("row %d, column %d: %q is not %d", i, col, row[col], want)
			}
		}
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	records := testlog.Everything(rand.New(rand.NewPCG(1, 1)), 500, "run1", "c")
	for i := range records { // a NUL or so may cost; rows of real runs must not
		records[i].Key, records[i].Err = "prefix/1.abc.rnd", ""
	}
	w, err := oplog.NewWriter(io.Discard, testlog.Header())
	check.OK(t, err)
	var failed error
	write := func() { failed = errors.Join(failed, w.Write(records)) }
	for range 20 {
		write()
	}
	if n := testing.AllocsPerRun(50, write); n >= 1 {
		t.Errorf("%v allocations per %d rows", n, len(records))
	}
	if failed != nil {
		t.Fatal(failed)
	}
}

type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	records := testlog.Everything(rand.New(rand.NewPCG(1, 1)), 200, "run1", "c")
	for room := 1000; room < 6000; room += 250 {
		d := &fullDisk{room: room}
		var kept bytes.Buffer
		w, err := oplog.NewWriter(io.MultiWriter(d, &kept), testlog.Header())
		if err != nil {
			continue
		}
		flushed := 0
		for i := range records {
			if err = errors.Join(w.Write(records[i:i+1]), w.Flush()); err != nil {
				break
			}
			flushed++
		}
		if !errors.Is(err, errFull) || !errors.Is(w.Write(records[:1]), errFull) || !errors.Is(w.Close(testlog.Trailer()), errFull) {
			t.Fatalf("room %d: the error was not remembered: %v", room, err)
		}
		r, got, err := testlog.Decode(kept.Bytes(), 7)
		check.OK(t, err)
		testlog.Same(t, got, records[:flushed])
		if len(r.Warnings()) == 0 {
			t.Error("no warning")
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	good := oplog.Record{Op: "GET", Start: 1}
	for name, r := range map[string]oplog.Record{
		"no op":             {},
		"negative bytes":    {Op: "GET", Bytes: -1},
		"negative duration": {Op: "GET", Duration: -1},
	} {
		w, err := oplog.NewWriter(io.Discard, oplog.Header{})
		check.OK(t, err)
		if w.Write([]oplog.Record{r}) == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := w.Write([]oplog.Record{good}); err != nil {
			t.Errorf("%s: the next row failed: %v", name, err)
		}
	}
	w, err := oplog.NewWriter(io.Discard, oplog.Header{})
	check.OK(t, err)
	if err := w.Write([]oplog.Record{{Op: "GET", Thread: 65536}}); err == nil || !strings.Contains(err.Error(), "65536") {
		t.Errorf("thread 65536: %v", err)
	}
}

// A run that is killed before its first flush has a log with its header.
func TestHeaderIsThereAtOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := oplog.NewWriter(&out, testlog.Header()); err != nil {
		t.Fatal(err)
	}
	r, rows, err := testlog.Decode(out.Bytes(), 1)
	if err != nil || len(rows) > 0 || r.Header().Run != testlog.Header().Run || len(r.Warnings()) != 1 {
		t.Errorf("%v %v", rows, err)
	}
}
