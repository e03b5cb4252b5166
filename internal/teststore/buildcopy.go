package teststore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The wrapper that builds InfluxDB's query language, part of which is in Rust.
const fluxPkgConfig = "github.com/influxdata/pkg-config@v0.3.0"

// buildInfluxd builds with the wrapper, which needs cargo.
func buildInfluxd(ctx context.Context, r recipe, dir string, log io.Writer) error {
	wrapper := exec.CommandContext(ctx, "go", "install", fluxPkgConfig)
	wrapper.Env = goEnv("GOBIN=" + filepath.Join(dir, "bin"))
	if err := runQuietly(wrapper, dir, log); err != nil {
		return err
	}
	env := []string{"CGO_ENABLED=1", "PKG_CONFIG=" + filepath.Join(dir, "bin", exe("pkg-config"))}
	if toolchain := rustToolchain(ctx, dir); toolchain != "" {
		env = append(env, "RUSTUP_TOOLCHAIN="+toolchain)
	}
	return goBuildCopy(ctx, r, dir, log, env, "-tags=sqlite_foreign_keys,sqlite_json", "./cmd/influxd")
}

func buildPushgateway(ctx context.Context, r recipe, dir string, log io.Writer) error {
	return goBuildCopy(ctx, r, dir, log, []string{"CGO_ENABLED=0"}, ".")
}

// goBuildCopy builds in a copy of a module's source, because go install rejects a module with
// replace directives and needs a list of all its versions, and the module cache is read-only.
func goBuildCopy(ctx context.Context, r recipe, dir string, log io.Writer, env []string, args ...string) error {
	source, err := downloadModule(ctx, r.source+"@"+r.version, dir)
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, "source")
	if err := os.CopyFS(tree, os.DirFS(source)); err != nil {
		return err
	}
	out := "-o=" + filepath.Join(dir, "bin") + string(filepath.Separator)
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", out}, args...)...)
	cmd.Env = goEnv(env...)
	return runQuietly(cmd, tree, log)
}

// rustToolchain returns rustup's default toolchain here. The source asks for another one, which
// would be downloaded.
func rustToolchain(ctx context.Context, dir string) string {
	cmd := exec.CommandContext(ctx, "rustup", "show", "active-toolchain")
	cmd.Dir = dir
	out, err := cmd.Output()
	if name := strings.Fields(string(out)); err == nil && len(name) > 0 {
		return name[0]
	}
	return ""
}

// downloadModule returns the directory of a module's source in the module cache.
func downloadModule(ctx context.Context, module, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Env = dir, goEnv()
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &got); jsonErr != nil || got.Dir == "" {
		return "", fmt.Errorf("downloading %s: %s %v", module, got.Error, err)
	}
	return got.Dir, nil
}
