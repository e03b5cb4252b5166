package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// sortRecords passes records to a sorter, each from a different source.
func sortRecords(t *testing.T, s *sorter, records []oplog.Record) {
	t.Helper()
	for i := range records {
		if err := s.add(&row{records[i].Start, uint32(i % 3), appendBody(nil, &records[i])}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func sortedRecords(t *testing.T, s *sorter) (got []oplog.Record) {
	t.Helper()
	var d rowDecoder
	if err := s.each(t.Context(), func(r *row) error {
		got = append(got, oplog.Record{})
		return d.decode(r, &got[len(got)-1])
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// However many runs there are, rows come out in order, as often as they are read.
func TestSorter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	records := oddRecords(rng, 3000, "", "c")
	rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	want := sorted(records)
	for i := range want {
		want[i].Run = ""
	}
	for _, c := range []struct{ rows, bytes, runs int }{{sortRows, sortBuffer, maxRuns}, {100, sortBuffer, maxRuns}, {7, sortBuffer, 5},
		{1, sortBuffer, 2}, {sortRows, 5000, 20}, {sortRows, 1, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s := newSorter(folder)
			s.maxRows, s.maxBytes, s.maxRuns = c.rows, c.bytes, c.runs
			sortRecords(t, s, records)
			if len(s.runs) > s.maxRuns {
				t.Errorf("%d runs are left", len(s.runs))
			}
			testlog.Same(t, sortedRecords(t, s), want)
			testlog.Same(t, sortedRecords(t, s), want)
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if files, _ := os.ReadDir(folder); len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// A row encodes all of its record.
func TestRowRoundTrip(t *testing.T) {
	t.Parallel()
	var d rowDecoder
	for _, want := range oddRecords(rand.New(rand.NewPCG(8, 2)), 3000, "", "c") {
		var got oplog.Record
		r := row{start: want.Start, body: appendBody(nil, &want)}
		if err := d.decode(&r, &got); err != nil || r.thread() != want.Thread {
			t.Fatal(err, r.thread())
		}
		testlog.Same(t, []oplog.Record{got}, []oplog.Record{want})
	}
}

// A merge that is canceled while it merges runs returns the error.
func TestSorterStops(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir())
	s.maxRows, s.maxRuns = 10, 5
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 1000 {
		if err := s.add(&row{start: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := s.finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("finish: %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// The error names a directory that is not writable.
func TestSorterWithoutFolder(t *testing.T) {
	t.Parallel()
	s := newSorter(filepath.Join(t.TempDir(), "none"))
	err := errors.Join(s.add(&row{}), s.finish(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "sorting needs a temporary file") {
		t.Errorf("%v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// An error of the file, as on a full disk, ends the sorting.
func TestSorterWithoutRoom(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir())
	s.maxRows = 10
	var err error
	for i := 0; err == nil && i < 100_000; i++ {
		if err = s.add(&row{body: bytes.Repeat([]byte{1}, 1000)}); s.file != nil && err == nil {
			_ = s.file.Close()
		}
	}
	if err == nil || !strings.Contains(err.Error(), "sorting, in a temporary file") {
		t.Errorf("%v", err)
	}
}

// A damaged temporary file causes an error or wrong rows, but no panic.
func TestDamagedSpill(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	failed := 0
	for range 300 {
		s := newSorter(t.TempDir())
		sortRecords(t, s, oddRecords(rng, 40, "", "c"))
		var err error
		if rng.IntN(3) == 0 {
			err = s.file.Truncate(rng.Int64N(s.size))
		} else {
			_, err = s.file.WriteAt([]byte{byte(rng.Uint32()), byte(rng.Uint32())}, rng.Int64N(s.size))
		}
		if err != nil {
			t.Fatal(err)
		}
		var d rowDecoder
		var r oplog.Record
		if err := s.each(t.Context(), func(row *row) error {
			_ = row.thread()
			return d.decode(row, &r)
		}); errors.Is(err, errSpill) {
			failed++
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
	if failed < 100 {
		t.Errorf("%d of 300 were found damaged", failed)
	}
}
