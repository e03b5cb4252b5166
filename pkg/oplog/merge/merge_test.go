package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/extsort"
	"warp/internal/testlog"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// A merged is a merged log as decoded by a test.
type merged struct {
	log   []byte
	rows  []oplog.Record
	head  oplog.Header
	end   oplog.Trailer
	stats Stats
}

func mergeLogs(t testing.TB, logs ...[]byte) merged {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, log := range logs {
		names = append(names, filepath.Join(dir, fmt.Sprintf("in%d.csv.zst", i)))
		check.OK(t, os.WriteFile(names[i], log, 0o600))
	}
	out := filepath.Join(dir, "out.csv.zst")
	stats, err := Logs(t.Context(), out, names, Options{})
	check.OK(t, err)
	log, err := os.ReadFile(out)
	check.OK(t, err)
	r, rows, err := testlog.Decode(log, 100)
	check.OK(t, err)
	if int64(len(rows)) != stats.Rows || stats.Path != out {
		t.Errorf("%d rows, stats %+v", len(rows), stats)
	}
	sameWithManyRuns(t, log, stats, names)
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(logs)+1 {
		t.Errorf("files left behind: %v %v", files, err)
	}
	return merged{log, rows, r.Header(), r.Trailer(), stats}
}

// sameWithManyRuns merges once more, with a sorter that needs many runs, and compares.
func sameWithManyRuns(t testing.TB, log []byte, stats Stats, names []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "many.csv.zst")
	s := extsort.New(filepath.Dir(path))
	s.MaxRows, s.MaxRuns = 1+len(log)/1000, 4
	again, err := mergeWith(t.Context(), s, path, names, Options{})
	check.OK(t, err)
	other, err := os.ReadFile(path)
	check.OK(t, err)
	again.Path = stats.Path
	if !bytes.Equal(other, log) || !reflect.DeepEqual(again, stats) {
		t.Errorf("with many runs: %d bytes instead of %d, %+v instead of %+v", len(other), len(log), again, stats)
	}
}

// sorted returns the rows in the order of a merge.
func sorted(rows ...[]oplog.Record) []oplog.Record {
	all := slices.Concat(rows...)
	slices.SortFunc(all, func(a, b oplog.Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(appendBody(nil, &a), appendBody(nil, &b)), cmp.Compare(a.Run, b.Run))
	})
	return all
}

func testLog(t testing.TB, seed uint64, run, client string) ([]byte, []oplog.Record) {
	h := testlog.Header()
	h.Run, h.Client, h.Seed = run, client, seed
	records := testlog.Everything(rand.New(rand.NewPCG(seed, 7)), 200, run, client)
	return testlog.Encode(t, h, testlog.Trailer(), records, 90), records
}

func TestMergeOfSeveralRuns(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	b, rb := testLog(t, 2, "r1", "B")
	c, rc := testLog(t, 3, "r2", "A")
	want := sorted(ra, rb, rc)
	all := mergeLogs(t, a, b, c)
	testlog.Same(t, sorted(all.rows), want)
	if !slices.IsSortedFunc(all.rows, func(a, b oplog.Record) int { return cmp.Compare(a.Start, b.Start) }) {
		t.Error("not sorted by start")
	}
	if other := mergeLogs(t, c, a, b); !bytes.Equal(other.log, all.log) {
		t.Error("the order of the inputs changes the result")
	}
	ab := mergeLogs(t, a, b)
	bc := mergeLogs(t, b, c)
	for _, m := range []merged{mergeLogs(t, ab.log, c), mergeLogs(t, bc.log, a), mergeLogs(t, c, ab.log), mergeLogs(t, ab.log, bc.log)} {
		if !bytes.Equal(m.log, all.log) {
			t.Errorf("merging in steps is different:\n%s\n%s", asJSON(m.head), asJSON(all.head))
		}
	}
	if all.stats.Runs != 2 || all.stats.Clients != 3 || len(all.stats.Warnings) > 0 {
		t.Errorf("%+v", all.stats)
	}
	if all.end.End != "completed" || all.end.Offered != 37.5 || all.end.Load.CPUSeconds != 3 || all.end.Load.WallSeconds != 2 || len(all.end.Notes) != 1 {
		t.Errorf("trailer %+v", all.end)
	}
	if ab.head.Run != "r1" || !strings.HasPrefix(all.head.Run, "merge-") || all.head.Parameters["concurrent"] != "8" || all.head.Seed != 0 {
		t.Errorf("header %+v", all.head)
	}
	uniqueThreads(t, all.log, 15)
}

