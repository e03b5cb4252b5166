package runsocket

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A folder may contain sockets of the user.
type folder struct{ path string }

// folders are the folders of this user, the best one first. Commands look into all of
// them: who marks a run may have another environment than who has started it. A
// runtime folder that the user has chosen is the only one.
func folders(env func(string) (string, bool)) (all []folder) {
	usual := userFolder()
	if dir, ok := env("XDG_RUNTIME_DIR"); ok && filepath.IsAbs(dir) && filepath.Clean(dir) != usual {
		return []folder{{filepath.Join(dir, "warp")}}
	}
	if info, err := os.Stat(usual); err == nil && info.IsDir() {
		all = append(all, folder{filepath.Join(usual, "warp")})
	}
	return append(all, folder{filepath.Join(tempFolder(env), "warp-"+userName())})
}

// tempFolder is os.TempDir of an environment.
func tempFolder(env func(string) (string, bool)) string {
	if dir, ok := env("TMPDIR"); ok && dir != "" {
		return dir
	}
	return os.TempDir()
}

// make creates the folder if it does not exist, and checks it.
func (f folder) make() error {
	if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return f.check()
}

// check refuses a folder that somebody else can reach: whoever made it could
// answer in the place of a run.
func (f folder) check() error {
	info, err := os.Lstat(f.path)
	switch {
	case err != nil:
		return err
	case info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, not a folder", f.path)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", f.path)
	}
	return checkOwner(f.path, info)
}
