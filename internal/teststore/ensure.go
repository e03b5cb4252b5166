// Package teststore builds, caches and starts the real object stores and receivers of figures for
// the tests. It also provides a proxy that injects faults.
//
// Everything comes from package registries at a pinned version and is built once into the user's
// cache directory. Everything listens on loopback (S3Mock also elsewhere), in a temporary directory, and ends with the test
// that started it.
package teststore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Names of the stores for Ensure and Start.
const (
	MinIO     = "minio"
	Versitygw = "versitygw"
	Garage    = "garage"
	FakeGCS   = "fake-gcs-server"
	Azurite   = "azurite-blob"
	Moto      = "moto"
	S3Mock    = "s3mock"
	OldS3Mock = "s3mock3"
	Embedded  = "embedded"
)

// Names of the receivers for Ensure and StartReceiver.
const (
	Influxd        = "influxd"
	StatsdExporter = "statsd_exporter"
	Pushgateway    = "pushgateway"
)

// Names of the programs that render and check the chart for Kubernetes, for Ensure.
const (
	Helm          = "helm"
	Kubeconform   = "kubeconform"
	KubeAPIServer = "kube-apiserver"
)

// AIStorePython is a Python with NVIDIA's AIStore client, for Ensure.
const AIStorePython = "aistore-python"

// Nfpm makes packages for Debian and Red Hat. Its version is also in the
// Makefile.
const Nfpm = "nfpm"

// ErrUnavailable means that a program cannot be built here because a tool that it needs is missing.
var ErrUnavailable = errors.New("it cannot be had here")

// ErrNotRequested means that nothing is built in this run, because WARP_TEST_STORES is not 1.
var ErrNotRequested = errors.New("make test leaves it out, make test-stores runs it")

// MaySkip reports whether a test that got this error instead of a program may be skipped.
func MaySkip(err error) bool {
	return errors.Is(err, ErrNotRequested) || errors.Is(err, ErrUnavailable) && !InCI()
}

// Requested reports whether this run includes the stores and receivers that have to be built.
func Requested() bool { return os.Getenv("WARP_TEST_STORES") == "1" }

// A recipe describes how to build one program.
type recipe struct {
	name, title, version, takes string
	tools                       []string // the programs that build it
	build                       func(ctx context.Context, r recipe, dir string, log io.Writer) error
	source                      string // Go package, module, crate, npm package, PyPI package, or artifact of Maven
	beside                      string // a directory that the program needs next to it; "" = none
}

// recipes lists the programs. Those that take the longest come first, so that nothing waits for them
// at the end. MinIO does not tag module versions, hence the pseudo-version.
func recipes() []recipe {
	return []recipe{
		{name: Garage, title: "Garage", version: "2.5.0", takes: "about 7 minutes",
			tools: []string{"cargo"}, build: cargoInstall, source: "garage"},
		{name: Influxd, title: "InfluxDB", version: "v2.9.1", takes: "about 4 minutes",
			tools: []string{"go", "gcc", "cargo", "pkg-config"}, build: buildInfluxd, source: "github.com/influxdata/influxdb/v2"},
		{name: MinIO, title: "MinIO", version: "v0.0.0-20260212201848-7aac2a2c5b7c", takes: "about 4 minutes",
			tools: []string{"go"}, build: goInstall, source: "github.com/minio/minio"},
		{name: KubeAPIServer, title: "kube-apiserver", version: kubernetesVersion, takes: "about 4 minutes",
			tools: []string{"go"}, build: buildKubeAPIServer, source: kubernetesModule},
		{name: Helm, title: "Helm", version: "v3.22.0", takes: "about a minute",
			tools: []string{"go"}, build: goInstall, source: "helm.sh/helm/v3/cmd/helm"},
		{name: Versitygw, title: "versitygw", version: "v1.8.0", takes: "about a minute",
			tools: []string{"go"}, build: goInstall, source: "github.com/versity/versitygw/cmd/versitygw"},
		{name: FakeGCS, title: "fake-gcs-server", version: "v1.52.2", takes: "about a minute",
			tools: []string{"go"}, build: goInstall, source: "github.com/fsouza/fake-gcs-server"},
		{name: Azurite, title: "Azurite", version: "3.35.0", takes: "about a minute",
			tools: []string{"node", "npm"}, build: npmInstall, source: "azurite", beside: "node_modules"},
		{name: Moto, title: "moto", version: "5.2.5", takes: "about a minute",
			tools: []string{"python3"}, build: pipInstall(Moto, "-m moto.server ", "flask==3.1.3", "flask-cors==6.0.2"), source: "moto[s3]", beside: pipFolder},
		{name: S3Mock, title: "S3Mock", version: "5.2.0", takes: "about 20 seconds",
			tools: []string{"java", "mvn"}, build: mavenCopy(S3Mock), source: s3mockArtifact, beside: jarFolder},
		{name: OldS3Mock, title: "S3Mock 3", version: "3.12.0", takes: "about 20 seconds",
			tools: []string{"java", "mvn"}, build: mavenCopy(OldS3Mock), source: s3mockArtifact, beside: jarFolder},
		{name: Nfpm, title: "nfpm", version: "v2.43.4", takes: "about 40 seconds",
			tools: []string{"go"}, build: goInstall, source: "github.com/goreleaser/nfpm/v2/cmd/nfpm"},
		{name: Pushgateway, title: "Pushgateway", version: "v1.11.3", takes: "a few seconds",
			tools: []string{"go"}, build: buildPushgateway, source: "github.com/prometheus/pushgateway"},
		{name: Kubeconform, title: "kubeconform", version: "v0.8.0", takes: "a few seconds",
			tools: []string{"go"}, build: goInstall, source: "github.com/yannh/kubeconform/cmd/kubeconform"},
		{name: AIStorePython, title: "AIStore's Python client", version: "2.0.0", takes: "about 20 seconds",
			tools: []string{"python3"}, build: pipInstall(AIStorePython, ""), source: "aistore", beside: pipFolder},
		{name: StatsdExporter, title: "statsd_exporter", version: "v0.31.0", takes: "a few seconds",
			tools: []string{"go"}, build: goInstall, source: "github.com/prometheus/statsd_exporter"},
	}
}

