package packagetest

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	digest "github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"warp/internal/check"
	"warp/internal/teststore"
)

// The time of the commit that the tests make, in a time zone that must not appear anywhere.
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
	check.OK(t, err)
	for _, line := range []string{"init -q", "add -A", "commit -q -m everything", "tag " + tagged} {
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

// packages makes the packages of a clone and returns their folder.
func packages(t *testing.T, dir string) string {
	t.Helper()
	nfpm, err := teststore.Ensure(t.Context(), teststore.Nfpm)
	if teststore.MaySkip(err) {
		t.Skipf("SKIPPED, packages are not tested: %v", err)
	}
	check.OK(t, err)
	command(t, dir, "make", "packages", "NFPM="+nfpm)
	return filepath.Join(dir, "dist", "packages")
}

// version is tagged as the names of packages have it.
const version = "1.2.3"

// make, the Dockerfile and make packages make the same binary of the same commit, which says what it was made of. The
// archives and packages have what they should, run, and can be removed. Another build gives the same bytes.
func TestPackages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		missing(t, "packages are not made for %s/%s as the image is", runtime.GOOS, runtime.GOARCH)
	}
	dir := clone(t)
	commit := command(t, dir, "git", "rev-parse", "--short=12", "HEAD")[:12]
	made := packages(t, dir)

	built := filepath.Join(dir, "warp")
	want := fmt.Sprintf("warp %s (commit %s, %s, ", tagged, commit, shown)
	if out := command(t, dir, built, "--version"); !strings.HasPrefix(out, want) {
		t.Errorf("%s, want %s", out, want)
	}
	sums := map[string]string{"make": sum(t, built)}
	check.OK(t, os.Remove(built))
	fromDockerfile := buildImage(t, dir, map[string]string{"VERSION": tagged, "COMMIT": commit, "DATE": shown})
	sums["Dockerfile"] = sum(t, filepath.Join(fromDockerfile.root, "warp"))
	sums["archive"] = checkArchives(t, made)
	sums["image"] = checkLayout(t, filepath.Join(made, "image"))
	for name, s := range sums {
		if s != sums["make"] {
			t.Errorf("the binary of %s is another one: %v", name, sums)
		}
	}
	checkMaterials(t, made)
	t.Run("deb", func(t *testing.T) { checkDeb(t, made, want) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, made) })
	t.Run("again", func(t *testing.T) {
		other := packages(t, clone(t))
		if a, b := content(t, filepath.Join(made, "checksums.txt")), content(t, filepath.Join(other, "checksums.txt")); string(a) != string(b) {
			t.Errorf("two builds of a commit differ:\n%s\n%s", a, b)
		}
	})
}

// checkArchives returns the checksum of the binary for this machine.
func checkArchives(t *testing.T, made string) (own string) {
	t.Helper()
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_arm64"} {
		inside := unpack(t, filepath.Join(made, "warp_"+version+"_"+platform+".tar.gz"))
		for _, name := range []string{"warp", "LICENSE", "README.md", "CHANGELOG.md", "docs/usage.md", "docs/commands/get.md", unit} {
			if inside[name] == "" {
				t.Errorf("the archive for %s has no %s, only %d other files", platform, name, len(inside))
			}
		}
		checkLinks(t, func(name string) bool {
			for other := range inside {
				if other == name || strings.HasPrefix(other, name+"/") {
					return true
				}
			}
			return false
		})
		if platform == "linux_"+runtime.GOARCH {
			own = inside["warp"]
		}
	}
	archive, err := zip.OpenReader(filepath.Join(made, "warp_"+version+"_windows_amd64.zip"))
	check.OK(t, err)
	defer archive.Close()
	if archive.File[0].Name != "warp.exe" {
		t.Errorf("the archive for Windows begins with %s", archive.File[0].Name)
	}
	for line := range strings.Lines(string(content(t, filepath.Join(made, "checksums.txt")))) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sum(t, filepath.Join(made, name)) != hash {
			t.Errorf("the checksum of %s is wrong", name)
		}
	}
	return own
}

