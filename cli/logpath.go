package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/cli/newfile"
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
	if err := newfile.Check("--benchdata", path, another); err != nil {
		return err
	}
	if _, err := os.Lstat(path + oplog.PartSuffix); err == nil {
		return exit.Usagef("--benchdata: %s%s exists already: another warp is writing it, or one that was killed left it", path, oplog.PartSuffix).
			WithHint("choose another name or move it away; it can be analyzed")
	}
	return nil
}
