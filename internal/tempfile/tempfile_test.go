package tempfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"warp/internal/check"
)

// namesIn returns the names of the files in a folder.
func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	check.OK(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A temporary file has no name while it is open, where the system allows that, and never one afterwards.
func TestCreate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f, err := Create(folder, "x-*")
	check.OK(t, err)
	if names := namesIn(t, folder); len(names) > 0 && runtime.GOOS != "windows" {
		t.Errorf("the open file has a name: %q", names)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Error(err)
	}
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "text" {
		t.Errorf("read %q: %v", b, err)
	}
	if err := Remove(f); err != nil {
		t.Error(err)
	}
	if names := namesIn(t, folder); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
}

// A failed replacement changes nothing, and nothing is left of the attempt.
func TestReplace(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, writeErr := io.WriteString(w, text)
			return errors.Join(err, writeErr)
		}
	}
	full := errors.New("disk full")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"first", nil, "first"}, {"second", full, "first"}, {"third", nil, "third"}} {
		if err := Replace(name, write(c.text, c.err)); !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.text, err, c.err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != c.want {
			t.Errorf("after %q the file has %q, want %q (%v)", c.text, b, c.want, err)
		}
		if names := namesIn(t, filepath.Dir(name)); len(names) != 1 {
			t.Errorf("after %q there are %q", c.text, names)
		}
	}
	if err := Replace(filepath.Join(name, "x"), write("", nil)); err == nil {
		t.Error("no error for a folder that is a file")
	}
	info, err := os.Stat(name)
	check.OK(t, err)
	if mode := info.Mode().Perm(); mode != 0o644 && runtime.GOOS != "windows" {
		t.Errorf("the mode is %o", mode)
	}
}