// uniqueThreads checks the log as a reader sees it that does not know our header.
func uniqueThreads(t *testing.T, log []byte, want int) {
	t.Helper()
	seen := map[string]string{}
	_, rows, err := testlog.Decode(stripComments(testlog.Unzstd(t, log)), 100)
	check.OK(t, err)
	for _, r := range rows {
		key := fmt.Sprint(r.Thread)
		if seen[key] != "" && seen[key] != r.Client+"." {
			t.Fatalf("thread %s is of %s and %s", key, seen[key], r.Client)
		}
		seen[key] = r.Client + "."
	}
	if len(seen) != want {
		t.Errorf("%d threads, want %d", len(seen), want)
	}
}

func stripComments(text []byte) []byte {
	return bytes.Join(slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(l []byte) bool {
		return bytes.HasPrefix(l, []byte("# {"))
	}), nil)
}

// split distributes the rows of a log over n pieces. Odd pieces have only the head line.
func split(t testing.TB, text []byte, n int, rule func(row int) int) [][]byte {
	t.Helper()
	// Rows with line breaks would need a parser, so there are none here.
	lines := bytes.SplitAfter(text, []byte("\n"))
	pieces := make([]bytes.Buffer, n)
	row := 0
	for i, l := range lines {
		switch {
		case i == 0:
			for k := range pieces {
				pieces[k].Write(l)
			}
		case len(l) > 0 && l[0] == '#':
			for k := 0; k < n; k += 2 {
				pieces[k].Write(l)
			}
		case len(l) > 0:
			pieces[rule(row)].Write(l)
			row++
		}
	}
	out := make([][]byte, n)
	for i := range pieces {
		out[i] = pieces[i].Bytes()
	}
	return out
}

func noBreaks(records []oplog.Record) []oplog.Record {
	for i := range records {
		r := &records[i]
		r.Key, r.Err = strings.NewReplacer("\n", "", "\r", "").Replace(r.Key), strings.NewReplacer("\n", "", "\r", "").Replace(r.Err)
	}
	return records
}

func TestMergeOfPieces(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		h := testlog.Header()
		h.Client = "A"
		one := noBreaks(testlog.Everything(rng, 150, "run1", "A"))
		log := testlog.Encode(t, h, testlog.Trailer(), one, 50)
		h2 := testlog.Header()
		h2.Run = "run2"
		two := noBreaks(testlog.Everything(rng, 100, "run2", "B"))
		both := mergeLogs(t, log, testlog.Encode(t, h2, testlog.Trailer(), two, 50))
		n := 1 + rng.IntN(5)
		rules := []func(int) int{
			func(i int) int { return i % n },
			func(i int) int { return min(i/40, n-1) },
			func(int) int { return rng.IntN(n) },
		}
		for k, rule := range rules {
			m := mergeLogs(t, split(t, testlog.Unzstd(t, log), n, rule)...)
			testlog.Same(t, m.rows, sorted(one))
			end := testlog.Trailer()
			end.Rows = int64(len(one))
			if !reflect.DeepEqual(m.head, h) || !reflect.DeepEqual(m.end, end) {
				t.Errorf("rule %d: header %s, trailer %s", k, asJSON(m.head), asJSON(m.end))
			}
			m = mergeLogs(t, split(t, testlog.Unzstd(t, both.log), n, rule)...)
			testlog.Same(t, m.rows, sorted(one, two))
			if !bytes.Equal(m.log, both.log) {
				t.Errorf("rule %d: the pieces of a merged log make another log", k)
			}
		}
	}
}

