package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// writeLogs writes files and returns their names.
func writeLogs(t testing.TB, logs ...[]byte) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, log := range logs {
		names = append(names, filepath.Join(dir, fmt.Sprintf("in%d.csv.zst", i)))
		if err := os.WriteFile(names[i], log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// inTurns are rows of that many threads, which overlap, in the order of their ends.
func inTurns(n, threads int, client string) []Record {
	all := make([]Record, n)
	for i := range all {
		all[i] = Record{Op: "GET", Run: "r", Client: client, Endpoint: "http://127.0.0.1:9000", Key: fmt.Sprint("k", i%100), Thread: uint32(i % threads),
			Objects: 1, Bytes: 1, Start: 1e18 + int64(i*1000/threads*threads), Duration: 900, Status: 200}
	}
	return all
}

// Which logs are merged while they are read, and which have to be sorted first. Either way the result is the same.
func TestMergeDirectly(t *testing.T) {
	t.Parallel()
	const waiting, many = 4 * refill, 6000
	plain := func(client string, threads uint32, rows []Record) []byte {
		return writeLog(t, Header{Warp: "1", Run: "r", Client: client, Benchmark: "get", Threads: threads}, testTrailer, rows, 3000)
	}
	foreign := func(rows []Record) []byte { return stripComments(unzstd(t, plain("", 0, rows))) }
	late := inTurns(many, 8, "A")
	late[many-1].Thread = 8
	wide := inTurns(many, 8, "B")
	wide[many-1].Thread = maxThread
	early := inTurns(many, 8, "A")
	early[many-1].Start = early[0].Start
	two := inTurns(many, 8, "A")
	two[many-1].Client = "C"
	nobody := func(rows []Record) []Record {
		for i := range rows {
			rows[i].Client = ""
		}
		return rows
	}
	b := plain("B", 0, inTurns(many, 3, "B"))
	later := inTurns(many, 3, "L")
	for i := range later {
		later[i].Start += 1e12
	}
	apart := mergeLogs(t, b, plain("L", 0, later)).log
	for name, test := range map[string]struct {
		logs   [][]byte
		direct bool
	}{
		"usual":                              {[][]byte{plain("A", 0, inTurns(many, 8, "A")), b}, true},
		"one":                                {[][]byte{b}, true},
		"without comments":                   {[][]byte{foreign(inTurns(many, 8, "A")), b}, true},
		"the last row has a new thread":      {[][]byte{plain("A", 0, late), b}, false},
		"and the header tells":               {[][]byte{plain("A", 9, late), b}, true},
		"and it is the only log":             {[][]byte{plain("A", 0, late)}, true},
		"numbers that do not fit":            {[][]byte{plain("A", 0, inTurns(many, 8, "A")), plain("B", 0, wide)}, false},
		"without comments, a new thread":     {[][]byte{foreign(late), b}, false},
		"the last row is the first":          {[][]byte{plain("A", 0, early), b}, false},
		"the last row is of a client":        {[][]byte{foreign(two), b}, false},
		"merged, of clients that were apart": {[][]byte{apart, plain("A", 0, inTurns(many, 8, "A"))}, true},
		"and without comments":               {[][]byte{stripComments(unzstd(t, apart)), plain("A", 0, inTurns(many, 8, "A"))}, false},
		"nobody knows whose":                 {[][]byte{foreign(nobody(inTurns(many, 8, ""))), foreign(nobody(inTurns(100, 2, "")))}, false},
		"many":                               {slices.Repeat([][]byte{b}, directInputs+1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := writeLogs(t, test.logs...)
			all := mergeLogs(t, test.logs...)
			if canReadAtOnce(names) {
				path := filepath.Join(t.TempDir(), "direct.csv.zst")
				_, err := merge(t.Context(), path, names, MergeOptions{}, func(m *merger, names []string) (gathered, error) {
					return m.directly(names, waiting, true)
				})
				if test.direct && err != nil || !test.direct && !errors.Is(err, errIndirect) {
					t.Errorf("directly: %v", err)
				}
				log, err := os.ReadFile(path)
				if test.direct && !bytes.Equal(log, all.log) {
					t.Errorf("%d bytes instead of %d: %v", len(log), len(all.log), err)
				}
				if left, _ := filepath.Glob(path + "*"); !test.direct && len(left) > 0 {
					t.Errorf("%v is left behind", left)
				}
			} else if test.direct {
				t.Error("is not tried directly")
			}
		})
	}
}

// Damage in the middle of an input is reported, and nothing is left behind.
func TestMergeDirectlyOfDamaged(t *testing.T) {
	t.Parallel()
	log := writeLog(t, Header{Warp: "1", Run: "r", Client: "A"}, testTrailer, inTurns(30_000, 8, "A"), 1000)
	broken := bytes.Clone(log)
	broken[len(log)*3/4] ^= 0xff
	names := writeLogs(t, broken, writeLog(t, Header{Warp: "1", Run: "r", Client: "B"}, testTrailer, inTurns(100, 8, "B"), 1000))
	path := filepath.Join(t.TempDir(), "out.csv.zst")
	_, err := Merge(t.Context(), path, names, MergeOptions{})
	var at *ReadError
	if !errors.As(err, &at) || at.File != names[0] || at.Line == 0 {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

// A pipe can be read only once.
func TestMergeOfWhatIsNoFile(t *testing.T) {
	t.Parallel()
	names := writeLogs(t, []byte("x"))
	if !canReadAtOnce(names) || canReadAtOnce(append(names, os.DevNull)) || canReadAtOnce([]string{filepath.Join(t.TempDir(), "none")}) {
		t.Error("what can be read again is not told apart")
	}
}

// Logs that are compressed with large windows are read one after the other.
func TestMergeOfLargeWindows(t *testing.T) {
	t.Parallel()
	text := unzstd(t, writeLog(t, Header{Warp: "1"}, testTrailer, inTurns(100, 8, "A"), 100))
	for _, c := range []struct {
		windows []int
		skip    bool
		want    bool
	}{
		{[]int{8 << 20, 8 << 20}, false, true},
		{[]int{8 << 20, 8 << 20, 1 << 20}, false, false},
		{[]int{1 << 20}, true, false}, // what comes first does not tell
	} {
		logs := [][]byte{text}
		for _, window := range c.windows {
			var log bytes.Buffer
			w, err := zstd.NewWriter(&log, zstd.WithWindowSize(window))
			if err != nil {
				t.Fatal(err)
			}
			if c.skip {
				log.Write([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 'x'})
			}
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Flush(), w.Close()); err != nil {
				t.Fatal(err)
			}
			logs = append(logs, log.Bytes())
		}
		if got := canReadAtOnce(writeLogs(t, logs...)); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// Rows that are long wait as records where too few could wait as text, without a temporary file.
func TestMergeOfLongRows(t *testing.T) {
	t.Parallel()
	const many = enoughRows + 2000
	rows := inTurns(many, 8, "A")
	for i := range rows {
		rows[i].Endpoint = "http://" + strings.Repeat("h", 900)
	}
	names := writeLogs(t, writeLog(t, Header{Warp: "1", Run: "r", Client: "A"}, testTrailer, rows, many),
		writeLog(t, Header{Warp: "1", Run: "r", Client: "B"}, testTrailer, inTurns(100, 8, "B"), 100))
	path := filepath.Join(t.TempDir(), "out.csv.zst")
	if _, err := merge(t.Context(), path, names, MergeOptions{}, (*merger).directText); !errors.Is(err, errTooLong) {
		t.Errorf("as text: %v", err)
	}
	if stats, err := merge(t.Context(), path, names, MergeOptions{}, (*merger).direct); err != nil || stats.Rows != many+100 {
		t.Errorf("as records: %d rows, %v", stats.Rows, err)
	}
	if stats, err := Merge(t.Context(), path+"2", names, MergeOptions{}); err != nil || stats.Rows != many+100 {
		t.Errorf("%d rows, %v", stats.Rows, err)
	}
}
