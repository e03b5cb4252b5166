package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// madeUpLog writes a log of a mixed run.
func madeUpLog(t *testing.T, path, client string) (rows int) {
	t.Helper()
	f, err := oplog.Create(path, oplog.Header{Warp: "test", Run: "run0", Client: client, Windowed: true})
	check.OK(t, err)
	l := testlog.Load{Ops: []string{"GET", "PUT"}, Threads: 2, Hosts: 2, Length: 2 * time.Second, Latency: 20 * time.Millisecond, Failures: .05}
	all := l.Rows(1)
	for i := range all {
		all[i].Run, all[i].Client = "run0", client
	}
	w := oplog.Window{Start: testlog.Epoch, Begin: testlog.Epoch, End: all[len(all)-1].End()}
	check.OK(t, errors.Join(f.SetWindow(oplog.Window{Start: w.Start, Begin: w.Begin}), f.Write(all)))
	if _, err := f.Commit(oplog.Trailer{End: "completed", Window: &w}); err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// An export for which there is no room is an error about the output, not about the log.
func TestExportOnFullDisk(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "one.csv.zst")
	madeUpLog(t, log, "aaaa")
	for _, format := range []string{"csv", "hlog", "hgrm"} {
		var errw bytes.Buffer
		a := &app{in: strings.NewReader(""), out: fullDisk{}, errw: &errw, env: mapEnvironment(nil)}
		code := a.main(t.Context(), []string{"export", log, "-o", "-", "--format", format, "--analyze.op=GET"})
		if want := "warp: error: writing the result: write out: no space left on device\n"; code != exit.Failed || errw.String() != want {
			t.Errorf("%s: exit code %d, %q; want %q", format, code, errw.String(), want)
		}
	}
}

// TestExport has every format, from a file, several and standard input, to a
// file and standard output.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.csv.zst"), filepath.Join(dir, "two.csv.zst")
	rows := madeUpLog(t, one, "aaaa")
	madeUpLog(t, two, "bbbb")
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args  []string
		file  string // "" is standard output
		lines int    // -1 is any number
		want  string
	}{
		{[]string{one, "-o", path("a.csv")}, path("a.csv"), 1 + rows, "idx,thread,op,"},
		{[]string{one, two, "-o", path("b.CSV")}, path("b.CSV"), 1 + 2*rows, ",bbbb,"},
		{[]string{one, "-o", path("c"), "--format=csv", "--analyze.limit=10"}, path("c"), 11, "idx,"},
		{[]string{one, "-o", "-", "--format=csv"}, "", 1 + rows, "idx,"},
		{[]string{one, "-o", path("d.hlog")}, path("d.hlog"), -1, "Tag=GET,0.000,1.000,"},
		{[]string{one, two, "-o", "-", "--format=hlog", "--analyze.dur=500ms"}, "", -1, "Tag=PUT,0.500,0.500,"},
		{[]string{one, "-o", path("e.hgrm"), "--analyze.op=put"}, path("e.hgrm"), -1, "#[Max "},
		{[]string{one, "-o", path("f.hgrm"), "--analyze.op=get", "--analyze.host=host1:9000", "--json"}, path("f.hgrm"), -1, "#[Max "},
	} {
		r := runWarp(t, nil, append([]string{"export"}, c.args...)...)
		got := r.out
		if c.file != "" {
			text, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatalf("%q: %v\n%+v", c.args, err, r)
			}
			got = string(text)
		}
		if lines := strings.Count(got, "\n"); r.code != exit.OK || c.lines >= 0 && lines != c.lines || !strings.Contains(got, c.want) {
			t.Errorf("%q: exit %d, %d lines, want %d and %q: %.300s\n%s", c.args, r.code, lines, c.lines, c.want, got, r.err)
		}
	}
	onlyGets := runWarp(t, nil, "export", one, "-o", "-", "--format=csv", "--analyze.op=get", "--analyze.host=host1:9000")
	if n := strings.Count(onlyGets.out, ",GET,"); n == 0 || n != strings.Count(onlyGets.out, "http://host1:9000") || n+1 != strings.Count(onlyGets.out, "\n") {
		t.Errorf("one operation at one host: %.500s", onlyGets.out)
	}
	text, err := os.ReadFile(one)
	check.OK(t, err)
	var out, errw bytes.Buffer
	a := &app{in: bytes.NewReader(text), out: &out, errw: &errw, env: mapEnvironment(nil)}
	if code := a.main(t.Context(), []string{"export", "-", "-o", "-", "--format=csv"}); code != exit.OK || strings.Count(out.String(), "\n") != 1+rows {
		t.Errorf("from standard input: exit %d\n%.300s%s", code, &out, &errw)
	}
	several := runWarp(t, nil, "export", one, "-o", path("g.hgrm"))
	if _, err := os.Stat(path("g.hgrm")); several.code != exit.Failed || !strings.Contains(several.err, "--analyze.op") || strings.Count(several.err, "\n") != 1 || err == nil {
		t.Errorf("two operations in one distribution: %+v, %v", several, err)
	}
	const aggregated = "../pkg/miniowarp/testdata/aggregated.json"
	for _, name := range []string{"h.csv", "h.hgrm", "h.hlog"} {
		if r := runWarp(t, nil, "export", aggregated, "-o", path(name)); r.code != exit.Failed || strings.Count(r.err, "\n") > 2 {
			t.Errorf("results without requests as %s: %+v", name, r)
		}
	}
}
