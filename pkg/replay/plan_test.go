package replay

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

const second = int64(time.Second)

// row returns a successful request that was due and sent that many ms after the start of the measured part, at 100 s.
func row(op, key string, ms, bytes int64) oplog.Record {
	at := 100*second + ms*1e6
	return oplog.Record{Op: op, Key: key, Start: at, Duration: 1000, Bytes: bytes, Objects: 1, Run: "R", Client: "c", Endpoint: "http://h"}
}

// writeLog writes a log whose measured part begins at 100 s.
func writeLog(t *testing.T, h oplog.Header, rows ...oplog.Record) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log.csv.zst")
	f, err := oplog.Create(path, h)
	check.OK(t, err)
	started := false
	for _, r := range rows {
		if !started && r.Start >= 100*second {
			started = true
			check.OK(t, f.SetWindow(oplog.Window{Start: 100 * second}))
		}
		check.OK(t, f.Write([]oplog.Record{r}))
	}
	if _, err := f.Commit(oplog.Trailer{End: "completed"}); err != nil {
		t.Fatal(err)
	}
	return path
}

func header() oplog.Header {
	return oplog.Header{Warp: "1", Run: "R", Client: "c", Benchmark: "mixed", Start: time.Unix(99, 0), Windowed: true,
		Parameters: map[string]string{"part.concurrent": "7"}}
}

func readPlan(t *testing.T, path string, speed float64) *Plan {
	t.Helper()
	folder := t.TempDir()
	p, err := Read(t.Context(), path, Options{Speed: speed, Folder: folder})
	check.OK(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return p
}

// requests returns all requests, with when they are due in ms.
func requests(t *testing.T, p *Plan) (all []Request, due []int64) {
	t.Helper()
	for n := range p.Count() {
		r, err := p.Request(n)
		check.OK(t, err)
		at, err := p.Due(n)
		check.OK(t, err)
		all, due = append(all, r), append(due, at.Milliseconds())
	}
	return all, due
}

// Requests are planned in the order in which they were due, with their objects and the ones that they must not overtake.
func TestPlan(t *testing.T) {
	t.Parallel()
	late := row("GET", "b", 40, 20)
	late.Due = late.Start - 35e6 // due at 5 ms
	path := writeLog(t, header(),
		row("PUT", "a", -500, 1000), row("PUT", "unused", -400, 1),
		row("GET", "a", 30, 300), row("PUT", "c", 10, 50), row("STAT", "a", 20, 0), late,
		row("DELETE", "a", 35, 0), row("PUT", "a", 45, 70), row("GET", "a", 50, 70), row("GET", "b", 60, 90))
	p := readPlan(t, path, 2)
	all, due := requests(t, p)
	// Objects in the order in which they appear: a, unused, b, c.
	want := []Request{
		{Kind: Get, Object: 2, Size: 20}, {Kind: Put, Object: 3, Size: 50}, {Kind: Stat, Object: 0},
		{Kind: Get, Object: 0, Size: 300}, {Kind: Delete, Object: 0, After: 2}, {Kind: Put, Object: 0, After: 3, Size: 70},
		{Kind: Get, Object: 0, After: 2, Size: 70}, {Kind: Get, Object: 2, Size: 90},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("planned:\n%+v\nwant:\n%+v", all, want)
	}
	if want := []int64{0, 2, 7, 12, 15, 20, 22, 27}; !reflect.DeepEqual(due, want) {
		t.Errorf("due after %d ms, want %d", due, want)
	}
	if want := []Object{{true, 1000}, {}, {true, 90}, {}}; !reflect.DeepEqual(p.Objects, want) {
		t.Errorf("objects %+v, want %+v", p.Objects, want)
	}
	if p.Prepared != 2 || p.Bytes != 1090 || p.Written != 120 || p.Length != 27500*time.Microsecond || p.Threads != 1 {
		t.Errorf("%+v", p)
	}
	if want := (oplog.Replay{Log: "log.csv.zst", Run: "R", Speed: 2, Requests: 8}); !reflect.DeepEqual(p.Replay, want) {
		t.Errorf("%+v, want %+v", p.Replay, want)
	}
}

// What cannot be sent again is counted, with the reason. Objects whose size the log does not show get the median.
func TestNotSent(t *testing.T) {
	t.Parallel()
	failed, batch, nameless := row("GET", "a", 3, 10), row("DELETE", "a", 4, 0), row("STAT", "", 5, 0)
	failed.Err, batch.Objects = "SlowDown: later", 100
	refused := failed
	refused.Op = "PUT"
	path := writeLog(t, header(), row("LIST", "prefix/", 1, 0), row("LIST", "prefix/", 2, 0), failed, refused, batch, nameless,
		row("COPY", "a", 6, 0), row("STAT", "s", 7, 0), row("GET", "x", 8, 100), row("GET", "y", 9, 300), row("GET", "z", 9, 9000))
	p := readPlan(t, path, 1)
	want := oplog.Replay{Log: "log.csv.zst", Run: "R", Speed: 1, Requests: 11, AssumedSizes: 1, AssumedBytes: 300, NotSent: []oplog.NotSent{
		{Op: "LIST", Why: "warp does not send this operation again", Count: 2},
		{Op: "COPY", Why: "warp does not send this operation again", Count: 1},
		{Op: "DELETE", Why: "the log names only one of its objects", Count: 1},
		{Op: "GET", Why: "it failed", Count: 1},
		{Op: "PUT", Why: "it failed", Count: 1},
		{Op: "STAT", Why: "the log does not name its object", Count: 1},
	}}
	if !reflect.DeepEqual(p.Replay, want) {
		t.Errorf("%+v, want %+v", p.Replay, want)
	}
	if p.Count() != 4 {
		t.Errorf("%d requests are sent, want 4", p.Count())
	}
}

// Requests that were due and that the run never sent belong to its load.
func TestPlanOfUnsent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.csv.zst")
	f, err := oplog.Create(path, header())
	check.OK(t, err)
	check.OK(t, f.SetWindow(oplog.Window{Start: 100 * second}))
	check.OK(t, f.Write([]oplog.Record{row("GET", "a", 1, 10)}))
	if _, err := f.Commit(oplog.Trailer{End: "completed", Unsent: 7}); err != nil {
		t.Fatal(err)
	}
	p := readPlan(t, path, 1)
	if r := p.Replay; p.Count() != 1 || r.Requests != 8 || len(r.NotSent) != 1 || r.NotSent[0].Count != 7 {
		t.Errorf("%+v", r)
	}
}

