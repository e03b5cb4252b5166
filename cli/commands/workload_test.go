package commands

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"warp/internal/check"
)

// The logs of a folder are in the order of their names, without empty files.
func TestLogsOf(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"b": "x", "a": "x", "empty": "", "below/c": "x"} {
		path := filepath.Join(folder, name)
		check.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	got, err := logsOf([]string{folder, "-"})
	want := []string{filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "below", "c"), "-"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	check.OK(t, os.Truncate(want[2], 0))
	if got, err := logsOf([]string{filepath.Dir(want[2])}); err == nil {
		t.Errorf("a folder of empty files has the logs %v", got)
	}
}
