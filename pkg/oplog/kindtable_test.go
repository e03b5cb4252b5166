package oplog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oddRecords are records of one client with everything that a merge may meet: equal starts, numbers
// that need more room than usual, statements, schedules.
func oddRecords(rng *rand.Rand, n int, run, client string) []Record {
	records := testRecords(rng, n, run, client)
	for i := range records {
		r := &records[i]
		if rng.IntN(3) > 0 { // like a usual row
			r.Category, r.Phases, r.Retries, r.Bytes, r.Key = 0, nil, 0, r.Bytes%4096, "p/"+r.Key
			r.Duration = min(r.Duration, math.MaxUint32)
			r.FirstByte, r.LastByte = min(r.FirstByte, r.Duration), min(r.LastByte, r.Duration)
		}
		switch rng.IntN(12) {
		case 0:
			r.Bytes, r.Objects = 1<<32+rng.Int64N(5)-2, 1<<16+rng.IntN(3)-1
		case 1:
			r.Duration, r.FirstByte, r.LastByte = 1<<33, 1<<32-1, 1<<32+1
		case 2:
			r.Op = fmt.Sprint("OP", rng.IntN(300))
		case 3:
			r.Err = strings.Repeat("e", rng.IntN(3000))
		case 4:
			r.Duration, r.FirstByte, r.LastByte = 0, 0, 0
		case 5, 6, 7:
			r.Statement = Statement{uint16(1 + rng.IntN(400)), rng.IntN(2) == 0}
		}
		r.Start -= r.Start % (1 << rng.IntN(30)) // many start together
	}
	return records
}

// A body says all of a record, and rows are in the order of what appendBody says, whatever numbers kinds have.
func TestKindTable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 2))
	records := oddRecords(rng, 3000, "", "c")
	for name, table := range map[string]*kindTable{"empty": {}, "with others": {}, "full": {size: maxKindsSize - 60_000}} {
		if name == "with others" {
			for i := len(records) - 1; i >= 0; i-- {
				table.appendRow(nil, &records[i])
			}
		}
		var rows []sortRow
		var d rowDecoder
		fixed := 0
		for i := range records {
			row := sortRow{start: records[i].Start, body: table.appendRow(nil, &records[i]), kinds: table}
			rows = append(rows, row)
			fixed += int(row.body[0] & fixedBody)
			var got Record
			if _, err := d.decode(&row, &got); err != nil {
				t.Fatal(err)
			}
			want := records[i]
			want.Run = ""
			sameRecords(t, []Record{got}, []Record{want})
			if !bytes.Equal(table.appendFull(nil, &row), appendBody(nil, &records[i])) || row.thread() != records[i].Thread {
				t.Fatalf("%s: %+v", name, got)
			}
		}
		if least := 200; fixed < least {
			t.Errorf("%s: %d rows of %d have the number of a kind", name, fixed, len(rows))
		}
		for range 20_000 {
			a, b := rng.IntN(len(rows)), rng.IntN(len(rows))
			if rng.IntN(2) == 0 {
				rows[b].start, records[b].Start = rows[a].start, records[a].Start
			}
			want := cmp.Or(cmp.Compare(records[a].Start, records[b].Start),
				bytes.Compare(appendBody(nil, &records[a]), appendBody(nil, &records[b])))
			if got := rows[a].compare(&rows[b]); got != want {
				t.Fatalf("%s: %d instead of %d", name, got, want)
			}
		}
	}
}

// A log with names that are all different fills the table and no more.
func TestKindTableIsBounded(t *testing.T) {
	t.Parallel()
	var table kindTable
	for i := range 3 * maxKinds {
		table.appendRow(nil, &Record{Op: "GET", Err: fmt.Sprint("error ", i, strings.Repeat("x", i%1000))})
	}
	if len(table.kinds) > maxKinds || len(table.numbers) > maxKinds || table.size > maxKindsSize {
		t.Errorf("%d kinds of %d bytes", len(table.kinds), table.size)
	}
	if row := table.appendRow(nil, &Record{Op: "GET"}); row[0] == 0 {
		t.Error("a kind in the table is not found once the table is full")
	}
}