// Logs of one run in which every client wrote only its own rows, in one file.
func TestMergeKeepsSharedHeader(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 3))
	records := noBreaks(slices.Concat(testlog.Everything(rng, 50, "run1", "A"), testlog.Everything(rng, 50, "run1", "B")))
	log := testlog.Encode(t, testlog.Header(), testlog.Trailer(), records, 50)
	m := mergeLogs(t, split(t, testlog.Unzstd(t, log), 3, func(i int) int { return i % 3 })...)
	testlog.Same(t, m.rows, sorted(records))
	if !reflect.DeepEqual(m.head, testlog.Header()) {
		t.Errorf("header %s", asJSON(m.head))
	}
}

// oldLog has neither a run nor a client id.
func oldLog(first, step time.Duration, n int) []byte {
	var b bytes.Buffer
	b.WriteString("idx\tthread\top\tn_objects\tbytes\tfile\terror\tstart\tfirst_byte\tend\tduration_ns\n")
	base := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).Add(first)
	for i := range n {
		start := base.Add(time.Duration(i) * step)
		fmt.Fprintf(&b, "%d\t%d\tGET\t1\t5\tk%d\t\t%s\t\t%s\t10000000\n", i, i%4, i, start.Format(time.RFC3339Nano), start.Add(10*time.Millisecond).Format(time.RFC3339Nano))
	}
	return b.Bytes()
}

func TestMergeWithoutNames(t *testing.T) {
	t.Parallel()
	a, b := oldLog(0, 5*time.Millisecond, 100), oldLog(2*time.Millisecond, 5*time.Millisecond, 90)
	c := oldLog(time.Microsecond, 5*time.Millisecond, 80)
	m := mergeLogs(t, a, b)
	if m.stats.Runs != 2 || len(m.rows) != 190 || m.rows[0].Run == m.rows[1].Run {
		t.Errorf("two runs at once: %+v", m.stats)
	}
	uniqueThreads(t, m.log, 8)
	abc := mergeLogs(t, a, b, c)
	for _, other := range []merged{mergeLogs(t, c, b, a), mergeLogs(t, m.log, c), mergeLogs(t, a, mergeLogs(t, b, c).log)} {
		if !bytes.Equal(abc.log, other.log) {
			t.Errorf("order matters:\n%s\n%s", asJSON(abc.head), asJSON(other.head))
		}
	}
	if abc.stats.Runs != 3 {
		t.Errorf("three runs at once: %+v", abc.stats)
	}
	pieces := split(t, a, 3, func(i int) int { return i % 3 })
	if m := mergeLogs(t, pieces...); m.stats.Runs != 1 || len(m.rows) != 100 {
		t.Errorf("pieces of one run: %+v", m.stats)
	}
	if m := mergeLogs(t, append(pieces, b)...); m.stats.Runs != 2 || len(m.rows) != 190 {
		t.Errorf("pieces of one run and another: %+v", m.stats)
	}
	if m := mergeLogs(t, split(t, testlog.Unzstd(t, abc.log), 3, func(i int) int { return i % 3 })...); !bytes.Equal(m.log, abc.log) {
		t.Errorf("pieces of a merged log: %+v\n%s\n%s", m.stats, asJSON(m.head), asJSON(abc.head))
	}
}

func TestMergeCountsOnce(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	m := mergeLogs(t, a, a) // a copy under another name
	testlog.Same(t, m.rows, sorted(ra))
	if m.stats.Repeated != int64(len(ra)) || len(m.stats.Warnings) != 1 {
		t.Errorf("%+v", m.stats)
	}
	old := oldLog(0, 5*time.Millisecond, 40)
	if m := mergeLogs(t, old, old); len(m.rows) != 40 || m.stats.Runs != 1 {
		t.Errorf("%+v", m.stats)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, _ := testLog(t, 1, "r1", "A")
	in, link, bad := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "bad")
	text := testlog.Unzstd(t, a)
	if err := errors.Join(os.WriteFile(in, a, 0o600), os.Link(in, link),
		os.WriteFile(bad, bytes.Replace(text, []byte("\n3\t"), []byte("\nx\tx\t"), 1), 0o600)); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx    context.Context
		out    string
		inputs []string
		want   string
	}{
		"nothing":      {t.Context(), "out", nil, "nothing to merge"},
		"same name":    {t.Context(), "out", []string{in, in}, "the same file"},
		"same file":    {t.Context(), "out", []string{in, link}, "the same file"},
		"no such file": {t.Context(), "out", []string{in, in + "x"}, "no such file"},
		"damaged":      {t.Context(), "out", []string{in, bad}, "fields where"},
		"name taken":   {t.Context(), "a", []string{in}, "exists already"},
		"cancelled":    {stopped, "out", []string{in}, "canceled"},
	} {
		_, err := Logs(c.ctx, filepath.Join(dir, c.out), c.inputs, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("left behind: %v", files)
	}
}

