// Package testbinary builds warp and the programs of this module, for tests that run them as users do.
package testbinary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// Run builds warp in a temporary folder, runs tests with its path, and returns their exit code.
func Run(tests func(warp string) int) int {
	dir, err := os.MkdirTemp("", "warp-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	warp := filepath.Join(dir, "warp")
	if runtime.GOOS == "windows" {
		warp += ".exe"
	}
	if err := Build(warp, "warp"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests(warp)
}