// simpleMerge is what a merge should write: all rows of all logs, sorted in memory.
func simpleMerge(t *testing.T, m merged, logs [][]byte) []byte {
	t.Helper()
	var all []Record
	for _, log := range logs {
		r, rows, err := readAll(log, 100)
		if err != nil {
			t.Fatal(err)
		}
		shift, err := r.header.shift("log")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := shift.apply(&rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, rows...)
	}
	all = sorted(all)
	text := Text{rowFormatter{kinds: kindTexts{statements: m.head.hasStatements()}}}
	b := text.AppendColumns(nil)
	for i := range all {
		r := &all[i]
		for _, o := range m.head.Merged {
			if o.Run == r.Run && o.Client == r.Client {
				r.Thread += o.Offset
			}
		}
		b = text.AppendRow(b, r)
	}
	return b
}

// TestMergeAsSimple compares merges with all rows sorted in memory, to the byte.
func TestMergeAsSimple(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var logs [][]byte
		for i := range 1 + rng.IntN(4) {
			h := testHeader
			h.Client = string(rune('A' + i))
			h.ClockOffset = int64(i) * (rng.Int64N(2e9) - 1e9)
			h.statementRows = true
			log := writeLog(t, h, testTrailer, oddRecords(rng, 300, h.Run, h.Client), 1+rng.IntN(200))
			if rng.IntN(3) == 0 {
				log = log[:len(log)-rng.IntN(len(log)/2)]
			}
			logs = append(logs, log)
		}
		if rng.IntN(2) == 0 {
			h := testHeader
			h.Client = "Z"
			text := foreignLog(200)
			logs = append(logs, slices.Insert(text, bytes.IndexByte(text, '\n')+1, []byte("# "+asJSON(h)+"\n")...))
		}
		m := mergeLogs(t, logs...)
		m.head.statementRows = true // of nearly all logs, since the first rows have some
		got := rowLines(unzstd(t, m.log))
		if want := rowLines(simpleMerge(t, m, logs)); !bytes.Equal(got, want) {
			at := 0
			for got[at] == want[at] {
				at++
			}
			t.Fatalf("seed %d: from byte %d on\n%.300q\ninstead of\n%.300q", seed, at, got[max(at-100, 0):], want[max(at-100, 0):])
		}
		slices.Reverse(logs)
		if other := mergeLogs(t, logs...); !bytes.Equal(other.log, m.log) {
			t.Errorf("seed %d: the order of the inputs changes the result", seed)
		}
	}
}

// rowLines leaves out what begins a log and what ends it.
func rowLines(text []byte) []byte {
	at := bytes.Index(text, []byte("\n0\t"))
	for {
		last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		if text[last] != '#' {
			return text[at+1:]
		}
		text = text[:last]
	}
}

// The logs of other implementations, by themselves and together.
func TestMergeAsSimpleOfShared(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "*.csv.zst"))
	if err != nil || len(names) == 0 {
		t.Skip("skipped: there are no logs of other implementations here")
	}
	for _, name := range names {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rows, err := readAll(log, 100)
		if err != nil || len(rows) > 300_000 {
			t.Logf("%s: %d rows, %v", filepath.Base(name), len(rows), err)
			continue
		}
		m := mergeLogs(t, log)
		if got, want := rowLines(unzstd(t, m.log)), rowLines(simpleMerge(t, m, [][]byte{log})); m.stats.Repeated == 0 && !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes instead of %d, %+v", filepath.Base(name), len(got), len(want), m.stats)
		}
	}
}

// A temporary file that is not as it was written ends in an error, or in other rows, and not in a panic.
func TestDamagedSpill(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	failed := 0
	for range 300 {
		s := newSorter(t.TempDir())
		for _, r := range oddRecords(rng, 40, "", "c") {
			if err := s.add(&r, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
		info, err := s.files[0].Stat()
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 {
			err = s.files[0].Truncate(rng.Int64N(info.Size()))
		} else {
			_, err = s.files[0].WriteAt([]byte{byte(rng.Uint32()), byte(rng.Uint32())}, rng.Int64N(info.Size()))
		}
		if err != nil {
			t.Fatal(err)
		}
		var d rowDecoder
		var r Record
		if err := s.each(t.Context(), func(row *sortRow, _ bool) error {
			_ = row.thread()
			_, err := d.decode(row, &r)
			return err
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