// Buildable returns the names of the programs, in the order in which they are best built.
func Buildable() (names []string) {
	for _, r := range recipes() {
		names = append(names, r.name)
	}
	return names
}

// Titles returns the names of the programs for people.
func Titles() (titles []string) {
	for _, r := range recipes() {
		titles = append(titles, r.title)
	}
	return titles
}

// Ensure calls Build if the stores are Requested, and returns ErrNotRequested otherwise.
func Ensure(ctx context.Context, store string) (binary string, err error) {
	if !Requested() {
		return "", fmt.Errorf("%s: %w", store, ErrNotRequested)
	}
	return Build(ctx, store)
}

// Build returns the path of a program. It builds it if the cache does not contain the pinned
// version. Several processes may call it at once: one builds, and the others wait.
func Build(ctx context.Context, store string) (binary string, err error) {
	all := recipes()
	i := slices.IndexFunc(all, func(r recipe) bool { return r.name == store })
	if i < 0 {
		return "", fmt.Errorf("nothing called %q to build: there are %s", store, strings.Join(Buildable(), ", "))
	}
	r := all[i]
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, store+"-"+r.version)
	binary = filepath.Join(home, exe(store))
	if isFile(binary) {
		return binary, nil
	}
	for _, tool := range r.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%s needs %s: %w", r.title, tool, ErrUnavailable)
		}
	}
	unlock, err := lock(ctx, home+".lock", func() {
		fmt.Fprintf(os.Stderr, "waiting for another process that builds %s\n", r.title)
	})
	if err != nil {
		return "", fmt.Errorf("waiting for the build of %s: %w", r.title, err)
	}
	defer unlock()
	if isFile(binary) {
		return binary, nil
	}
	return binary, buildInto(ctx, r, store, home)
}

// buildInto builds next to the final place and renames, so that a killed build leaves nothing that
// looks finished.
func buildInto(ctx context.Context, r recipe, store, home string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(home), store+"-building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	start := time.Now()
	fmt.Fprintf(os.Stderr, "building %s %s … this takes %s, once\n", r.title, r.version, r.takes)
	var out tail
	if err := r.build(ctx, r, tmp, &out); err != nil {
		return fmt.Errorf("building %s %s: %w\n%s", r.title, r.version, err, out.String())
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if r.beside != "" {
		if err := os.RemoveAll(filepath.Join(home, r.beside)); err != nil { // left by a killed build
			return err
		}
		if err := os.Rename(filepath.Join(tmp, r.beside), filepath.Join(home, r.beside)); err != nil {
			return err
		}
	}
	if err := os.Rename(filepath.Join(tmp, "bin", exe(store)), filepath.Join(home, exe(store))); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "built %s in %s\n", r.title, time.Since(start).Round(time.Second))
	return nil
}

func goInstall(ctx context.Context, r recipe, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", "install", "-trimpath", "-ldflags=-s -w", r.source+"@"+r.version)
	cmd.Env = goEnv("GOBIN="+filepath.Join(dir, "bin"), "CGO_ENABLED=0")
	return runQuietly(cmd, dir, log)
}

// goEnv removes the settings of a cross build or a workspace.
func goEnv(more ...string) []string {
	return append(append(os.Environ(), "GOFLAGS=", "GOOS=", "GOARCH=", "GOWORK=off"), more...)
}

func cargoInstall(ctx context.Context, r recipe, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "cargo", "install", r.source, "--version", r.version, "--locked", "--root", dir)
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+filepath.Join(dir, "target"), "CARGO_TERM_PROGRESS_WHEN=never")
	return runQuietly(cmd, dir, log)
}

// writeProgram creates a program that is a line of the shell.
func writeProgram(dir, name, line string) error {
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, exe(name)), []byte("#!/bin/sh\n"+line+"\n"), 0o755)
}

func runQuietly(cmd *exec.Cmd, dir string, log io.Writer) error {
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	dieWithParent(cmd)
	cmd.WaitDelay = 5 * time.Second
	// The death signal depends on the thread that forks, which must outlive the build.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the test stores: %w", err)
	}
	dir := filepath.Join(base, "warp-teststores")
	return dir, os.MkdirAll(dir, 0o755)
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// InCI reports whether this run must not skip anything.
func InCI() bool { return os.Getenv("CI") == "true" }
