package oplog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/oplog/field"
)

// bothWays reads a log with fastRow and without it, which must not differ in
// anything. It returns how many rows fastRow took.
func bothWays(t testing.TB, log []byte) (fast int) {
	t.Helper()
	quick, err := oplog.NewReader(bytes.NewReader(log), "log")
	if err != nil {
		return 0
	}
	slow, err := oplog.NewReader(bytes.NewReader(log), "log")
	check.OK(t, err)
	slow.DisableFastRows()
	_, got, gotErr := testlog.Drain(quick, 7)
	_, want, wantErr := testlog.Drain(slow, 7)
	testlog.Same(t, got, want)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("error %v, without fastRow %v", gotErr, wantErr)
	}
	if !slices.Equal(quick.Warnings(), slow.Warnings()) || !slices.Equal(quick.Comments(), slow.Comments()) {
		t.Fatalf("warnings %q and comments %q, without fastRow %q and %q",
			quick.Warnings(), quick.Comments(), slow.Warnings(), slow.Comments())
	}
	return quick.FastRows()
}

// usualLog is text as a benchmark writes it, with a few errors.
func usualLog(n int) []byte {
	records := testlog.Downloads(n)
	for i := range records {
		switch r := &records[i]; i % 17 {
		case 3:
			r.Err, r.Status, r.FirstByte = "SlowDown: please reduce", 503, 0
		case 5:
			r.Op, r.LastByte, r.FirstByte = "PUT", r.FirstByte, 0
		case 7:
			r.Due, r.Requests = r.Start-12345, 0
		case 11:
			r.Endpoint, r.Bytes = "http://127.0.0.1:9001", 1<<40+5
		case 8, 10:
			r.ClientTime = r.Duration / 3
		case 9:
			r.Phases = &oplog.Phases{0, 150_000, 0, 12_000, 345_678, 1_234_567_890}
		case 13:
			r.Duration, r.Start = 1_234_567_890_123, r.Start-1_234_567_890_123
		}
	}
	var text bytes.Buffer
	var f oplog.Text
	text.Write(f.AppendColumns(nil))
	for i := range records {
		text.Write(f.AppendRow(nil, &records[i]))
	}
	return text.Bytes()
}

// earlierLog is the same without the column of the client's time.
func earlierLog(n int) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(usualLog(n))) {
		b.WriteString(line[:strings.LastIndexByte(line, '\t')] + "\n")
	}
	return b.Bytes()
}

// foreignLog is the same with the documented columns only, and times with as
// many digits as they need.
func foreignLog(n int) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(usualLog(n))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")[:15]
		for i := range f {
			if strings.HasSuffix(f[i], "Z") {
				f[i] = strings.TrimRight(strings.TrimSuffix(f[i], "Z"), "0") + "Z"
			}
		}
		b.WriteString(strings.Join(f, "\t") + "\n")
	}
	return b.Bytes()
}

func TestFastRowTakesUsualRows(t *testing.T) {
	t.Parallel()
	for name, log := range map[string][]byte{"ours": usualLog(2000), "earlier": earlierLog(2000), "foreign": foreignLog(2000)} {
		if n := bothWays(t, log); n < 1980 {
			t.Errorf("%s: %d of 2000 rows were fast", name, n)
		}
	}
}

// A time of NULs is none, though no second was kept yet that it could be compared with.
func TestFastRowOfNULs(t *testing.T) {
	t.Parallel()
	const line = "0\t0\tGET\tA\t1\t1\te\tk\t\tTIME\t\t\tTIME\t0\t0\t\t200\t0\t\t1\t\n"
	first := strings.ReplaceAll(line, "TIME", "2026-05-01T12:00:00Z")
	damaged := strings.ReplaceAll(line, "TIME", strings.Repeat("\x00", 20)+"123456789Z")
	if _, rows, err := testlog.Decode([]byte(oplog.Columns+"\n"+first+damaged+first), 7); len(rows) != 1 || err == nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestFastRowOfDamagedLogs changes logs everywhere.
func TestFastRowOfDamagedLogs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 5))
	pieces := []string{"\t", "\n", "\r\n", "\"", "\"a\tb\"", "\x00", "#", "-", "0", "9", "00000000000000", "99999999999999999999", "Z",
		"+01:00", ".", ":", " ", "é", "\xff", "2026-05-01T12:00:00Z", "65536", "2147483648", "\t\t", "-warmup", ",", ",,,1,2,3"}
	for _, log := range [][]byte{usualLog(40), earlierLog(40), foreignLog(40), scriptLog(40)} {
		head := bytes.IndexByte(log, '\n') + 1
		for range 1000 {
			damaged := slices.Clone(log)
			for range 1 + rng.IntN(3) {
				at := head + rng.IntN(len(damaged)-head)
				cut := min(rng.IntN(4), len(damaged)-at)
				damaged = slices.Replace(damaged, at, at+cut, []byte(pieces[rng.IntN(len(pieces))])...)
			}
			bothWays(t, damaged)
		}
	}
}

func FuzzFastRow(f *testing.F) {
	f.Add(usualLog(3), uint8(0))
	f.Add(foreignLog(3), uint8(1))
	f.Add(scriptLog(3), uint8(2))
	f.Add(earlierLog(3), uint8(3))
	f.Add([]byte("0\t1\tGET\t\"a\tb\"\t1\t2\t\t\t\t2026-05-01T12:00:00Z\t\t\t\t5\t0\n"+
		"0\t1\tGET\ta\tb\t1\t2\t\t\t\t2026-05-01T12:00:00Z\t\t\t\t5\t0\n"), uint8(1))
	f.Fuzz(func(t *testing.T, rows []byte, layout uint8) {
		names := oplog.Columns
		switch layout % 4 {
		case 3:
			names = strings.TrimSuffix(oplog.Columns, oplog.ClientColumn)
		case 1:
			names, _, _ = strings.Cut(oplog.Columns, "\tsched")
		case 2:
			names += oplog.StatementColumn
		}
		room := strings.Repeat("\n", 2*field.Room) // so that the last row may be fast, too
		bothWays(t, []byte(names+"\n"+string(rows)+room))
	})
}

func TestEach(t *testing.T) {
	t.Parallel()
	log := testlog.Encode(t, testlog.Header(), testlog.Trailer(), testlog.Downloads(5000), 1000)
	_, want, err := testlog.Decode(log, 100)
	check.OK(t, err)
	open := func(log []byte) *oplog.Reader {
		r, err := oplog.NewReader(bytes.NewReader(log), "log")
		check.OK(t, err)
		return r
	}
	var got []oplog.Record
	keep := func(batch []oplog.Record) error {
		got = append(got, batch...)
		return nil
	}
	r := open(log)
	if err := r.Each(t.Context(), keep); err != nil || r.Trailer().End != "completed" {
		t.Errorf("%v, trailer %+v", err, r.Trailer())
	}
	testlog.Same(t, got, want)

	enough := errors.New("enough")
	if err := open(log).Each(t.Context(), func([]oplog.Record) error { return enough }); err != enough {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := open(log).Each(ctx, func([]oplog.Record) error { cancel(enough); return nil }); err != enough {
		t.Errorf("error %v", err)
	}
	text := append(usualLog(3000), "0\tno number\n"...)
	got = nil
	if err := open(text).Each(t.Context(), keep); err == nil || len(got) != 3000 {
		t.Errorf("%d records, then %v", len(got), err)
	}
}