func TestMergeOfTruncated(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "r1", "A")
	b, _ := testLog(t, 2, "r1", "B")
	m := mergeLogs(t, a[:len(a)-150], b)
	if m.end.End != "interrupted" || len(m.stats.Warnings) != 1 {
		t.Errorf("%+v %+v", m.end, m.stats)
	}
}

func TestMergeManyThreads(t *testing.T) {
	t.Parallel()
	wide := func(run, client string, thread uint32) []byte {
		h := testlog.Header()
		h.Run, h.Client = run, client
		return testlog.Encode(t, h, testlog.Trailer(), []oplog.Record{{Op: "GET", Run: run, Client: client, Start: 5, Duration: 7, Thread: thread}}, 9)
	}
	m := mergeLogs(t, wide("r1", "A", 60000), wide("r2", "B", 60000))
	for _, r := range m.rows {
		if r.Thread != 60000 {
			t.Errorf("%+v", r)
		}
	}
	dir := t.TempDir()
	for i, log := range [][]byte{wide("r1", "A", 60000), wide("r2", "A", 60000)} {
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), log, 0o600))
	}
	_, err := Logs(t.Context(), filepath.Join(dir, "out"), []string{filepath.Join(dir, "0"), filepath.Join(dir, "1")}, Options{})
	if err == nil || !strings.Contains(err.Error(), "65536 threads") {
		t.Errorf("%v", err)
	}
}

// All uploads of a real log of 2019 have thread 12. Merging its pieces must find one run, and
// merging two copies shifted in time must find two.
func TestMergeSharedPieces(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "..", "shared", "data", "get-2019-old-columns.csv.zst")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no log of another implementation at %s", path)
	}
	_, all, err := testlog.Decode(log, 100)
	check.OK(t, err)
	text := testlog.Unzstd(t, log)
	for name, rule := range map[string]func(int) int{
		"in turn": func(i int) int { return i % 3 }, "by position": func(i int) int { return min(i/8000, 2) },
	} {
		m := mergeLogs(t, split(t, text, 3, rule)...)
		if m.stats.Runs != 1 {
			t.Errorf("%s: %+v", name, m.stats)
		}
		testlog.Same(t, m.rows, sorted(all))
	}
	later := slices.Clone(all)
	for i := range later {
		later[i].Start += 1.5e6
	}
	if m := mergeLogs(t, text, testlog.Encode(t, oplog.Header{}, oplog.Trailer{}, later, 9999)); m.stats.Runs != 2 || len(m.rows) != 2*len(all) {
		t.Errorf("a second run at the same time: %+v", m.stats)
	}
}

func TestMergeMemory(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 1))
	var names []string
	for i := range 3 {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(name)
		check.OK(t, err)
		h := testlog.Header()
		h.Run = fmt.Sprint(i)
		w, err := oplog.NewWriter(f, h)
		check.OK(t, err)
		for range 40_000 {
			r := oplog.Record{Op: "GET", Client: "c", Key: strings.Repeat("k", 300), Start: rng.Int64N(1e12), Duration: 5}
			check.OK(t, w.Write([]oplog.Record{r}))
		}
		check.OK(t, errors.Join(w.Close(testlog.Trailer()), f.Close()))
		names = append(names, name)
	}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	calls := 0
	stats, err := Logs(t.Context(), filepath.Join(dir, "out"), names, Options{Progress: func(int64) {
		if calls++; calls%100 == 0 {
			runtime.GC() // memory in use, without garbage
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
	}})
	if err != nil || stats.Rows != 120_000 {
		t.Fatal(stats, err)
	}
	if used := int64(peak) - int64(before.HeapAlloc); used > 32<<20 {
		t.Errorf("%d MiB in use", used>>20)
	}
}

