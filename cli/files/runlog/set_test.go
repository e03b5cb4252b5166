package runlog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"warp/internal/check"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.csv.zst", "b.json", "[c].csv", ".hidden.csv", "notes.txt"} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
	for _, test := range []struct {
		arg  string
		want []string
		one  bool
	}{
		{"-", []string{"-"}, true},
		{dir, at("[c].csv", "a.csv.zst", "b.json"), false},
		{filepath.Join(dir, "*.csv*"), at(".hidden.csv", "[c].csv", "a.csv.zst"), false},
		{filepath.Join(dir, "[c].csv"), at("[c].csv"), true}, // it exists, so it is not a pattern
		{filepath.Join(dir, "missing"), at("missing"), true},
	} {
		set, err := Find(test.arg)
		slices.Sort(set.Paths)
		if err != nil || !slices.Equal(set.Paths, test.want) || set.One != test.one {
			t.Errorf("%s: %+v, %v; want %v", test.arg, set, err, test.want)
		}
	}
	if _, err := Find(filepath.Join(dir, "*.none")); err == nil {
		t.Error("no error for a pattern that matches no file")
	}
}
