package runlog

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/pkg/oplog"
)

// Path returns the path of a new op log: the name given with --benchdata, or a
// name made of the kind, the time and the id in the folder given with it.
func Path(benchdata, kind, id string) string {
	return PathOr(benchdata, oplog.DefaultName(kind, time.Now(), id))
}

// PathOr is Path with another default name.
func PathOr(benchdata, name string) string {
	info, err := os.Stat(benchdata)
	switch {
	case benchdata == "":
		return name
	case err == nil && info.IsDir(), os.IsPathSeparator(benchdata[len(benchdata)-1]):
		return filepath.Join(benchdata, name)
	}
	return strings.TrimSuffix(benchdata, oplog.Suffix) + oplog.Suffix
}

// Ready returns an error if the op log cannot be made now.
func Ready(path string) error {
	if err := CheckNew(path); err != nil {
		return err
	}
	return files.TryFolder("--benchdata", path)
}

// CheckNew returns an error if the op log could not be written, before any load is made.
func CheckNew(path string) error {
	const another = "name another place with --benchdata"
	if err := files.CheckNew("--benchdata", path, another); err != nil {
		return err
	}
	if _, err := os.Lstat(path + oplog.PartSuffix); err == nil {
		return exit.Usagef("--benchdata: %s%s exists already: another warp is writing it, or one that was killed left it", path, oplog.PartSuffix).
			WithHint("choose another name or move it away; it can be analyzed")
	}
	return nil
}
