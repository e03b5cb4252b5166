package extsort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
)

// randomRows returns rows of which many have the same time, and some are equal.
func randomRows(rng *rand.Rand, n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		body := make([]byte, rng.IntN(40))
		for k := range body {
			body[k] = byte(rng.IntN(3))
		}
		rows[i] = Row{At: rng.Int64N(200) - 100, Source: uint32(i % 3), Body: body}
	}
	return rows
}

// fill passes rows to a sorter.
func fill(t *testing.T, s *Sorter, rows []Row) {
	t.Helper()
	for i := range rows {
		check.OK(t, s.Add(&rows[i]))
	}
	check.OK(t, s.Finish(t.Context()))
}

// Rows come out in order with all that they have, however many runs there are and as often as they are read.
func TestSorter(t *testing.T) {
	t.Parallel()
	rows := randomRows(rand.New(rand.NewPCG(1, 1)), 3000)
	count := func(rows []Row) map[string]int {
		all := map[string]int{}
		for _, r := range rows {
			all[fmt.Sprint(r.At, r.Source, r.Body)]++
		}
		return all
	}
	want := count(rows)
	for _, c := range []struct{ rows, bytes, runs int }{{sortRows, sortBuffer, maxRuns}, {100, sortBuffer, maxRuns}, {7, sortBuffer, 5},
		{1, sortBuffer, 2}, {sortRows, 5000, 20}, {sortRows, 1, 3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s := New(folder)
			s.MaxRows, s.MaxBytes, s.MaxRuns = c.rows, c.bytes, c.runs
			fill(t, s, rows)
			if len(s.runs) > s.MaxRuns {
				t.Errorf("%d runs are left", len(s.runs))
			}
			for range 2 {
				var got []Row
				if err := s.Each(t.Context(), func(r *Row) error {
					var kept Row
					kept.Keep(r)
					got = append(got, kept)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if !slices.IsSortedFunc(got, func(a, b Row) int { return a.Compare(&b) }) {
					t.Error("the rows are not in order")
				}
				if all := count(got); len(got) != len(rows) || fmt.Sprint(all) != fmt.Sprint(want) {
					t.Errorf("%d rows, of which some differ from the %d that were added", len(got), len(rows))
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if files, _ := os.ReadDir(folder); len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// A sort that is canceled while it merges runs returns the error.
func TestSorterStops(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir())
	s.MaxRows, s.MaxRuns = 10, 5
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 1000 {
		check.OK(t, s.Add(&Row{At: int64(i)}))
	}
	cancel()
	if err := s.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Finish: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// The error names a directory that is not writable.
func TestSorterWithoutFolder(t *testing.T) {
	t.Parallel()
	s := New(filepath.Join(t.TempDir(), "none"))
	err := errors.Join(s.Add(&Row{}), s.Finish(t.Context()))
	if err == nil || !strings.Contains(err.Error(), "sorting needs a temporary file") {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// An error of the file, as on a full disk, ends the sorting.
func TestSorterWithoutRoom(t *testing.T) {
	t.Parallel()
	s := New(t.TempDir())
	s.MaxRows = 10
	var err error
	for i := 0; err == nil && i < 100_000; i++ {
		if err = s.Add(&Row{Body: bytes.Repeat([]byte{1}, 1000)}); s.file != nil && err == nil {
			_ = s.file.Close()
		}
	}
	if err == nil || !strings.Contains(err.Error(), "sorting, in a temporary file") {
		t.Errorf("%v", err)
	}
}

// A damaged temporary file causes an error or wrong rows, but no panic.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	failed := 0
	for range 300 {
		s := New(t.TempDir())
		fill(t, s, randomRows(rng, 40))
		var err error
		if rng.IntN(3) == 0 {
			err = s.file.Truncate(rng.Int64N(s.size))
		} else {
			_, err = s.file.WriteAt([]byte{byte(rng.Uint32()), byte(rng.Uint32())}, rng.Int64N(s.size))
		}
		check.OK(t, err)
		if err := s.Each(t.Context(), func(*Row) error { return nil }); errors.Is(err, ErrDamaged) {
			failed++
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if failed < 100 {
		t.Errorf("%d of 300 were found damaged", failed)
	}
}
