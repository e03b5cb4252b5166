package oplog

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
)

// A merged log, as a test looks at it.
type merged struct {
	log   []byte
	rows  []Record
	head  Header
	end   Trailer
	stats MergeStats
}

func mergeLogs(t testing.TB, logs ...[]byte) merged {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i, log := range logs {
		names = append(names, filepath.Join(dir, fmt.Sprintf("in%d.csv.zst", i)))
		if err := os.WriteFile(names[i], log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out.csv.zst")
	stats, err := Merge(t.Context(), out, names, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r, rows, err := readAll(log, 100)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(rows)) != stats.Rows || stats.Path != out {
		t.Errorf("%d rows, stats %+v", len(rows), stats)
	}
	sameWhenSorted(t, log, stats, names)
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(logs)+1 {
		t.Errorf("files left behind: %v %v", files, err)
	}
	return merged{log, rows, r.Header(), r.Trailer(), stats}
}

// sameWhenSorted merges once more, through sorted files, and compares.
func sameWhenSorted(t testing.TB, log []byte, stats MergeStats, names []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sorted.csv.zst")
	again, err := merge(t.Context(), path, names, MergeOptions{}, (*merger).sorted)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Path = stats.Path
	if !bytes.Equal(other, log) || !reflect.DeepEqual(again, stats) {
		t.Errorf("through files: %d bytes instead of %d, %+v instead of %+v", len(other), len(log), again, stats)
	}
}

// sorted returns the rows in the order of a merge.
func sorted(rows ...[]Record) []Record {
	all := slices.Concat(rows...)
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(appendBody(nil, &a), appendBody(nil, &b)), cmp.Compare(a.Run, b.Run))
	})
	return all
}

func testLog(t testing.TB, seed uint64, run, client string) ([]byte, []Record) {
	h := testHeader
	h.Run, h.Client, h.Seed = run, client, seed
	records := testRecords(rand.New(rand.NewPCG(seed, 7)), 200, run, client)
	return writeLog(t, h, testTrailer, records, 90), records
}

func TestMergeOfSeveralRuns(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	b, rb := testLog(t, 2, "r1", "B")
	c, rc := testLog(t, 3, "r2", "A")
	want := sorted(ra, rb, rc)
	all := mergeLogs(t, a, b, c)
	sameRecords(t, sorted(all.rows), want)
	if !slices.IsSortedFunc(all.rows, func(a, b Record) int { return cmp.Compare(a.Start, b.Start) }) {
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

// uniqueThreads checks what a reader sees that knows nothing of our header.
func uniqueThreads(t *testing.T, log []byte, want int) {
	t.Helper()
	seen := map[string]string{}
	_, rows, err := readAll(stripComments(unzstd(t, log)), 100)
	if err != nil {
		t.Fatal(err)
	}
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

// split deals the rows of a log to n pieces. Odd pieces have the head line only.
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

func noBreaks(records []Record) []Record {
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
		h := testHeader
		h.Client = "A"
		one := noBreaks(testRecords(rng, 150, "run1", "A"))
		log := writeLog(t, h, testTrailer, one, 50)
		h2 := testHeader
		h2.Run = "run2"
		two := noBreaks(testRecords(rng, 100, "run2", "B"))
		both := mergeLogs(t, log, writeLog(t, h2, testTrailer, two, 50))
		n := 1 + rng.IntN(5)
		rules := []func(int) int{
			func(i int) int { return i % n },
			func(i int) int { return min(i/40, n-1) },
			func(int) int { return rng.IntN(n) },
		}
		for k, rule := range rules {
			m := mergeLogs(t, split(t, unzstd(t, log), n, rule)...)
			sameRecords(t, m.rows, sorted(one))
			if !reflect.DeepEqual(m.head, h) || !reflect.DeepEqual(m.end, testTrailer) {
				t.Errorf("rule %d: header %s, trailer %s", k, asJSON(m.head), asJSON(m.end))
			}
			m = mergeLogs(t, split(t, unzstd(t, both.log), n, rule)...)
			sameRecords(t, m.rows, sorted(one, two))
			if !bytes.Equal(m.log, both.log) {
				t.Errorf("rule %d: the pieces of a merged log make another log", k)
			}
		}
	}
}

// Logs of one run in which every client wrote its own rows only, in one file.
func TestMergeKeepsSharedHeader(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 3))
	records := noBreaks(slices.Concat(testRecords(rng, 50, "run1", "A"), testRecords(rng, 50, "run1", "B")))
	log := writeLog(t, testHeader, testTrailer, records, 50)
	m := mergeLogs(t, split(t, unzstd(t, log), 3, func(i int) int { return i % 3 })...)
	sameRecords(t, m.rows, sorted(records))
	if !reflect.DeepEqual(m.head, testHeader) {
		t.Errorf("header %s", asJSON(m.head))
	}
}

