package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// textRecords are records of which the lines change in every way that makes rows another kind, and alike in between.
func textRecords(rng *rand.Rand, n int) []Record {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	records := make([]Record, n)
	for i := range records {
		r := Record{Op: "GET", Client: "A", Endpoint: "http://127.0.0.1:9000", Key: pick("", "p/1", "p/2"), Thread: uint32(rng.IntN(4)), Objects: 1, Bytes: 1024,
			Start: 1e18 + 1e9 - 250 + int64(i), Duration: time.Duration(1 + rng.IntN(1000)), Status: 200, Requests: 1}
		for range 1 + rng.IntN(2) {
			switch rng.IntN(24) {
			case 0:
				r.Op = pick("GOT", "PUT", strings.Repeat("G", 100))
			case 1:
				r.Client = pick("B", strings.Repeat("c", 100))
			case 2:
				r.Endpoint = pick("", "http://127.0.0.1:9001", strings.Repeat("h", 100), "new\rline", "a\ttab", "\v")
			case 3:
				r.Err = pick("SlowDown", strings.Repeat("e", 100), "new\rline", "a\ttab", "\v")
			case 4:
				r.Objects = 100
			case 5:
				r.Status, r.Retries = 503, 2
			case 6:
				r.Category = 7
			case 7:
				r.Requests = 2
			case 8:
				r.Statement = Statement{uint16(1 + rng.IntN(2)), rng.IntN(2) == 0}
			case 9:
				r.Due = r.Start - rng.Int64N(1e6)
			case 10:
				r.Bytes = rng.Int64N(1 << 40)
			case 11:
				r.Phases = &Phases{1}
			case 12, 13:
				r.FirstByte = 1 + time.Duration(rng.Int64N(int64(r.Duration)))
			case 14:
				r.LastByte = 1 + time.Duration(rng.Int64N(int64(r.Duration)))
			case 15:
				r.Client, r.Phases = "B", &Phases{1}
			}
		}
		records[i] = r
		if i > 0 && rng.IntN(3) == 0 { // but for when it was
			records[i] = records[i-1]
			records[i].Start++
		}
	}
	return records
}

// What a text says is what its row says, also on its way through a merge, and rows with one id are of one kind.
func TestRowText(t *testing.T) {
	t.Parallel()
	zeros := regexp.MustCompile(`\.?0+Z\t`)
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 6))
		records := textRecords(rng, 500)
		text := ScriptText()
		log := text.AppendColumns(nil)
		if seed%2 == 0 {
			log = append(log, "# "+asJSON(Header{Warp: "1", Run: "r"})+"\n"...)
			for i := range records {
				log = text.AppendRow(log, &records[i])
			}
		} else { // of two merged runs, and with line breaks as other implementations write them
			log = append(log, "# "+asJSON(Header{Warp: "1", Run: "m", Merged: []Origin{{Run: "r", Client: "A", Threads: 2}, {Run: "s", Client: "A", Offset: 2, Threads: 2},
				{Run: "s", Client: "B", Threads: 9}, {Run: "s", Client: strings.Repeat("c", 100), Threads: 9}}})+"\n"...)
			for i := range records {
				log = append(log, bytes.ReplaceAll(text.AppendRow(nil, &records[i]), []byte("\"new\rline\""), []byte("new\rline"))...)
			}
		}
		switch seed % 5 { // times as others write them
		case 0:
			log = zeros.ReplaceAll(log, []byte("Z\t"))
		case 1:
			log = bytes.ReplaceAll(log, []byte("5Z\t"), []byte("5+00:00\t"))
		}
		if n := textsOf(t, log); n < 300 {
			t.Errorf("seed %d: %d rows of %d are taken as text", seed, n, len(records))
		}
	}
}

