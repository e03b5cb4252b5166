package merge

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// Rows arrive as soon as their frame is complete, while the log is still written. They have the
// same times and threads as after a merge.
func TestFollow(t *testing.T) {
	t.Parallel()
	const ahead, offset = int64(250e6), 7
	h := testlog.Header()
	h.Client, h.ClockOffset = "c", ahead
	records := testlog.Everything(rand.New(rand.NewPCG(1, 2)), 3000, h.Run, h.Client)
	in, out := io.Pipe()
	batches, ended := make(chan []oplog.Record, len(records)), make(chan error, 1)
	go func() {
		ended <- Follow(in, "log", offset, func(batch []oplog.Record) error {
			kept := append([]oplog.Record{}, batch...)
			for i := range kept {
				kept[i].Key = strings.Clone(kept[i].Key)
			}
			batches <- kept
			return nil
		})
	}()
	w, err := oplog.NewWriter(out, h)
	check.OK(t, err)
	var got []oplog.Record
	for at, n := 0, 1; at < len(records); n = min(3*n, len(records)-at) {
		check.OK(t, errors.Join(w.Write(records[at:at+n]), w.Flush()))
		for at += n; len(got) < at; {
			select {
			case batch := <-batches:
				got = append(got, batch...)
			case <-time.After(20 * time.Second):
				t.Fatalf("%d of %d rows have come", len(got), at)
			}
		}
	}
	check.OK(t, errors.Join(w.Close(testlog.Trailer()), out.Close(), <-ended))
	for i := range records {
		records[i].MoveBack(ahead)
		records[i].Thread += offset
	}
	testlog.Same(t, got, records)
}

// If a log cannot be followed, the error says why, after the rows before it.
func TestFollowErrors(t *testing.T) {
	t.Parallel()
	h := testlog.Header()
	h.ClockOffset = int64(48 * time.Hour)
	records := testlog.Everything(rand.New(rand.NewPCG(1, 2)), 20, h.Run, "")
	whole := testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 5)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 0xff
	full := errors.New("full")
	for name, test := range map[string]struct {
		log  []byte
		fail error
		rows bool
		err  string
	}{
		"nothing": {err: "the file is empty"},
		"clock":   {log: testlog.Encode(t, h, testlog.Trailer(), records, 5), err: "more than a day"},
		"damaged": {log: damaged, rows: true, err: "damaged"},
		"refused": {log: whole, rows: true, fail: full, err: full.Error()},
	} {
		rows := 0
		err := Follow(bytes.NewReader(test.log), name, 0, func(batch []oplog.Record) error { rows += len(batch); return test.fail })
		if err == nil || !strings.Contains(err.Error(), test.err) || (rows > 0) != test.rows {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// A client has as many thread numbers as its log says, so that they are known before its rows.
func TestMergeKeepsThreadNumbers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(client string, threads uint32, used ...uint32) string {
		path := filepath.Join(folder, client)
		f, err := oplog.Create(path, oplog.Header{Warp: "v1", Run: "R", Client: client, Threads: threads, Start: time.Unix(100, 0)})
		check.OK(t, err)
		for i, thread := range used {
			check.OK(t, f.Write([]oplog.Record{{Op: "GET", Client: client, Thread: thread, Start: int64(i + 1), Duration: 1}}))
		}
		if _, err := f.Commit(oplog.Trailer{End: "completed"}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, idle, low, last := write("a", 8, 0, 3), write("b", 8), write("c", 1, 4), write("d", 1<<31, 1)
	merge := func(name string, inputs ...string) string {
		path := filepath.Join(folder, name)
		if _, err := Logs(t.Context(), path, inputs, Options{}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	steps := merge("steps", merge("first", a, idle), merge("second", low))
	for _, path := range []string{merge("once", a, idle, low), steps, merge("again", steps)} {
		_, h := readWhole(t, path)
		var got []uint32
		for _, o := range h.Merged {
			got = append(got, o.Offset, o.Threads)
		}
		if want := []uint32{0, 8, 8, 8, 16, 5}; !slices.Equal(got, want) {
			t.Errorf("%s: offsets and numbers %v, want %v", path, got, want)
		}
	}
	// An impossible number does not affect the other clients.
	if rows, _ := readWhole(t, merge("most", a, last)); len(rows) != 3 {
		t.Errorf("%d rows", len(rows))
	}
}