// oldLog has neither run nor client.
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
	if m := mergeLogs(t, split(t, abc.log2text(t), 3, func(i int) int { return i % 3 })...); !bytes.Equal(m.log, abc.log) {
		t.Errorf("pieces of a merged log: %+v\n%s\n%s", m.stats, asJSON(m.head), asJSON(abc.head))
	}
}

func (m merged) log2text(t *testing.T) []byte { return unzstd(t, m.log) }

func TestMergeCountsOnce(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	m := mergeLogs(t, a, a) // a copy under another name
	sameRecords(t, m.rows, sorted(ra))
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
	text := unzstd(t, a)
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
		_, err := Merge(c.ctx, filepath.Join(dir, c.out), c.inputs, MergeOptions{})
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
		h := testHeader
		h.Run, h.Client = run, client
		return writeLog(t, h, testTrailer, []Record{{Op: "GET", Run: run, Client: client, Start: 5, Duration: 7, Thread: thread}}, 9)
	}
	m := mergeLogs(t, wide("r1", "A", 60000), wide("r2", "B", 60000))
	for _, r := range m.rows {
		if r.Thread != 60000 {
			t.Errorf("%+v", r)
		}
	}
	dir := t.TempDir()
	for i, log := range [][]byte{wide("r1", "A", 60000), wide("r2", "A", 60000)} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Merge(t.Context(), filepath.Join(dir, "out"), []string{filepath.Join(dir, "0"), filepath.Join(dir, "1")}, MergeOptions{})
	if err == nil || !strings.Contains(err.Error(), "65536 threads") {
		t.Errorf("%v", err)
	}
}

