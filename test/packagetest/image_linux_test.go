package packagetest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// trusted is where Go looks for certificates of authorities.
const trusted = "/etc/ssl/certs/ca-certificates.crt"

// What the Dockerfile makes runs in a file system that has nothing else, as its user, and trusts a store by the authorities
// that it copies.
func TestImage(t *testing.T) {
	t.Parallel()
	i := buildImage(t, clone(t), nil)
	program, err := elf.Open(filepath.Join(i.root, i.entrypoint[0]))
	check.OK(t, err)
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it needs a loader or libraries: %s", p.Type)
		}
	}
	user, group := ids(t, i.user)
	if user == 0 || group == 0 {
		t.Errorf("it runs as %s", i.user)
	}
	dockerfile := read(t, "Dockerfile")
	if !regexp.MustCompile(`(?m)^COPY --from=build ` + trusted + ` ` + filepath.Dir(trusted) + `/$`).MatchString(dockerfile) {
		t.Errorf("the authorities are not copied to %s", trusted)
	}
	// Another version of Go would have to download itself.
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if !strings.Contains(dockerfile, "FROM golang:"+version+" AS build\n") {
		t.Errorf("it does not build with Go %s, which go.mod asks for", version)
	}

	if os.Getuid() != 0 {
		missing(t, "the image is not run: chroot needs root")
	}
	store := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	put := func() (string, error) {
		args := append(append([]string{}, i.entrypoint[1:]...), "put", "--tls", "--host="+store.Endpoint, "--access-key="+store.AccessKey,
			"--secret-key="+store.SecretKey, "--obj.size=4KiB", "--concurrent=2", "--duration=2s")
		cmd := exec.CommandContext(t.Context(), i.entrypoint[0], args...)
		cmd.Dir, cmd.Env = i.work, []string{"PATH=/"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(group)}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := put(); err == nil || !strings.Contains(out, "--ca-file") {
		t.Errorf("a store that nobody vouches for is trusted: %v\n%s", err, out)
	}
	copyInto(t, store.CAFile, filepath.Join(i.root, trusted))
	if out, err := put(); err != nil || !strings.Contains(out, "Operation: PUT") {
		t.Errorf("%v\n%s", err, out)
	}
	if logs, _ := filepath.Glob(filepath.Join(i.root, i.work, "warp-put-*.csv.zst")); len(logs) != 1 {
		t.Errorf("logs %q", logs)
	}
}