// textsOf reads a log with texts and without, and returns how many there are.
func textsOf(t *testing.T, log []byte) (texts int) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	slow, err := NewReader(bytes.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	slow.layout = otherLayout
	_, want, err := drain(slow, 100)
	if err != nil {
		t.Fatal(err)
	}
	kinds := &kindTable{}
	byID := map[uint32]kind{}
	for i := range want {
		row := sortRow{start: want[i].Start, kinds: kinds}
		var x, y rowText
		id, run, ok := r.usualText(&x)
		if !ok {
			var rec [1]Record
			if _, err := r.Read(rec[:]); err != nil {
				t.Fatal(err)
			}
			sameRecords(t, rec[:], want[i:i+1])
			continue
		}
		k := r.line.kind()
		if before, ok := byID[id]; ok && before != k {
			t.Fatalf("row %d has the id of %+v and is %+v", i, before, k)
		}
		byID[id] = k
		if !k.isPlain() {
			r.takeText()
			continue
		}
		number, _ := kinds.number(k)
		row.body = x.appendBody(nil, number)
		if !kinds.text(&row, &y) || row.thread() != want[i].Thread || run != want[i].Run {
			t.Fatalf("row %d of thread %d of run %q became %+v", i, row.thread(), run, y)
		}
		got, key := y.record()
		got.Key, got.Run = string(key), run
		sameRecords(t, []Record{got}, want[i:i+1])
		var a, b rowFormatter
		kt := a.kinds.find(&want[i])
		if line, of := string(a.appendText(nil, &y, kt, 70)), string(b.append(nil, &want[i], kt, 70)); line != of {
			t.Fatalf("row %d: %q instead of %q", i, line, of)
		}
		if kinds.has(row.body) {
			t.Fatal("a text is taken from a file, in which there is none")
		}
		r.takeText()
		texts++
	}
	if _, err := r.Read(make([]Record, 1)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	return texts
}

// Lines that a Writer writes otherwise are not taken as text.
func TestUsualText(t *testing.T) {
	t.Parallel()
	// The row before says which second it is.
	const before = "0\t0\tGET\tA\t1\t1\te\tk\t\t2026-05-01T12:00:00.000000000Z\t\t\t2026-05-01T12:00:00.100000000Z\t100000000\t0\t\t200\t0\t\t1\n"
	usual := strings.Fields("1 7 GET A 1 1024 http://127.0.0.1:9000 key SlowDown 2026-05-01T12:00:00.100000000Z 2026-05-01T12:00:00.150000000Z " +
		"2026-05-01T12:00:00.300000000Z 2026-05-01T12:00:00.300000000Z 200000000 0 2026-05-01T12:00:00.050000000Z 200 0 - 1")
	column := map[string]int{}
	for i, name := range strings.Split(columns, "\t") {
		column[name] = i
	}
	usual[column["phases_ns"]] = ""
	for _, c := range []struct {
		name, field string
		usual       bool
	}{
		{"idx", "1", true},
		{"idx", "0001", true}, // numbered anew, as is the thread
		{"thread", "007", true},
		{"thread", "65536", false},
		{"op", "\"GET\"", false},
		{"n_objects", "01", true},
		{"bytes", "0", true},
		{"bytes", "01", false},
		{"bytes", "00", false},
		{"endpoint", "", true},
		{"endpoint", "a\rb", false},
		{"endpoint", "a\"b", false},
		{"file", "", true},
		{"file", "a\vb", false},
		{"file", strings.Repeat("k", 60_000), true},
		{"file", strings.Repeat("k", 70_000), false},
		{"error", "", true},
		{"error", "\"\"", false},
		{"start", "2026-05-01T12:00:00.1Z", true},
		{"start", "2026-05-01T12:00:00.100000000+00:00", true},
		{"start", "2026-05-01T12:00:00.100000001Z", false}, // then the duration is another
		{"first_byte", "", true},
		{"first_byte", "2026-05-01T12:00:00.100000000Z", false},
		{"first_byte", "2026-05-01T12:00:00.300000000Z", true},
		{"first_byte", "2026-05-01T12:00:00.300000001Z", false},
		{"first_byte", "2026-05-01T12:00:00.15Z", true},
		{"first_byte", "2026-05-01T12:00:00.Z", false},
		{"first_byte", "2026-05-01T12:00:00.1500000000Z", false},
		{"last_byte", "", true},
		{"last_byte", "2026-05-01T12:00:00.000000000Z", false},
		{"last_byte", "2026-05-01T12:00:00.100000000Z", false},
		{"last_byte", "2026-05-01T12:00:00.300000001Z", false},
		{"end", "", false},
		{"end", "2026-05-01T12:00:00.300000001Z", false},
		{"duration_ns", "0200000000", false},
		{"duration_ns", "200000001", false},
		{"cat", "", true},
		{"cat", "00", true},
		{"sched", "", true},
		{"status", "", true},
		{"phases_ns", ",,,1,2,3", false},
		{"requests", "1\r", false},
	} {
		fields := slices.Clone(usual)
		fields[column[c.name]] = c.field
		log := columns + "\n" + before + strings.Join(fields, "\t") + "\n" + strings.Repeat(before, 3)
		r, err := NewReader(strings.NewReader(log), "log")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(make([]Record, 1)); err != nil {
			t.Fatal(err)
		}
		r.lines.fill() // a line is longer than what is read at once
		var x rowText
		if _, _, ok := r.usualText(&x); ok != c.usual {
			t.Errorf("%s %.40q is taken as text: %v", c.name, c.field, ok)
		}
	}
}

// Names that have to be quoted are, though lines with them are like those before: other implementations do not quote them.
func TestMergeOfNamesWithoutQuotes(t *testing.T) {
	t.Parallel()
	log := stripComments(writeText(inTurns(200, 3, "A"), func(r *Record) { r.Endpoint, r.Err = "e-line", "e-line" }))
	m := mergeLogs(t, bytes.ReplaceAll(log, []byte("e-line"), []byte("e\rline")))
	for _, r := range m.rows {
		if r.Endpoint != "e\rline" || r.Err != "e\rline" {
			t.Fatalf("%+v", r)
		}
	}
	if n := bytes.Count(unzstd(t, m.log), []byte("\t\"e\rline\"\t")); n != 2*len(m.rows) {
		t.Errorf("%d names of %d rows are in quotes", n, len(m.rows))
	}
}

// writeText is the text of records that are changed first.
func writeText(records []Record, change func(*Record)) []byte {
	var text Text
	b := text.AppendColumns(nil)
	for i := range records {
		change(&records[i])
		b = text.AppendRow(b, &records[i])
	}
	return b
}

// What rows have in common is remembered for some, which may take turns in any way, also in merged logs.
func TestMergeOfManyKinds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 8))
		var logs [][]byte
		for run := range 3 {
			h := Header{Warp: "1", Run: fmt.Sprint("r", run), Benchmark: "get", statementRows: true}
			log := writeLog(t, h, testTrailer, textRecords(rng, 700), 100)
			if rng.IntN(2) == 0 {
				log = bytes.ReplaceAll(unzstd(t, log), []byte("\"new\rline\""), []byte("new\rline"))
			}
			logs = append(logs, log)
		}
		m := mergeLogs(t, logs...)
		m.head.statementRows = true
		if got, want := rowLines(unzstd(t, m.log)), rowLines(simpleMerge(t, m, logs)); !bytes.Equal(got, want) {
			t.Errorf("seed %d: %d bytes instead of %d", seed, len(got), len(want))
		}
		if again := mergeLogs(t, mergeLogs(t, logs[:2]...).log, logs[2]); !bytes.Equal(again.log, m.log) {
			t.Errorf("seed %d: merging in steps is different", seed)
		}
	}
}

