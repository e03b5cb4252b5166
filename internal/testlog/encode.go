package testlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// Header returns the header of a run.
func Header() oplog.Header {
	return oplog.Header{Warp: "1.2.3", Run: "run1", Benchmark: "mixed", Command: "warp mixed --duration 5s <x>",
		Engine: "lean", Seed: 1<<63 + 1, Start: time.Date(2026, 5, 1, 12, 0, 0, 7, time.UTC),
		Parameters: map[string]string{"concurrent": "8", "duration": "5s"}}
}

// Trailer returns the trailer of a run that completed.
func Trailer() oplog.Trailer {
	return oplog.Trailer{End: "completed", Notes: []string{"a note\twith a tab"}, Offered: 12.5,
		Load: &hostload.Load{CPUSeconds: 1, WallSeconds: 2, Cores: 3, MaxRSSBytes: 4}}
}

// Everything returns records of sequential threads with everything in them
// that a log may hold.
func Everything(rng *rand.Rand, n int, run, client string) []oplog.Record {
	texts := []string{"", "", "", "plain", "tab\there", "new\nline", "win\r\nline", `quo"te`, `"quoted"`, `"`, "\r", "# not a comment",
		"ünïcode", " space ", "NoSuchKey: it\tis \"gone\"\n# really"}
	ops := []string{"GET", "PUT", "DELETE", "STAT"}
	clock := make([]int64, 5)
	for i := range clock {
		clock[i] = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano() + rng.Int64N(1e6)
	}
	records := make([]oplog.Record, n)
	for i := range records {
		t := rng.IntN(len(clock))
		d := 1 + rng.Int64N(3e8)
		r := oplog.Record{Op: ops[rng.IntN(len(ops))], Run: run, Client: client, Endpoint: "http://127.0.0.1:9000",
			Key: texts[rng.IntN(len(texts))], Err: texts[rng.IntN(len(texts))], Thread: uint32(t),
			Objects: rng.IntN(3), Bytes: rng.Int64N(1 << 40), Start: clock[t], Duration: time.Duration(d),
			Status: uint16(rng.IntN(600)), Retries: uint16(rng.IntN(3)), Requests: uint16(rng.IntN(4)), Category: rng.Uint64()}
		if rng.IntN(2) == 0 {
			r.FirstByte = time.Duration(1 + rng.Int64N(d))
		}
		if rng.IntN(2) == 0 {
			r.LastByte = time.Duration(1 + rng.Int64N(d))
		}
		if rng.IntN(2) == 0 {
			r.Due = r.Start - rng.Int64N(2e9)
		}
		if rng.IntN(2) == 0 {
			r.ClientTime = time.Duration(1 + rng.Int64N(d))
		}
		if rng.IntN(4) == 0 {
			r.Phases = &oplog.Phases{0, time.Duration(rng.Int64N(3)), 0, time.Duration(rng.Int64N(1e6)), time.Duration(1 + rng.Int64N(d)), time.Duration(rng.Int64N(1e12))}
		}
		clock[t] += d + rng.Int64N(1e6)
		records[i] = r
	}
	return records
}

// Encode returns a log whose frames end after every frame records.
func Encode(t testing.TB, h oplog.Header, tr oplog.Trailer, records []oplog.Record, frame int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := oplog.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for len(records) > 0 {
		n := min(frame, len(records))
		if err := errors.Join(w.Write(records[:n]), w.Flush()); err != nil {
			t.Fatal(err)
		}
		records = records[n:]
	}
	if err := w.Close(tr); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Decode reads a log in small batches and returns its reader, too, which knows the trailer.
func Decode(log []byte, batch int) (*oplog.Reader, []oplog.Record, error) {
	r, err := oplog.NewReader(bytes.NewReader(log), "test.csv")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = r.Close() }()
	return Drain(r, batch)
}

// ReadFile reads the log at path and returns its reader, too, which knows what else the log says.
func ReadFile(t testing.TB, path string) (*oplog.Reader, []oplog.Record) {
	t.Helper()
	r, err := oplog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	_, all, err := Drain(r, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return r, all
}

// Drain reads what is left of a log in small batches.
func Drain(r *oplog.Reader, batch int) (*oplog.Reader, []oplog.Record, error) {
	var all []oplog.Record
	dst := make([]oplog.Record, batch)
	for {
		n, err := r.Read(dst)
		all = append(all, dst[:n]...)
		if errors.Is(err, io.EOF) {
			return r, all, nil
		}
		if err != nil {
			return r, all, err
		}
	}
}

// Unzstd decompresses a log.
func Unzstd(t testing.TB, log []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Same fails the test at the first record that differs.
func Same(t testing.TB, got, want []oplog.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if (g.Phases == nil) != (w.Phases == nil) || g.Phases != nil && *g.Phases != *w.Phases {
			t.Fatalf("record %d: phases %v, want %v", i, g.Phases, w.Phases)
		}
		if g.Phases, w.Phases = nil, nil; g != w {
			t.Fatalf("record %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

// Downloads are rows as a GET run of small objects makes them, in the order
// of completion.
func Downloads(n int) []oplog.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]string, 2500)
	for i := range keys {
		keys[i] = fmt.Sprintf("%08x/%d.%016x.rnd", rng.Uint32(), i%64, rng.Uint64())
	}
	records := make([]oplog.Record, n)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	for i := range records {
		now += rng.Int64N(24_000)
		d := 60_000 + rng.Int64N(200_000)
		records[i] = oplog.Record{Op: "GET", Client: "k3Xq", Endpoint: "http://127.0.0.1:9000",
			Key: keys[rng.IntN(len(keys))], Thread: uint32(rng.IntN(32)), Objects: 1, Bytes: 1024,
			Start: now - d, FirstByte: time.Duration(d - 3000 - rng.Int64N(2000)), Duration: time.Duration(d),
			Status: 200, Requests: 1}
	}
	return records
}

// ScriptRecords are records of a script. A few of them belong to no statement.
func ScriptRecords(seed uint64, n int, run, client string) []oplog.Record {
	records := Everything(rand.New(rand.NewPCG(seed, 11)), n, run, client)
	for i := range records {
		number := uint16(i * 4 / n)
		records[i].Statement = oplog.Statement{Number: number, WarmUp: number > 0 && i%5 == 0}
	}
	return records
}

// ScriptHeader returns the header of a script of three statements.
func ScriptHeader(run, client string) oplog.Header {
	h := Header()
	h.Run, h.Client, h.Statements = run, client, []string{"PUT 1 OBJECTS", "GET 1 OBJECTS", "DELETE"}
	return h
}
