package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/pkg/oplog"
)

const logSuffix = ".csv.zst"

// logPath is where an op log goes: the name given with --benchdata, or one that
// tells what was done, and when, in the folder that --benchdata names.
func logPath(benchdata, kind, id string) string {
	return logPathOr(benchdata, oplog.DefaultName(kind, time.Now(), id))
}

// logPathOr is logPath with the name that a log has where none is given.
func logPathOr(benchdata, name string) string {
	info, err := os.Stat(benchdata)
	switch {
	case benchdata == "":
		return name
	case err == nil && info.IsDir(), os.IsPathSeparator(benchdata[len(benchdata)-1]):
		return filepath.Join(benchdata, name)
	}
	return strings.TrimSuffix(benchdata, logSuffix) + logSuffix
}

// checkLog refuses an op log that could not be written, before any load is made.
func checkLog(path string) error {
	const another = "name another place with --benchdata"
	if err := checkNew("--benchdata", path, another); err != nil {
		return err
	}
	if _, err := os.Lstat(path + oplog.PartSuffix); err == nil {
		return exit.Usagef("--benchdata: %s%s exists already: another warp is writing it, or one that was killed left it", path, oplog.PartSuffix).
			WithHint("choose another name or move it away; it can be analyzed")
	}
	return nil
}

// checkNew refuses a file that exists already, or whose folder does not.
func checkNew(flag, path, hint string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("%s: there is no folder %s", flag, folder).WithHint("create it, or %s", hint)
	case err != nil:
		return exit.Usagef("%s: %s: %w", flag, folder, reason(err)).WithHint("%s", hint)
	case !info.IsDir():
		return exit.Usagef("%s: %s is not a folder", flag, folder).WithHint("%s", hint)
	}
	switch _, err := os.Lstat(path); {
	case err == nil:
		return exit.Usagef("%s: %s exists already", flag, path).WithHint("choose another name or move it away")
	case !errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("%s: %s: %w", flag, path, reason(err)).WithHint("%s", hint)
	}
	return nil
}

// tryFolder finds out whether a file can be made in the folder of path, by making one.
func tryFolder(flag, path string) error {
	folder := filepath.Dir(path)
	probe, err := os.CreateTemp(folder, ".warp-*")
	if err != nil {
		return exit.Usagef("%s: cannot write to the folder %s: %w", flag, folder, reason(err)).WithHint("name another place with %s", flag)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