// checkLayout unpacks the image for this machine and returns the checksum of its binary.
func checkLayout(t *testing.T, layout string) string {
	t.Helper()
	blob := func(d digest.Digest) []byte {
		text := content(t, filepath.Join(layout, "blobs", "sha256", d.Encoded()))
		if digest.FromBytes(text) != d {
			t.Errorf("the blob %s has another content", d)
		}
		return text
	}
	var top, index v1.Index
	var manifest v1.Manifest
	var config v1.Image
	decode(t, content(t, filepath.Join(layout, "index.json")), &top)
	decode(t, blob(top.Manifests[0].Digest), &index)
	for _, m := range index.Manifests {
		if m.Platform.Architecture != runtime.GOARCH {
			continue
		}
		decode(t, blob(m.Digest), &manifest)
		decode(t, blob(manifest.Config.Digest), &config)
	}
	if len(index.Manifests) != 2 || len(manifest.Layers) != 1 {
		t.Fatalf("the index %+v has no image for %s", index, runtime.GOARCH)
	}
	packed := filepath.Join(t.TempDir(), "layer.tar.gz")
	check.OK(t, os.WriteFile(packed, blob(manifest.Layers[0].Digest), 0o644))
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/warp" {
		t.Errorf("the image runs %q as %s", config.Config.Entrypoint, config.Config.User)
	}
	inside := unpack(t, packed)
	if inside["etc/ssl/certs/ca-certificates.crt"] == "" {
		t.Errorf("the image has no certificates: %v", inside)
	}
	return inside["warp"]
}

func decode(t *testing.T, text []byte, to any) {
	t.Helper()
	check.OK(t, json.Unmarshal(text, to))
}

// checkMaterials holds a bill of materials against go.mod.
func checkMaterials(t *testing.T, made string) {
	t.Helper()
	var bom struct {
		Components []struct{ Name, Version, PURL string }
	}
	decode(t, content(t, filepath.Join(made, "warp_"+version+"_linux_amd64.cdx.json")), &bom)
	found := false
	for _, c := range bom.Components {
		found = found || c.Name == "github.com/minio/minio-go/v7" && strings.Contains(read(t, "go.mod"), c.Name+" "+c.Version)
	}
	if !found {
		t.Errorf("the bill of materials lacks minio-go: %+v", bom.Components)
	}
}