// A hint is of the row whose id it has, though one of another client was in its place.
func TestMergeOfTextHints(t *testing.T) {
	t.Parallel()
	var records []Record
	for i := range 100 {
		for k := range textHints + 1 {
			r := inTurns(1, 1, []string{"A", "B"}[i%2])[0]
			r.Start += int64(1000 * len(records))
			if k > 0 { // the first one of a round is taken as text, the second one has no id
				r.Err, r.Status = "e-line", uint16(500+k)
			}
			records = append(records, r)
		}
	}
	log := stripComments(writeText(records, func(*Record) {}))
	m := mergeLogs(t, bytes.ReplaceAll(log, []byte("e-line"), []byte("e\rline")))
	for i, r := range m.rows {
		if r.Client != records[i].Client {
			t.Fatalf("row %d is of client %q", i, r.Client)
		}
	}
}

// Progress says how many rows are read, all of them at last.
func TestMergeProgress(t *testing.T) {
	t.Parallel()
	const rows = 5000
	names := writeLogs(t, writeLog(t, Header{Warp: "1", Run: "r", Client: "A"}, testTrailer, inTurns(rows, 3, "A"), 1000))
	reports, last := 0, int64(0)
	o := MergeOptions{Progress: func(n int64) {
		if reports++; n < last || n > last+reportRows {
			t.Errorf("%d rows after %d", n, last)
		}
		last = n
	}}
	if _, err := Merge(t.Context(), filepath.Join(t.TempDir(), "out"), names, o); err != nil || last != rows || reports < rows/reportRows {
		t.Errorf("%d of %d rows in %d reports, %v", last, rows, reports, err)
	}
}

// Ids are of few texts at a time: what a line of long names leaves behind is not kept for each.
func TestLongNamesAreNotKept(t *testing.T) {
	t.Parallel()
	long := inTurns(200, 3, "A")
	log := writeText(long, func(r *Record) {
		r.Op, r.Endpoint = fmt.Sprintf("%c", 'A'+r.Start/1e6%16), strings.Repeat("e", 20_000)
		r.Err = strings.Repeat("e", 50_000)
	})
	r, err := NewReader(bytes.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		var x rowText
		if _, _, ok := r.usualText(&x); ok {
			t.Fatal("a line that fits no body is taken as text")
		}
		_, err = r.Read(make([]Record, 1))
	}
	kept := map[string]bool{}
	for i := range r.seen {
		s := &r.seen[i]
		kept[s.endpoint], kept[s.idEndpoint], kept[s.idErr] = true, true, true
	}
	for name := range maps.Keys(kept) {
		if len(name) > maxSeen {
			t.Errorf("a name of %d bytes is kept", len(name))
		}
	}
}