// Objects in parts have the parts that the log has. Parts of one that failed are not sent.
func TestPlanInParts(t *testing.T) {
	t.Parallel()
	failed := long("UPLOAD", "f", 20, 4)
	failed.Err = "SlowDown: later"
	path := writeLog(t, header(), long("UPLOAD", "u", 0, 4), row("PUTPART", "u", 1, 100), row("PUTPART", "u", 2, 100), row("PUTPART", "u", 3, 60),
		long("DOWNLOAD", "d", 10, 4), row("GETPART", "d", 11, 40), row("GETPART", "d", 12, 40), failed, row("PUTPART", "f", 21, 100))
	p := readPlan(t, path, 1)
	all, _ := requests(t, p)
	want := []Request{{Kind: Upload, Size: 260, Parts: 3, Part: 100}, {Kind: Download, Object: 1, Size: 80, Parts: 2, Part: 40}}
	if !reflect.DeepEqual(all, want) || p.AtOnce != 7 {
		t.Errorf("%d at once, %+v, want %+v", p.AtOnce, all, want)
	}
	if want := []Object{{}, {true, 80}, {}}; !reflect.DeepEqual(p.Objects, want) {
		t.Errorf("objects %+v, want %+v", p.Objects, want)
	}
	if len(p.Replay.NotSent) != 1 || p.Replay.NotSent[0] != (oplog.NotSent{Op: "UPLOAD", Why: "it failed", Count: 1}) || p.Written != 260 {
		t.Errorf("%+v, %d bytes are written", p.Replay, p.Written)
	}
}

