package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	check.OK(t, os.WriteFile(old, nil, 0o644))
	for path, want := range map[string]string{
		filepath.Join(dir, "new"):         "",
		old:                               "exists already",
		filepath.Join(dir, "none", "new"): "there is no folder",
		filepath.Join(old, "new"):         "is not a folder",
	} {
		err := CheckNew("--out", path, "name another place")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--out: ")) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// A file that cannot be written completely is removed, and one of another is not.
func TestWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new")
	full := errors.New("no room")
	if err := WriteNew(path, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a part of the file is left")
	}
	write := func(text string) error {
		return WriteNew(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	}
	check.OK(t, write("first"))
	if err := write("second"); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a file that exists: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("the file has %q, %v", text, err)
	}
}
