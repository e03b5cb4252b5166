package merge

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// oddRecords returns records of one client with everything that a merge may meet: equal starts,
// large numbers, statements, schedules.
func oddRecords(rng *rand.Rand, n int, run, client string) []oplog.Record {
	records := testlog.Everything(rng, n, run, client)
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
			r.Statement = oplog.Statement{Number: uint16(1 + rng.IntN(400)), WarmUp: rng.IntN(2) == 0}
		}
		r.Start -= r.Start % (1 << rng.IntN(30)) // many start together
	}
	return records
}

// foreignLog writes a log with only the documented columns, and times with as many digits as they
// need.
func foreignLog(t *testing.T, client string, records []oplog.Record) []byte {
	t.Helper()
	h := testlog.Header()
	h.Client = client
	var b bytes.Buffer
	for line := range strings.Lines(string(testlog.Unzstd(t, testlog.Encode(t, h, testlog.Trailer(), records, 90)))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) > 15 {
			f = f[:15]
			for i := range f {
				if strings.HasSuffix(f[i], "Z") {
					f[i] = strings.TrimRight(strings.TrimSuffix(f[i], "Z"), "0.") + "Z"
				}
			}
		}
		b.WriteString(strings.Join(f, "\t") + "\n")
	}
	return b.Bytes()
}

// simpleMerge returns what a merge should write: all rows of all logs, sorted in memory.
func simpleMerge(t *testing.T, m merged, logs [][]byte) []byte {
	t.Helper()
	var all []oplog.Record
	for _, log := range logs {
		r, rows, err := testlog.Decode(log, 100)
		check.OK(t, err)
		shift, err := clockShiftOf(r.Header(), "log")
		check.OK(t, err)
		for i := range rows {
			check.OK(t, shift.apply(&rows[i]))
		}
		all = append(all, rows...)
	}
	all = sorted(all)
	var text oplog.Text
	if m.head.Scripted {
		text = oplog.ScriptText()
	}
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

// TestMergeAsSimple compares merges with all rows sorted in memory, byte by byte.
func TestMergeAsSimple(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var logs [][]byte
		for i := range 1 + rng.IntN(4) {
			h := testlog.Header()
			h.Client = string(rune('A' + i))
			h.ClockOffset = int64(i) * (rng.Int64N(2e9) - 1e9)
			h.Scripted = true
			log := testlog.Encode(t, h, testlog.Trailer(), oddRecords(rng, 300, h.Run, h.Client), 1+rng.IntN(200))
			if rng.IntN(3) == 0 {
				log = log[:len(log)-rng.IntN(len(log)/2)]
			}
			logs = append(logs, log)
		}
		if rng.IntN(2) == 0 {
			logs = append(logs, foreignLog(t, "Z", testlog.Downloads(200)))
		}
		m := mergeLogs(t, logs...)
		got := rowLines(testlog.Unzstd(t, m.log))
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

// rowLines removes the start and the end of a log.
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

// Merges logs of other implementations, separately and together.
func TestMergeAsSimpleOfShared(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "data", "*.csv.zst"))
	if err != nil || len(names) == 0 {
		t.Skip("skipped: there are no logs of other implementations here")
	}
	for _, name := range names {
		log, err := os.ReadFile(name)
		check.OK(t, err)
		_, rows, err := testlog.Decode(log, 100)
		if err != nil || len(rows) > 300_000 {
			t.Logf("%s: %d rows, %v", filepath.Base(name), len(rows), err)
			continue
		}
		m := mergeLogs(t, log)
		if got, want := rowLines(testlog.Unzstd(t, m.log)), rowLines(simpleMerge(t, m, [][]byte{log})); m.stats.Repeated == 0 && !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes instead of %d, %+v", filepath.Base(name), len(got), len(want), m.stats)
		}
	}
}