// long returns a request that took some milliseconds.
func long(op, key string, at, took int64) oplog.Record {
	r := row(op, key, at, 0)
	r.Duration = time.Duration(took) * time.Millisecond
	return r
}

// Parts belong to the transfer that their thread was about, also if others transferred the same object at the same time, and if it
// was due while the thread still sent another one.
func TestPlanPartsByThread(t *testing.T) {
	t.Parallel()
	by := func(thread uint32, r oplog.Record) oplog.Record {
		r.Thread = thread
		return r
	}
	due := long("DOWNLOAD", "d", 20, 5)
	due.Due = due.Start - 8e6 // at 12 ms
	path := writeLog(t, header(), by(1, long("DOWNLOAD", "d", 10, 9)), by(2, long("DOWNLOAD", "d", 11, 9)), by(1, due),
		by(1, row("GETPART", "d", 10, 40)), by(1, row("GETPART", "d", 15, 40)), by(1, row("GETPART", "d", 16, 10)),
		by(2, row("GETPART", "d", 12, 40)), by(2, row("GETPART", "d", 18, 50)), by(1, row("GETPART", "d", 21, 90)),
		by(1, row("GETPART", "d", 30, 90))) // of a download whose row the log lacks
	p := readPlan(t, path, 1)
	all, _ := requests(t, p)
	want := []Request{{Kind: Download, Size: 90, Parts: 3, Part: 40}, {Kind: Download, Size: 90, Parts: 2, Part: 50}, {Kind: Download, Size: 90, Parts: 1, Part: 90}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%+v, want %+v", all, want)
	}
	if want := []Object{{true, 90}}; !reflect.DeepEqual(p.Objects, want) {
		t.Errorf("objects %+v, want %+v", p.Objects, want)
	}
}

// In a merged log, each client has its own preparation.
func TestPlanMerged(t *testing.T) {
	t.Parallel()
	h := header()
	h.Windowed = false
	h.Merged = []oplog.Origin{
		{Run: "R", Client: "c", Threads: 4, Header: header(), Window: &oplog.Window{Start: 100 * second}},
		{Run: "R", Client: "d", Offset: 4, Threads: 4, Header: header(), Window: &oplog.Window{Start: 101 * second}},
	}
	other := row("PUT", "b", 500, 200) // of the preparation of d
	other.Client, other.Thread = "d", 5
	read := row("GET", "b", 1500, 50)
	read.Client, read.Thread = "d", 6
	p := readPlan(t, writeLog(t, h, row("PUT", "a", -500, 100), row("GET", "a", 100, 100), other, read), 1)
	all, due := requests(t, p)
	if want := []Request{{Kind: Get, Size: 100}, {Kind: Get, Object: 1, Size: 50}}; !reflect.DeepEqual(all, want) || due[1] != 1400 {
		t.Errorf("%+v after %d ms, want %+v", all, due, want)
	}
	if want := []Object{{true, 100}, {true, 200}}; !reflect.DeepEqual(p.Objects, want) {
		t.Errorf("objects %+v, want %+v", p.Objects, want)
	}
}

