// Package files creates files that must not exist yet, and checks in advance that this is possible.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"warp/cli/exit"
)

// Ready returns an error if the file that a flag names cannot be made now.
func Ready(flag, path string) error {
	if err := CheckNew(flag, path, "name another place"); err != nil {
		return err
	}
	return TryFolder(flag, path)
}

// CheckNew refuses a file that exists, or whose folder does not. The error names the
// flag, and the hint says what else to do. The path "" is no file.
func CheckNew(flag, path, hint string) error {
	if path == "" {
		return nil
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("%s: there is no folder %s", flag, folder).WithHint("create it, or %s", hint)
	case err != nil:
		return exit.Usagef("%s: %s: %w", flag, folder, Reason(err)).WithHint("%s", hint)
	case !info.IsDir():
		return exit.Usagef("%s: %s is not a folder", flag, folder).WithHint("%s", hint)
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		return exit.Usagef("%s: %s exists already", flag, path).WithHint("choose another name or move it away")
	case !errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("%s: %s: %w", flag, path, Reason(err)).WithHint("%s", hint)
	}
	return nil
}

// TryFolder checks that a file can be made in the folder of path, by making one. The path "" is no file.
func TryFolder(flag, path string) error {
	if path == "" {
		return nil
	}
	folder := filepath.Dir(path)
	probe, err := os.CreateTemp(folder, ".warp-*")
	if err != nil {
		return exit.Usagef("%s: cannot write to the folder %s: %w", flag, folder, Reason(err)).WithHint("name another place with %s", flag)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// WriteNew writes a file that must not exist. If that fails, nothing is left of it.
func WriteNew(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Errorf("%s exists already", path).WithHint("choose another name or move it away")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, Reason(err))
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			os.Remove(path)
			err = fmt.Errorf("%s: %w", path, Reason(err))
		}
	}()
	w := bufio.NewWriter(file)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// Reason returns an error of the system without the call and the path, which
// messages of warp name themselves.
func Reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