// Equal notes of several clients occur once, and their counts are added up.
func TestJoinNotes(t *testing.T) {
	t.Parallel()
	got := joinNotes([]string{"slow", "1 request had no answer", "slow", "2 requests had no answer", "4 requests had no answer", "1 object left",
		"9 of 20 points are lost", "9 of 20 points are lost", "5 connections for 8 requests", "5 connections for 8 requests"})
	if want := []string{"1 object left", "5 connections for 8 requests", "7 requests had no answer", "9 of 20 points are lost", "slow"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Numbers that are not counts are not added up.
func TestJoinNotesOverflow(t *testing.T) {
	t.Parallel()
	got := joinNotes([]string{"9223372036854775807 requests failed", "1 requests failed", "99999999999999999999 objects are left"})
	if want := []string{"1 requests failed", "9223372036854775807 requests failed", "99999999999999999999 objects are left"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Only reasons of the worst end are named.
func TestCombinedReason(t *testing.T) {
	t.Parallel()
	done, cut, dead := oplog.Trailer{End: "completed", Reason: "all was written"}, oplog.Trailer{End: "interrupted", Reason: "it was cut off"}, oplog.Trailer{End: "aborted", Reason: "nobody was there"}
	for _, c := range []struct {
		of   []oplog.Trailer
		want oplog.Trailer
	}{
		{[]oplog.Trailer{done, done}, done},
		{[]oplog.Trailer{done, cut}, cut},
		{[]oplog.Trailer{done, dead}, dead},
		{[]oplog.Trailer{dead, cut, done}, oplog.Trailer{End: "aborted", Reason: "nobody was there", Notes: []string{"it was cut off"}}},
	} {
		if got := CombineTrailers(c.of); asJSON(got) != asJSON(c.want) {
			t.Errorf("%s, want %s", asJSON(got), asJSON(c.want))
		}
	}
}

// The cores of a machine count once, and its clients can be the limit together.
func TestCombinedLoadOfOneMachine(t *testing.T) {
	t.Parallel()
	client := func() oplog.Trailer {
		return oplog.Trailer{End: "completed", Load: &hostload.Load{Machine: "m", CPUs: "3", Cores: 2, Start: time.Unix(1e9, 0), WallSeconds: 10, CPUSeconds: 9}}
	}
	got := CombineTrailers([]oplog.Trailer{client(), client()})
	if l := got.Load; l.Cores != 2 || l.CPUSeconds != 18 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "2 clients on one machine together used 90 %") {
		t.Errorf("%s", asJSON(got))
	}
}

// A lost client is missing only if its log is not merged.
func TestMergeOfLostClients(t *testing.T) {
	t.Parallel()
	var logs [][]byte
	for i, client := range []string{"A", "B", "C", "D"} {
		h, end := testlog.Header(), testlog.Trailer()
		h.Run, h.Client = "r1", client
		end.Notes = []string{"client c:1 was lost (gone): " + LostShare("C", 2, 4), "client d:1 was lost (gone): " + LostShare("D", 2, 4)}
		log := testlog.Encode(t, h, end, testlog.Everything(rand.New(rand.NewPCG(uint64(i), 7)), 50, "r1", client), 90)
		if i >= 2 { // those were killed
			log = testlog.Encode(t, h, oplog.Trailer{}, testlog.Everything(rand.New(rand.NewPCG(uint64(i), 7)), 50, "r1", client), 90)
		}
		logs = append(logs, log)
	}
	other, _ := testLog(t, 9, "r2", "C")
	for _, c := range []struct {
		logs [][]byte
		want []string
	}{
		{logs[:2], []string{"client c:1 was lost (gone): " + LostShare("C", 2, 4), "client d:1 was lost (gone): " + LostShare("D", 2, 4)}},
		{logs[:3], []string{"client d:1 was lost (gone): " + LostShare("D", 3, 4)}},
		{logs, nil},
		{append(slices.Clone(logs[:2]), other), []string{"client c:1 was lost (gone): " + LostShare("C", 2, 4), "client d:1 was lost (gone): " + LostShare("D", 2, 4)}},
	} {
		got := slices.DeleteFunc(mergeLogs(t, c.logs...).end.Notes, func(s string) bool { return !IsLostShare(s) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%d logs: %q, want %q", len(c.logs), got, c.want)
		}
	}
}

// A piece of a merged log without the header has other thread numbers than the log with it.
func TestMergeOfPieceNumbersThreads(t *testing.T) {
	t.Parallel()
	h := oplog.Header{Warp: "1", Run: "r1", Client: "A"}
	row := func(run string, thread uint32) oplog.Record {
		return oplog.Record{Op: "GET", Run: run, Client: "A", Key: "k", Start: 1e18, Duration: 5, Thread: thread}
	}
	one := testlog.Encode(t, h, testlog.Trailer(), []oplog.Record{row("r1", 1)}, 9)
	h.Run = "r2"
	both := mergeLogs(t, one, testlog.Encode(t, h, testlog.Trailer(), []oplog.Record{row("r2", 3), row("r2", 5)}, 9))
	lines := bytes.SplitAfter(testlog.Unzstd(t, both.log), []byte("\n")) // columns, header, threads 1, 3+2 and 5+2
	with, without := slices.Concat(lines[0], lines[1], lines[2], lines[4]), slices.Concat(lines[0], lines[3])
	if m := mergeLogs(t, with, without); m.stats.Repeated != 0 || !slices.Equal(sorted(m.rows), sorted(both.rows)) {
		t.Errorf("%+v\n%+v", m.stats, m.rows)
	}
}

// A merge finds a header after an empty line, or without a line end.
func TestMergeOfHeadersEditedByHand(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "r1", "A")
	b, _ := testLog(t, 2, "r2", "A")
	lines := bytes.SplitAfter(testlog.Unzstd(t, b), []byte("\n"))
	if want, got := mergeLogs(t, a, b), mergeLogs(t, a, slices.Concat(lines[0], []byte("\n\r\n"), bytes.Join(lines[1:], nil))); !bytes.Equal(got.log, want.log) {
		t.Errorf("behind an empty line: header %s", asJSON(got.head))
	}
	if want, got := mergeLogs(t, a, slices.Concat(lines[0], lines[1])), mergeLogs(t, a, slices.Concat(lines[0], bytes.TrimSpace(lines[1]))); !bytes.Equal(got.log, want.log) {
		t.Errorf("without a line end: header %s", asJSON(got.head))
	}
}

// Trailers within trailers would grow with every merge.
func TestMergeOfTrailersWithoutHeader(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "", "")
	b, _ := testLog(t, 2, "r1", "B")
	end := testlog.Trailer()
	end.Merged = []*oplog.Trailer{nil, {End: "completed", Merged: []*oplog.Trailer{nil}}}
	lines := bytes.SplitAfter(testlog.Unzstd(t, a), []byte("\n"))
	cut := slices.Concat(lines[0], bytes.Join(lines[2:len(lines)-2], nil), []byte("# "+asJSON(end)+"\n"))
	for _, m := range []merged{mergeLogs(t, cut), mergeLogs(t, cut, b)} {
		for _, x := range append(m.end.Merged, &oplog.Trailer{}) {
			if x == nil || x.Merged != nil || len(m.head.Merged) != len(m.end.Merged) {
				t.Errorf("%s", asJSON(m.end))
			}
		}
	}
}

// One log contains only a client's name, and another one only its number of threads.
func TestMergeOfIdleClients(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "r1", "B")
	foreign := stripComments(testlog.Unzstd(t, testlog.Encode(t, oplog.Header{Warp: "1"}, testlog.Trailer(), []oplog.Record{{Op: "GET", Client: "A", Start: 1, Duration: 1}}, 9)))
	both := bytes.SplitAfter(testlog.Unzstd(t, mergeLogs(t, foreign, a).log), []byte("\n"))
	empty := testlog.Encode(t, oplog.Header{Warp: "1", Client: "A", Threads: 7}, testlog.Trailer(), nil, 9)
	for range 20 { // often enough for random effects
		m := mergeLogs(t, slices.Concat(both[0], both[1]), empty)
		if len(m.head.Merged) != 2 || m.head.Merged[0].Threads != 7 {
			t.Fatalf("header %s", asJSON(m.head))
		}
	}
}

// TestMergePhases checks that a merge keeps phases, in steps or at once.
func TestMergePhases(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	b, rb := testLog(t, 2, "r2", "B")
	var want, got oplog.Phases
	add := func(sum *oplog.Phases, records []oplog.Record) (rows int) {
		for i := range records {
			if p := records[i].Phases; p != nil {
				rows++
				for k, d := range p {
					sum[k] += d
				}
			}
		}
		return rows
	}
	rows := add(&want, ra) + add(&want, rb)
	all := mergeLogs(t, a, b)
	if n := add(&got, all.rows); n != rows || got != want || rows == 0 {
		t.Errorf("%d rows with phases %v, want %d with %v", n, got, rows, want)
	}
	c, _ := testLog(t, 3, "r3", "C")
	if steps, once := mergeLogs(t, all.log, c), mergeLogs(t, a, b, c); !bytes.Equal(testlog.Unzstd(t, steps.log), testlog.Unzstd(t, once.log)) {
		t.Error("merging in steps makes another log")
	}
}

// TestMergeStatements merges a script's log with another log, in steps and at once.
func TestMergeStatements(t *testing.T) {
	t.Parallel()
	ra := testlog.ScriptRecords(1, 200, "r1", "A")
	a := testlog.Encode(t, testlog.ScriptHeader("r1", "A"), testlog.Trailer(), ra, 90)
	b, rb := testLog(t, 2, "r2", "B")
	c := testlog.Encode(t, testlog.ScriptHeader("r3", "C"), testlog.Trailer(), testlog.ScriptRecords(5, 100, "r3", "C"), 90)
	all := mergeLogs(t, a, b)
	count := map[oplog.Statement]int{}
	for _, r := range ra {
		count[r.Statement]++
	}
	count[oplog.Statement{}] += len(rb)
	for _, r := range all.rows {
		count[r.Statement]--
	}
	for s, n := range count {
		if n != 0 {
			t.Errorf("statement %q: %d rows are missing", s, n)
		}
	}
	if all.head.Statements != nil {
		t.Errorf("a merge of different things has the statements %q", all.head.Statements)
	}
	if same := mergeLogs(t, a, c); len(same.head.Statements) != 3 {
		t.Errorf("a merge of two runs of one script has the statements %q", same.head.Statements)
	}
	if steps, once := mergeLogs(t, all.log, c), mergeLogs(t, a, b, c); !bytes.Equal(testlog.Unzstd(t, steps.log), testlog.Unzstd(t, once.log)) {
		t.Error("merging in steps makes another log")
	}
	other, _ := testLog(t, 4, "r4", "D")
	if plain := mergeLogs(t, b, other); strings.Contains(string(testlog.Unzstd(t, plain.log)), "\tstatement") {
		t.Error("a merge without scripts has the column of scripts")
	}
}

// Damage in the middle of an input is reported, and no file is left behind.
func TestMergeOfDamaged(t *testing.T) {
	t.Parallel()
	log := testlog.Encode(t, oplog.Header{Warp: "1", Run: "r", Client: "A"}, testlog.Trailer(), inTurns(30_000, 8, "A"), 1000)
	log[len(log)*3/4] ^= 0xff
	names := writeLogs(t, testlog.Encode(t, oplog.Header{Warp: "1", Run: "r", Client: "B"}, testlog.Trailer(), inTurns(100, 8, "B"), 1000), log)
	folder := t.TempDir()
	_, err := Logs(t.Context(), filepath.Join(folder, "out.csv.zst"), names, Options{})
	var at *oplog.ReadError
	if !errors.As(err, &at) || at.File != names[1] || at.Line == 0 {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

// Progress reports the number of rows read, in the end all of them.
func TestMergeProgress(t *testing.T) {
	t.Parallel()
	const rows = 5000
	names := writeLogs(t, testlog.Encode(t, oplog.Header{Warp: "1", Run: "r", Client: "A"}, testlog.Trailer(), inTurns(rows, 3, "A"), 1000))
	reports, last := 0, int64(0)
	o := Options{Progress: func(n int64) {
		if reports++; n < last || n > last+batchRows {
			t.Errorf("%d rows after %d", n, last)
		}
		last = n
	}}
	if _, err := Logs(t.Context(), filepath.Join(t.TempDir(), "out"), names, o); err != nil || last != rows || reports < rows/batchRows {
		t.Errorf("%d of %d rows in %d reports, %v", last, rows, reports, err)
	}
}

// gappedLog writes the log of a client with only some of its frames, which have ten rows each.
// Frame 0 is the header.
func gappedLog(t *testing.T, client string, frames ...int) []byte {
	t.Helper()
	var log bytes.Buffer
	w, err := oplog.NewWriter(&log, oplog.Header{Warp: "1", Run: "r", Client: client})
	check.OK(t, err)
	all := [][]byte{bytes.Clone(log.Bytes())}
	rows := inTurns(50, 3, client)
	for i := range 6 {
		log.Reset()
		if i < 5 {
			err = errors.Join(w.Write(rows[10*i:10*i+10]), w.Flush())
		} else {
			err = w.Close(oplog.Trailer{End: "completed"})
		}
		check.OK(t, err)
		all = append(all, bytes.Clone(log.Bytes()))
	}
	var picked []byte
	for _, i := range frames {
		picked = append(picked, all[i]...)
	}
	return picked
}

// Missing and duplicate rows cause a warning, and the result contains it, however it is merged.
func TestMergeOfLogsWithHoles(t *testing.T) {
	t.Parallel()
	whole := func(client string) []byte { return gappedLog(t, client, 0, 1, 2, 3, 4, 5, 6) }
	a, b, c := gappedLog(t, "A", 0, 1, 3, 4, 6), gappedLog(t, "B", 0, 1, 2, 2, 3, 4, 5, 6), whole("C")
	m := mergeLogs(t, a, b, c)
	want := []string{"10 requests counted twice: merged logs have a part of their rows twice", "20 requests missing: merged logs lack a part of their rows"}
	if !slices.Equal(m.end.Notes, want) {
		t.Errorf("notes %q", m.end.Notes)
	}
	if w := m.stats.Warnings; len(w) != 2 || !strings.Contains(w[0], "20 rows are missing") || !strings.Contains(w[1], "10 rows have the number") {
		t.Errorf("warnings %q", w)
	}
	for _, other := range []merged{mergeLogs(t, c, b, a), mergeLogs(t, mergeLogs(t, a, b).log, c), mergeLogs(t, mergeLogs(t, b, c).log, a)} {
		if !bytes.Equal(other.log, m.log) {
			t.Errorf("another order gives another log: %q", other.end.Notes)
		}
	}
	one := mergeLogs(t, a)
	if !slices.Equal(one.end.Notes, want[1:]) {
		t.Errorf("one log: notes %q", one.end.Notes)
	}
	if again := mergeLogs(t, one.log); !bytes.Equal(again.log, one.log) {
		t.Errorf("once more: %q", again.end.Notes)
	}
	// Rows missing in one piece are in the other.
	if m := mergeLogs(t, gappedLog(t, "A", 0, 1, 3, 5, 6), gappedLog(t, "A", 0, 2, 4), c); len(m.end.Notes) > 0 || len(m.rows) != 100 {
		t.Errorf("pieces: %d rows, notes %q", len(m.rows), m.end.Notes)
	}
}
