package oplog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A File is a log that is being written under a temporary name. It gets its
// own name when it is complete, and never at the cost of another file.
type File struct {
	*Writer
	f    *os.File
	path string
}

// The suffixes of op logs. While a log is being written, its name ends with both.
const (
	Suffix     = ".csv.zst"
	PartSuffix = ".part"
)

// CheckNew returns an error if there is something at path, where Create would fail.
func CheckNew(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already; warp does not overwrite it: choose another name or move it away", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("creating the op log: %w", err)
	}
	return nil
}

// Create starts the log that will be at path. It writes to path + ".part", and
// fails where either exists.
func Create(path string, h Header) (*File, error) {
	if err := CheckNew(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+PartSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s%s exists already: another warp is writing it, or one that was killed left it (it can be analysed); choose another name or move it away",
			path, PartSuffix)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the op log: %w", err)
	}
	w, err := NewWriter(f, h)
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name()) // ours, and without a single row
		return nil, err
	}
	return &File{Writer: w, f: f, path: path}, nil
}

// Name is where the log is now: the temporary name.
func (f *File) Name() string { return f.f.Name() }

// Commit ends the log, has it stored and gives it its final name, which it
// returns. Where that fails the log stays under its temporary name, and the
// error and the returned path say so. An error of an earlier Write or Flush is
// not repeated: its caller knows it.
func (f *File) Commit(t Trailer) (string, error) {
	part := f.f.Name()
	known := f.err != nil
	err := f.Close(t)
	if err == nil {
		err = f.f.Sync()
	}
	if cerr := f.f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = moveWithoutReplacing(part, f.path)
	}
	switch {
	case known:
		return part, fmt.Errorf("the op log stays at %s", part)
	case err != nil:
		return part, fmt.Errorf("the op log stays at %s: %w", part, err)
	}
	syncFolder(filepath.Dir(f.path))
	return f.path, nil
}

// Discard ends the log without keeping it.
func (f *File) Discard() error {
	f.closed = true
	return errors.Join(f.f.Close(), os.Remove(f.f.Name()))
}

// moveWithoutReplacing is a rename that fails where to exists. A hard link is
// the only portable way to say that; file systems without links get a name
// reserved by exclusive creation first, which rename may then replace.
func moveWithoutReplacing(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return errAppeared(to)
	}
	return moveByReserving(from, to)
}

func errAppeared(path string) error {
	return fmt.Errorf("%s has appeared in the meantime and is not overwritten", path)
}

func moveByReserving(from, to string) error {
	reserved, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return errAppeared(to)
	}
	if err != nil {
		return err
	}
	if err := reserved.Close(); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		_ = os.Remove(to) // the empty file of three lines above
		return err
	}
	return nil
}

// syncFolder makes the new name survive a power cut where the system can do
// that. The data is safe already, so a refusal (Windows) does not matter.
func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// DefaultName is the name of a log for which the user has given none.
func DefaultName(benchmark string, t time.Time, id string) string {
	clean := strings.NewReplacer("/", "-", "\\", "-", "\x00", "-").Replace
	return "warp-" + clean(benchmark) + "-" + t.Format("2006-01-02[150405]") + "-" + clean(id) + Suffix
}
