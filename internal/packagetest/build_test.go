package packagetest

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// Where the commit that the tests make stands in time, in a zone that nothing is to show.
const (
	committed = "2026-02-03T04:05:06+02:00"
	shown     = "2026-02-03T02:05:06Z"
	tagged    = "v1.2.3"
)

// clone is the project as the only commit of a repository, which has a tag.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		switch {
		case name == ".git" || name == "dist" || name == "warp" && !d.IsDir():
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(name, ".zst") && filepath.Dir(name) == ".":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
	// GoReleaser wants to know where a repository is from.
	for _, line := range []string{"init -q", "add -A", "commit -q -m everything", "tag " + tagged, "remote add origin https://example.com/warp.git"} {
		command(t, dir, "git", strings.Fields(line)...)
	}
	return dir
}

// command runs a program of the machine in a folder, and returns what it printed.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	return commandIn(t, dir, nil, name, args...)
}

func commandIn(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, "%s is not installed", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=Asia/Tokyo", "GOFLAGS=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Tests", "GIT_AUTHOR_EMAIL=tests@example.com", "GIT_COMMITTER_NAME=Tests", "GIT_COMMITTER_EMAIL=tests@example.com",
		"GIT_AUTHOR_DATE="+committed, "GIT_COMMITTER_DATE="+committed)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func releaser(t *testing.T) string {
	t.Helper()
	path, err := teststore.Ensure(t.Context(), teststore.GoReleaser)
	if teststore.MaySkip(err) {
		t.Skipf("SKIPPED, releases are not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// GoReleaser takes the file, and nothing in it is out of use.
func TestReleaseFile(t *testing.T) {
	t.Parallel()
	if out := command(t, clone(t), releaser(t), "check"); strings.Contains(out, "DEPRECATED") {
		t.Error(out)
	}
}

// make, the Dockerfile and GoReleaser make the same binary of the same commit, which says what it was made of; and a
// release has what it should.
func TestOneBinary(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		missing(t, "releases are not made for %s/%s as the image is", runtime.GOOS, runtime.GOARCH)
	}
	dir := clone(t)
	commit := command(t, dir, "git", "rev-parse", "--short=12", "HEAD")[:12]

	command(t, dir, "make", "build")
	made := filepath.Join(dir, "warp")
	want := fmt.Sprintf("warp %s (commit %s, %s, ", tagged, commit, shown)
	if out := command(t, dir, made, "--version"); !strings.HasPrefix(out, want) {
		t.Errorf("%s, want %s", out, want)
	}
	sums := map[string]string{"make": sum(t, made)}
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}
	image := buildImage(t, dir, map[string]string{"VERSION": tagged, "COMMIT": commit, "DATE": shown})
	sums["Dockerfile"] = sum(t, filepath.Join(image.root, "warp"))

	command(t, dir, releaser(t), "release", "--snapshot", "--clean")
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"} {
		archives, _ := filepath.Glob(filepath.Join(dir, "dist", "warp_*_"+platform+".*"))
		if len(archives) != 1 {
			t.Errorf("archives for %s: %q", platform, archives)
			continue
		}
		if !strings.HasSuffix(archives[0], ".tar.gz") {
			continue
		}
		inside := unpack(t, archives[0])
		for _, name := range []string{"warp", "LICENSE", "README.md", "CHANGELOG.md", "docs/usage.md", "docs/commands/get.md", unit} {
			if inside[name] == "" {
				t.Errorf("%s has no %s, only %d other files", filepath.Base(archives[0]), name, len(inside))
			}
		}
		if platform == "linux_"+runtime.GOARCH {
			sums["GoReleaser"] = inside["warp"]
		}
	}
	if sums["make"] != sums["Dockerfile"] || sums["make"] != sums["GoReleaser"] {
		t.Errorf("they are not the same binary: %v", sums)
	}
	if list := string(content(t, filepath.Join(dir, "dist", "checksums.txt"))); strings.Count(list, "\n") != 4 {
		t.Errorf("checksums of four archives: %s", list)
	}
}

// content is that of a file that is there.
func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sum(t *testing.T, path string) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256(content(t, path)))
}

// unpack returns the files of an archive with the SHA-256 of each.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]string{}
	plain, err := gzip.NewReader(file)
	for archive := tar.NewReader(plain); err == nil; {
		var h *tar.Header
		if h, err = archive.Next(); err != nil {
			break
		}
		hash := sha256.New()
		if _, err = io.Copy(hash, archive); err == nil {
			all[h.Name] = fmt.Sprintf("%x", hash.Sum(nil))
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return all
}
