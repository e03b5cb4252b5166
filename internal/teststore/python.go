package teststore

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
)

// pipFolder is where pip installs packages.
const pipFolder = "lib"

// pipInstall returns a function that installs a PyPI package and others that it needs, and creates a program of that name,
// which runs Python with them and with arguments.
func pipInstall(name, arguments string, others ...string) func(ctx context.Context, r recipe, dir string, log io.Writer) error {
	return func(ctx context.Context, r recipe, dir string, log io.Writer) error {
		args := []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", filepath.Join(dir, pipFolder), r.source + "==" + r.version}
		if err := runQuietly(exec.CommandContext(ctx, "python3", append(args, others...)...), dir, log); err != nil {
			return err
		}
		return writeProgram(dir, name, "PYTHONPATH=\"$(dirname \"$0\")/"+pipFolder+"\" exec python3 "+arguments+"\"$@\"")
	}
}
