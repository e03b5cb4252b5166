package merge

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// markedClient writes the log of a client whose clock is ahead, with marks.
func markedClient(t *testing.T, path, client string, ahead int64, marks ...oplog.Mark) {
	t.Helper()
	f, err := oplog.Create(path, oplog.Header{Warp: "test", Run: "r", Client: client, Windowed: true, ClockOffset: ahead})
	check.OK(t, err)
	w := oplog.Window{Start: 1e9 + ahead, Begin: 2e9 + ahead, End: 9e9 + ahead}
	must := func(err error) {
		check.OK(t, err)
	}
	must(f.SetWindow(w))
	for i := range int64(8) {
		for _, m := range marks {
			if m.At/1e9 == i+2 {
				m.At += ahead
				must(f.AddMark(m))
			}
		}
		must(f.Write([]oplog.Record{{Op: "GET", Client: client, Objects: 1, Start: (i+1)*1e9 + ahead, Duration: time.Second}}))
	}
	_, err = f.Commit(oplog.Trailer{End: "completed", Window: &w})
	must(err)
}

// TestMarksSurviveAMerge checks that marks occur once, by the common clock, before the first row,
// also after a second merge.
func TestMarksSurviveAMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	first, second := oplog.Mark{At: 3e9 + 7, Text: "disk pulled"}, oplog.Mark{At: 5e9, Text: "disk back"}
	late := oplog.Mark{At: 8e9, Text: "only the coordinator knows"}
	markedClient(t, file("a"), "1", 12345, first, second)
	markedClient(t, file("b"), "2", -777, first)
	markedClient(t, file("c"), "3", 0)
	check := func(path string, want ...oplog.Mark) {
		t.Helper()
		r, err := oplog.Open(path)
		check.OK(t, err)
		defer func() { _ = r.Close() }()
		if _, err := r.Read(make([]oplog.Record, 1)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Marks()); got != fmt.Sprint(want) {
			t.Errorf("before the first row of %s: %s, want %v", filepath.Base(path), got, want)
		}
	}
	for _, m := range []struct {
		to     string
		inputs []string
		o      Options
		want   []oplog.Mark
	}{
		{"ab", []string{"a", "b"}, Options{Marks: []oplog.Mark{second, late}}, []oplog.Mark{first, second, late}},
		{"abc", []string{"c", "ab"}, Options{}, []oplog.Mark{first, second, late}},
		{"bc", []string{"c", "b"}, Options{}, []oplog.Mark{first}},
	} {
		var inputs []string
		for _, name := range m.inputs {
			inputs = append(inputs, file(name))
		}
		if _, err := Logs(t.Context(), file(m.to), inputs, m.o); err != nil {
			t.Fatal(err)
		}
		check(file(m.to), m.want...)
	}
}
