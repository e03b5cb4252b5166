// Package testbinary builds warp and the programs of this module, for tests that run them as users do.
package testbinary

import (
	"fmt"
	"os"
	"os/exec"
)

// Build builds the package pkg, such as warp, into the file path, with more flags of go build.
// It uses make build's compiler flags, so that both share the build cache.
func Build(path, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", path}, flags...)
	build := exec.Command("go", append(args, pkg)...)
	if pkg == "warp" {
		build.Dir = "../.." // with the versions of its own go.mod
	}
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}