// checkLinks checks that the documentation links only to what a package has.
func checkLinks(t *testing.T, has func(name string) bool) {
	t.Helper()
	pages := []string{"README.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is valid
		for _, page := range found {
			name, err := filepath.Rel(root, page)
			check.OK(t, err)
			pages = append(pages, filepath.ToSlash(name))
		}
	}
	link := regexp.MustCompile(`\]\(([^)#\s]+)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if name := path.Join(path.Dir(page), m[1]); !strings.Contains(m[1], "://") && !has(name) {
				t.Errorf("%s links to %s, which the package lacks", page, name)
			}
		}
	}
}

// checkDeb installs the package in an empty root, runs it, and removes it.
func checkDeb(t *testing.T, made, want string) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		missing(t, "dpkg is not installed")
	}
	inRoot := t.TempDir()
	for _, name := range []string{"updates", "info"} {
		check.OK(t, os.MkdirAll(filepath.Join(inRoot, "var/lib/dpkg", name), 0o755))
	}
	check.OK(t, os.WriteFile(filepath.Join(inRoot, "var/lib/dpkg/status"), nil, 0o644))
	dpkg := func(args ...string) string {
		return command(t, inRoot, "dpkg", append([]string{"--root=" + inRoot, "--log=" + filepath.Join(inRoot, "log"), "--force-not-root"}, args...)...)
	}
	dpkg("--install", filepath.Join(made, "warp_"+version+"-1_"+runtime.GOARCH+".deb"))
	if out := command(t, inRoot, filepath.Join(inRoot, "usr/bin/warp"), "--version"); !strings.HasPrefix(out, want) {
		t.Errorf("the installed warp is %s", out)
	}
	for _, name := range []string{"usr/share/man/man1/warp-get.1.gz", "usr/share/bash-completion/completions/warp",
		"usr/share/zsh/vendor-completions/_warp", "usr/share/doc/warp/copyright"} {
		if _, err := os.Stat(filepath.Join(inRoot, name)); err != nil {
			t.Error(err)
		}
	}
	checkLinks(t, func(name string) bool {
		_, err := os.Stat(filepath.Join(inRoot, "usr/share/doc/warp", name))
		return err == nil
	})
	// The unit's environment is for root only, and stays if somebody wrote a token into it.
	if info, err := os.Stat(filepath.Join(inRoot, setting(t, "EnvironmentFile"))); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file that the unit reads: %v, %v", info, err)
	}
	if text := content(t, filepath.Join(inRoot, "usr/lib/systemd/system/warp-client.service")); !strings.Contains(string(text), "ExecStart=/usr/bin/warp ") {
		t.Errorf("the unit does not run the package's binary:\n%s", text)
	}
	dpkg("--purge", "warp")
	if _, err := os.Stat(filepath.Join(inRoot, "usr/bin/warp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the package is removed, and its binary is there: %v", err)
	}
}

func checkRPM(t *testing.T, made string) {
	names, _ := filepath.Glob(filepath.Join(made, "warp-"+version+"-1.*.rpm"))
	if len(names) != 2 {
		t.Fatalf("packages %q", names)
	}
	for _, name := range names {
		list := command(t, made, "rpm", "--dbpath="+t.TempDir(), "-qpl", name)
		for _, file := range []string{"/usr/bin/warp", "/usr/share/man/man1/warp.1.gz", "/usr/lib/systemd/system/warp-client.service", "/usr/share/licenses/warp/LICENSE"} {
			if !strings.Contains(list, file+"\n") {
				t.Errorf("%s lacks %s:\n%s", name, file, list)
			}
		}
	}
}

// The action's script runs the benchmark, exits as it does, and shows the report.
func TestAction(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(filepath.Join(root, "packaging/action/run.sh"))
	check.OK(t, err)
	for name, c := range map[string]struct {
		command, assertion, summary, report string
		code                                int
	}{
		"holds":           {"", "errors<=0%", "### night: ✅ passed", "Operation: PUT", 0},
		"fails":           {"", "errors>50%", "### night: ❌ an assertion failed", "Operation: PUT", 4},
		"no assertion":    {"", "", "### night: ✅ passed", "Operation: PUT", 0},
		"unknown flag":    {" --durtion=1s", "", "### night: ❌ failed", "unknown flag --durtion", 2},
		"unmatched quote": {" --note='a", "", "", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "INPUT_WARP="+binary, "INPUT_NAME=night", "INPUT_ASSERT="+c.assertion+"\n",
				`INPUT_COMMAND=put --host=embedded --obj.size="1KiB" --concurrent=2 --duration=2s`+c.command,
				"GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Fatalf("exit code %d, want %d:\n%s", got, c.code, out)
			}
			if c.summary == "" {
				if !strings.Contains(string(out), "unmatched quote") {
					t.Errorf("it says\n%s", out)
				}
				return
			}
			summary := string(content(t, filepath.Join(dir, "summary")))
			if !strings.HasPrefix(summary, c.summary+"\n") || !strings.Contains(summary, c.report) {
				t.Errorf("the summary is\n%s", summary)
			}
			if got := string(content(t, filepath.Join(dir, "output"))); got != fmt.Sprintf("exit-code=%d\n", c.code) {
				t.Errorf("the output is %q", got)
			}
			if c.assertion != "" {
				content(t, filepath.Join(dir, "night.junit.xml"))
			}
		})
	}
}

// content returns the content of a file that must exist.
func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	check.OK(t, err)
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
	check.OK(t, err)
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
