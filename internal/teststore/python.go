package teststore

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// pipFolder is where pip installs packages.
const pipFolder = "lib"

// pipInstall installs a PyPI package, and creates a program that runs Python with it.
func pipInstall(ctx context.Context, r recipe, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--target", filepath.Join(dir, pipFolder), r.source+"=="+r.version)
	if err := runQuietly(cmd, dir, log); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	program := "#!/bin/sh\nPYTHONPATH=\"$(dirname \"$0\")/" + pipFolder + "\" exec python3 \"$@\"\n"
	return os.WriteFile(filepath.Join(bin, exe(AIStorePython)), []byte(program), 0o755)
}
