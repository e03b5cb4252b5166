// Package tempfile creates temporary files: some without a name, and others that replace a file when they are complete.
package tempfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Create creates a file and removes its name at once if the system allows that, so that even a killed process leaves nothing
// behind. An empty folder means the one that the system has for temporary files.
func Create(folder, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// Remove closes a file of [Create] and removes its name where that was not possible before.
func Remove(f *os.File) error {
	err := f.Close()
	if rerr := os.Remove(f.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// Replace writes the file name, which everybody may read. Other processes see the file before or all of the new one, and it
// survives a crash of the system. If write fails, the file is unchanged.
func Replace(name string, write func(io.Writer) error) error {
	next, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(next)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = next.Chmod(0o644)
	}
	if err == nil {
		err = next.Sync()
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
