package wholefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
)

func TestRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	for size, want := range map[int]string{0: "", 1024: "", 1025: "file: larger than 1 KiB, the limit"} {
		check.OK(t, os.WriteFile(name, make([]byte, size), 0o600))
		data, err := Read(name, 1024)
		switch {
		case want == "" && (err != nil || len(data) != size):
			t.Errorf("%d bytes: %d read, %v", size, len(data), err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "missing"), 1024); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// A device that never ends is read up to the limit.
func TestReadEndless(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero")
	}
	if _, err := Read("/dev/zero", 2<<20); err == nil || !strings.Contains(err.Error(), "larger than 2 MiB") {
		t.Errorf("/dev/zero: %v", err)
	}
}
