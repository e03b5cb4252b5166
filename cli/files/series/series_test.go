package series_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/files/series"
	"warp/internal/check"
)

func create(t *testing.T) *series.Folder {
	t.Helper()
	f, err := series.Create("--logs", filepath.Join(t.TempDir(), "runs"), series.Manifest{Kind: "sweep", Seed: 1 << 63, Benchmark: []string{"get"}})
	check.OK(t, err)
	t.Cleanup(f.Close)
	return f
}

// What a process leaves that was killed during its second run is complete, and says that this run is missing.
func TestResumeAfterACrash(t *testing.T) {
	t.Parallel()
	f := create(t)
	for _, n := range []string{"1", "2", "3"} {
		f.Add("", series.Setting{Flag: "concurrent", Value: n})
	}
	check.OK(t, f.Begin(f.Runs[0]))
	check.OK(t, os.WriteFile(f.LogPath(f.Runs[0]), nil, 0o644))
	check.OK(t, f.Done(f.Runs[0]))
	check.OK(t, f.Begin(f.Runs[1]))
	check.OK(t, os.WriteFile(f.LogPath(f.Runs[1])+".part", []byte("x"), 0o644))
	f.Close() // as a kill would

	again, err := series.Open(f.Path, "sweep")
	check.OK(t, err)
	defer again.Close()
	missing := again.Missing()
	if again.Seed != 1<<63 || len(missing) != 2 || missing[0].Log != "002.csv.zst" || missing[0].Varied[0].Arg() != "--concurrent=2" || missing[0].State != series.Running {
		t.Fatalf("%+v", again.Manifest)
	}
	check.OK(t, again.Begin(missing[0]))
	if _, err := os.Stat(again.LogPath(missing[0]) + ".part"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old log is in the way: %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.Path, "incomplete", "1-002.csv.zst.part")); err != nil {
		t.Error(err)
	}
	check.OK(t, again.Failed(missing[0], errors.New("no route to host")))
	m, err := series.Read(f.Path, "sweep")
	check.OK(t, err)
	if r := m.Runs[1]; r.State != series.Failed || r.Attempts != 2 || r.Error != "no route to host" {
		t.Errorf("%+v", r)
	}
}

// Only one process at a time adds to a folder.
func TestLocked(t *testing.T) {
	t.Parallel()
	f := create(t)
	if _, err := series.Open(f.Path, "sweep"); err == nil || !strings.Contains(err.Error(), "another warp is working in the folder") {
		t.Fatal(err)
	}
	f.Close()
	again, err := series.Open(f.Path, "sweep")
	check.OK(t, err)
	again.Close()
}

func TestBadFolders(t *testing.T) {
	t.Parallel()
	f := create(t)
	for _, test := range []struct{ manifest, want string }{
		{"{", "is damaged"},
		{"{}", "has version 0"},
		{`{"version": 1, "kind": "find"}`, "is a folder of warp find, not of warp sweep"},
		{`{"version": 1, "kind": "sweep", "runs": [{"log": "../../x"}]}`, "the log of run 1 has an invalid name"},
		{`{"version": 1, "kind": "sweep", "runs": [null]}`, "the log of run 1 has an invalid name"},
	} {
		check.OK(t, os.WriteFile(filepath.Join(f.Path, series.ManifestName), []byte(test.manifest), 0o644))
		if _, err := series.Read(f.Path, "sweep"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.manifest, err)
		}
	}
	if _, err := series.Read(t.TempDir(), "sweep"); err == nil || !strings.Contains(err.Error(), "is not a folder of runs") {
		t.Error(err)
	}
	if _, err := series.Create("--logs", f.Path, series.Manifest{}); err == nil || !strings.Contains(err.Error(), "--logs: cannot make the folder") {
		t.Error(err)
	}
}

func TestManifestKeepsRoles(t *testing.T) {
	t.Parallel()
	f := create(t)
	f.Add("confirmation")
	check.OK(t, f.Save())
	m, err := series.Read(f.Path, "sweep")
	if err != nil || m.Runs[0].Role != "confirmation" {
		t.Errorf("%v %+v", err, m)
	}
	if series.KindOf(f.Path) != "sweep" || series.KindOf(t.TempDir()) != "" {
		t.Error("kind")
	}
}