// A long log takes several blocks, and due times can be asked for in any order.
func TestLongPlan(t *testing.T) {
	t.Parallel()
	const n = 3000
	rows := make([]oplog.Record, n)
	for i := range rows {
		rows[i] = row("GET", "a", int64(i), 10)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(n, func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	p := readPlan(t, writeLog(t, header(), rows...), 1)
	for range 1000 {
		i := rng.Int64N(n)
		if due, err := p.Due(i); err != nil || due != time.Duration(i)*time.Millisecond {
			t.Fatalf("request %d is due after %v, %v", i, due, err)
		}
	}
	if _, err := p.Due(n); err == nil {
		t.Error("there is a request after the last one")
	}
}

// A log that was cut off is replayed as far as it goes, and the plan says so.
func TestCutOff(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(writeLog(t, header(), row("GET", "a", 0, 10)))
	check.OK(t, err)
	reader, err := zstd.NewReader(bytes.NewReader(data))
	check.OK(t, err)
	defer reader.Close()
	text, err := io.ReadAll(reader)
	check.OK(t, err)
	path := filepath.Join(t.TempDir(), "cut.csv")
	check.OK(t, os.WriteFile(path, text[:bytes.LastIndex(text, []byte("#"))], 0o600))
	if p := readPlan(t, path, 1); p.Count() != 1 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "no closing line") {
		t.Errorf("%d requests, %q", p.Count(), p.Warnings)
	}
}

// Files that are not op logs of warp are refused, and logs of which nothing can be sent.
func TestRefused(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "access.log")
	check.OK(t, os.WriteFile(text, []byte("79a59df900b949e55d96a1e698fbaced bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 -\n"), 0o600))
	foreign := filepath.Join(t.TempDir(), "minio.csv.zst")
	var plain oplog.Header
	check.OK(t, os.WriteFile(foreign, testlog.Encode(t, plain, oplog.Trailer{}, []oplog.Record{row("GET", "a", 0, 10)}, 1), 0o600))
	zip := header()
	zip.Benchmark = "zip"
	for name, want := range map[string]error{
		text: ErrForeign, foreign: ErrForeign,
		writeLog(t, header(), row("LIST", "a", 0, 0)): ErrNothing,
		writeLog(t, zip, row("GET", "a.zip/b", 0, 5)): ErrNothing,
		filepath.Join(t.TempDir(), "none.csv.zst"):    os.ErrNotExist,
	} {
		folder := t.TempDir()
		if _, err := Read(t.Context(), name, Options{Speed: 1, Folder: folder}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		} else if want == ErrNothing && !strings.Contains(err.Error(), "1 ") {
			t.Errorf("%s: %v does not say what there was", name, err)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A replay is as good as the share of the log's requests that it sends on time.
func TestFidelity(t *testing.T) {
	t.Parallel()
	h := &oplog.Replay{Log: "l", Run: "R", Speed: 1, Requests: 10, NotSent: []oplog.NotSent{{Op: "LIST", Why: "because", Count: 3}}}
	var f Fidelity
	var rows []oplog.Record
	for _, lag := range []time.Duration{0, time.Millisecond, time.Millisecond + 1, 50 * time.Millisecond} {
		r := row("GET", "a", 0, 0)
		r.Due = r.Start - int64(lag)
		rows = append(rows, r)
	}
	rows[0].Err = "SlowDown: later"                                                // it was sent
	if err := f.Write(append(rows, row("PUT", "prepared", -500, 0))); err != nil { // which was not due
		t.Fatal(err)
	}
	r := f.Report(h)
	if r.Sent != 4 || r.OnTime != 2 || r.Delay.Count != 4 || r.Delay.Max != 50 || r.Share(r.OnTime) != 0.2 {
		t.Errorf("%+v, delays %+v", r, r.Delay)
	}
	if want := []oplog.NotSent{{Op: "LIST", Why: "because", Count: 3}, {Why: "the replay ended early", Count: 3}}; !reflect.DeepEqual(r.NotSent, want) {
		t.Errorf("not sent: %+v, want %+v", r.NotSent, want)
	}
	if len(h.NotSent) != 1 {
		t.Error("the report has changed the header")
	}
}

// Rows that do not say which version of an object they are about cannot be sent again.
func TestPlanOfVersions(t *testing.T) {
	t.Parallel()
	h := header()
	h.Benchmark, h.Parameters = "get", map[string]string{"versions": "3"}
	_, err := Read(t.Context(), writeLog(t, h, row("GET", "a", 1, 10)), Options{Speed: 1, Folder: t.TempDir()})
	if !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "one version of an object") {
		t.Error(err)
	}
}