func TestSorter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	records := testRecords(rng, 3000, "", "c")
	rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	s := newSorter(t.TempDir())
	s.maxRows, s.mostRows, s.fanIn = 10, 20, 5
	for i := range records {
		if err := s.add(&records[i], uint32(i%3)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	if len(s.files) > 5 {
		t.Errorf("%d files", len(s.files))
	}
	want := sorted(records)
	for range 2 {
		var got []Record
		var d rowDecoder
		if err := s.each(t.Context(), func(row *sortRow, _ bool) error {
			got = append(got, Record{})
			_, err := d.decode(row, &got[len(got)-1])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			want[i].Run = ""
		}
		sameRecords(t, got, want)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// Merging the pieces of a real log of 2019, whose uploads all say thread 12,
// must find that they are one run, and two copies shifted in time that they are not.
func TestMergeSharedPieces(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "shared", "data", "get-2019-old-columns.csv.zst")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no log of another implementation at %s", path)
	}
	_, all, err := readAll(log, 100)
	if err != nil {
		t.Fatal(err)
	}
	text := unzstd(t, log)
	for name, rule := range map[string]func(int) int{
		"in turn": func(i int) int { return i % 3 }, "by position": func(i int) int { return min(i/8000, 2) },
	} {
		m := mergeLogs(t, split(t, text, 3, rule)...)
		if m.stats.Runs != 1 {
			t.Errorf("%s: %+v", name, m.stats)
		}
		sameRecords(t, m.rows, sorted(all))
	}
	later := slices.Clone(all)
	for i := range later {
		later[i].Start += 1.5e6
	}
	if m := mergeLogs(t, text, writeLog(t, Header{}, Trailer{}, later, 9999)); m.stats.Runs != 2 || len(m.rows) != 2*len(all) {
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
		if err != nil {
			t.Fatal(err)
		}
		h := testHeader
		h.Run = fmt.Sprint(i)
		w, err := NewWriter(f, h)
		if err != nil {
			t.Fatal(err)
		}
		for range 40_000 {
			r := Record{Op: "GET", Client: "c", Key: strings.Repeat("k", 300), Start: rng.Int64N(1e12), Duration: 5}
			if err := w.Write([]Record{r}); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(testTrailer), f.Close()); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	calls := 0
	stats, err := Merge(t.Context(), filepath.Join(dir, "out"), names, MergeOptions{Progress: func(int64) {
		if calls++; calls%100 == 0 {
			runtime.GC() // what is in use, not what lies about
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

// Two clients, of which nearly no requests start together; and all, as in logs of a coarse clock.
func BenchmarkMerge(b *testing.B) {
	b.Run("apart", func(b *testing.B) { benchMerge(b, 1234) })
	b.Run("together", func(b *testing.B) { benchMerge(b, 0) })
}

func benchMerge(b *testing.B, apart int64) {
	const rows = 500_000
	dir := b.TempDir()
	var names []string
	for i, client := range []string{"A", "B"} {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		w, err := NewWriter(f, Header{Warp: "1", Run: "r", Client: client})
		if err != nil {
			b.Fatal(err)
		}
		records := benchRecords(rows)
		for k := range records {
			records[k].Client = client
			records[k].Start += int64(i) * apart
		}
		if err := errors.Join(w.Write(records), w.Close(testTrailer), f.Close()); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	start := cpuTime()
	b.ResetTimer()
	for i := range b.N {
		if _, err := Merge(b.Context(), filepath.Join(dir, fmt.Sprint("out", i)), names, MergeOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-start)/float64(b.N)/(2*rows), "cpu-ns/row")
}

// What several clients say is said once, and what they have counted is added up.
func TestJoinNotes(t *testing.T) {
	t.Parallel()
	got := joinNotes([]string{"slow", "2 requests had no answer", "slow", "2 requests had no answer", "3 requests had no answer",
		"9 of 20 points are lost", "9 of 20 points are lost", "5 connections for 8 requests", "5 connections for 8 requests"})
	if want := []string{"5 connections for 8 requests", "7 requests had no answer", "9 of 20 points are lost", "slow"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is no count is not added up.
func TestJoinNotesOverflow(t *testing.T) {
	t.Parallel()
	got := joinNotes([]string{"9223372036854775807 requests failed", "1 requests failed", "99999999999999999999 objects are left"})
	if want := []string{"1 requests failed", "9223372036854775807 requests failed", "99999999999999999999 objects are left"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Only those are named as reasons of an end that ended like that.
func TestCombinedReason(t *testing.T) {
	t.Parallel()
	done, cut, dead := Trailer{End: "completed", Reason: "all was written"}, Trailer{End: "interrupted", Reason: "it was cut off"}, Trailer{End: "aborted", Reason: "nobody was there"}
	for _, c := range []struct {
		of   []Trailer
		want Trailer
	}{
		{[]Trailer{done, done}, done},
		{[]Trailer{done, cut}, cut},
		{[]Trailer{done, dead}, dead},
		{[]Trailer{dead, cut, done}, Trailer{End: "aborted", Reason: "nobody was there", Notes: []string{"it was cut off"}}},
	} {
		if got := CombineTrailers(c.of); asJSON(got) != asJSON(c.want) {
			t.Errorf("%s, want %s", asJSON(got), asJSON(c.want))
		}
	}
}

// A client that the coordinator had lost is missing only where its log is not merged.
func TestMergeOfLostClients(t *testing.T) {
	t.Parallel()
	var logs [][]byte
	for i, client := range []string{"A", "B", "C", "D"} {
		h, end := testHeader, testTrailer
		h.Run, h.Client = "r1", client
		end.Notes = []string{"client c:1 was lost (gone): " + LostShare("C", 2, 4), "client d:1 was lost (gone): " + LostShare("D", 2, 4)}
		log := writeLog(t, h, end, testRecords(rand.New(rand.NewPCG(uint64(i), 7)), 50, "r1", client), 90)
		if i >= 2 { // those were killed
			log = writeLog(t, h, Trailer{}, testRecords(rand.New(rand.NewPCG(uint64(i), 7)), 50, "r1", client), 90)
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

// A piece of a merged log that lacks the header has other thread numbers than the log with it.
func TestMergeOfPieceNumbersThreads(t *testing.T) {
	t.Parallel()
	h := Header{Warp: "1", Run: "r1", Client: "A"}
	row := func(run string, thread uint32) Record {
		return Record{Op: "GET", Run: run, Client: "A", Key: "k", Start: 1e18, Duration: 5, Thread: thread}
	}
	one := writeLog(t, h, testTrailer, []Record{row("r1", 1)}, 9)
	h.Run = "r2"
	both := mergeLogs(t, one, writeLog(t, h, testTrailer, []Record{row("r2", 3), row("r2", 5)}, 9))
	lines := bytes.SplitAfter(unzstd(t, both.log), []byte("\n")) // columns, header, threads 1, 3+2 and 5+2
	with, without := slices.Concat(lines[0], lines[1], lines[2], lines[4]), slices.Concat(lines[0], lines[3])
	if m := mergeLogs(t, with, without); m.stats.Repeated != 0 || !slices.Equal(sorted(m.rows), sorted(both.rows)) {
		t.Errorf("%+v\n%+v", m.stats, m.rows)
	}
}

// An empty line before the header, or a header without a line end, is not what hides it from a merge.
func TestMergeOfHeadersEditedByHand(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "r1", "A")
	b, _ := testLog(t, 2, "r2", "A")
	lines := bytes.SplitAfter(unzstd(t, b), []byte("\n"))
	if want, got := mergeLogs(t, a, b), mergeLogs(t, a, slices.Concat(lines[0], []byte("\n\r\n"), bytes.Join(lines[1:], nil))); !bytes.Equal(got.log, want.log) {
		t.Errorf("behind an empty line: header %s", asJSON(got.head))
	}
	if want, got := mergeLogs(t, a, slices.Concat(lines[0], lines[1])), mergeLogs(t, a, slices.Concat(lines[0], bytes.TrimSpace(lines[1]))); !bytes.Equal(got.log, want.log) {
		t.Errorf("without a line end: header %s", asJSON(got.head))
	}
}

// Trailers of trailers would grow with every merge.
func TestMergeOfTrailersWithoutHeader(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "", "")
	b, _ := testLog(t, 2, "r1", "B")
	end := testTrailer
	end.Merged = []*Trailer{nil, {End: "completed", Merged: []*Trailer{nil}}}
	lines := bytes.SplitAfter(unzstd(t, a), []byte("\n"))
	cut := slices.Concat(lines[0], bytes.Join(lines[2:len(lines)-2], nil), []byte("# "+asJSON(end)+"\n"))
	for _, m := range []merged{mergeLogs(t, cut), mergeLogs(t, cut, b)} {
		for _, x := range append(m.end.Merged, &Trailer{}) {
			if x == nil || x.Merged != nil || len(m.head.Merged) != len(m.end.Merged) {
				t.Errorf("%s", asJSON(m.end))
			}
		}
	}
}

// A client of which one log has only the name and another one only how many threads it may use.
func TestMergeOfIdleClients(t *testing.T) {
	t.Parallel()
	a, _ := testLog(t, 1, "r1", "B")
	foreign := stripComments(unzstd(t, writeLog(t, Header{Warp: "1"}, testTrailer, []Record{{Op: "GET", Client: "A", Start: 1, Duration: 1}}, 9)))
	both := bytes.SplitAfter(unzstd(t, mergeLogs(t, foreign, a).log), []byte("\n"))
	empty := writeLog(t, Header{Warp: "1", Client: "A", Threads: 7}, testTrailer, nil, 9)
	for range 20 { // what depends on chance does so often enough
		m := mergeLogs(t, slices.Concat(both[0], both[1]), empty)
		if len(m.head.Merged) != 2 || m.head.Merged[0].Threads != 7 {
			t.Fatalf("header %s", asJSON(m.head))
		}
	}
}
