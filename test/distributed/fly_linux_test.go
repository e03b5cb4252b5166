package distributed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/s3mem"
)

const (
	flyScript = "../../fly/benchmark.sh"
	flyAccess = "warpflyaccess"
	flySecret = "warpfly'secret$(date)"
)

// needs skips the test if a program is not installed, and fails in CI.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if teststore.InCI() {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("SKIPPED: %s is not installed", name)
	}
}

// script starts benchmark.sh as the leader of a group, as a terminal would.
func script(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	path, err := filepath.Abs(flyScript)
	check.OK(t, err)
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{teststore.QuickExit, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check.OK(t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); <-p.done })
	return p
}

func (f *flyIO) script(dir string, env []string, args ...string) *process {
	f.t.Helper()
	env = append([]string{flySocket + "=" + filepath.Join(f.dir, "socket"), "PATH=" + f.dir + ":" + os.Getenv("PATH")}, env...)
	return script(f.t, dir, env, args...)
}

// roles returns the machines of benchmark.sh, as "client iad,…".
func (f *flyIO) roles() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, m := range f.machines {
		if m.home != nil {
			all = append(all, m.Config.Metadata["warp_role"]+" "+m.Region)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

// left fails unless exactly these machines and secrets exist.
func (f *flyIO) left(roles string, secrets ...string) {
	f.t.Helper()
	if got := f.roles(); got != roles {
		f.t.Errorf("machines %q are left, want %q", got, roles)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.secrets {
		if !slices.Contains(secrets, name) {
			f.t.Errorf("the secret %s is left", name)
		}
	}
}

// A flyBench is benchmark.sh on a stand-in for Fly.io, whose machines are real clients.
type flyBench struct {
	*flyIO
	c    *cluster
	args []string
}

// four are the machines that a run leaves if it may.
const four = "client iad,client iad,client ord,client ord"

// given returns the environment of a user with an image and keys.
func given() []string {
	return []string{"IMAGE=registry.fly.io/warp-benchmark:given", "WARP_ACCESS_KEY=" + flyAccess, "WARP_SECRET_KEY=" + flySecret}
}

func (b *flyBench) run(env []string, more ...string) *process {
	b.t.Helper()
	return b.runWith(nil, env, more...)
}

// runWith passes additional flags to warp.
func (b *flyBench) runWith(flags, env []string, more ...string) *process {
	b.t.Helper()
	b.c.store.reset()
	return b.script(b.c.coordinator.dir, env, slices.Concat(b.args, more, []string{"--", "--objects=20", "--rps-limit=200", "--region=us-east-1"}, flags)...)
}

// interrupt sends Ctrl-C during the run.
func (b *flyBench) interrupt(p *process) {
	b.t.Helper()
	b.c.measuring(b.t, p)
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT); err != nil {
		b.t.Fatal(err)
	}
	p.ends(b.t, 130, "removing the machines that were started")
}

// TestFly tests everything that benchmark.sh does.
func TestFly(t *testing.T) {
	t.Parallel()
	needs(t, "jq", "ip", "unshare")
	b := &flyBench{flyIO: startFly(t, 5)}
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 256 << 20})
	check.OK(t, err)
	t.Cleanup(func() { _ = e.Close() })
	b.c = &cluster{coordinator: &host{dir: t.TempDir()}, clients: make([]*host, 4), store: count(t, "["+b.addr+"]", e.Addr())}
	b.c.target = []string{"--host=" + b.c.store.addr, "--access-key=key", "--secret-key=secretsecret", "--region=us-east-1", "--bucket=fly"}
	b.args = []string{"-r", "ord,iad", "-n", "2", "-c", "2", "-o", "4KiB", "-e", b.c.store.addr, "-b", "fly", "-i"}
	b.whole()
	b.again()
	b.noCapacity()
	b.fromScratch()
	b.removed()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, call := range b.calls {
		if strings.Contains(call, flyAccess) || strings.Contains(call, flySecret) {
			t.Errorf("a key is in the command flyctl %s", call)
		}
	}
}

// whole is an undisturbed run.
func (b *flyBench) whole() {
	p := b.run(given(), "-d", "2s")
	p.ends(b.t, 0, "4 clients began within")
	b.left(four, "WARP_CLIENT_TOKEN")
	log := regexp.MustCompile(`the log of all requests is (warp-fly-\d+)\.csv\.zst`).FindStringSubmatch(p.out.String())
	if log == nil {
		b.t.Fatalf("no log is named:\n%s", p.out.String())
	}
	if !strings.Contains(p.out.String(), "Operation: GET") {
		b.t.Errorf("there is no report:\n%s", p.out.String())
	}
	b.c.holds(b.t, log[1], 0, 1, 2, 3)
	b.c.clean(b.t)
}

// again uses the same clients, with warp's own exit code, and with Ctrl-C, which keeps them.
func (b *flyBench) again() {
	b.runWith([]string{"--no-such-flag"}, given()).ends(b.t, 2, "using the 4 clients that are there")
	b.left(four, "WARP_CLIENT_TOKEN")
	b.interrupt(b.run(given(), "-d", "10m"))
	b.left(four, "WARP_CLIENT_TOKEN")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs != 7 {
		b.t.Errorf("%d machines were started, want 4 clients and 3 coordinators", b.runs)
	}
}

// noCapacity requests other clients, not all of which are available.
func (b *flyBench) noCapacity() {
	b.mu.Lock()
	b.refuse = b.runs + 2
	b.mu.Unlock()
	b.run(given(), "-n", "1").ends(b.t, 1, "there is no capacity in region ord")
	b.left("")
	b.c.clean(b.t)
}

// fromScratch sends Ctrl-C to a call that started everything, beginning with a new image.
func (b *flyBench) fromScratch() {
	b.interrupt(b.run(nil, "-d", "10m", "-a", flyAccess, "-p", flySecret))
	b.left("")
	b.c.clean(b.t)
}

// removed tests -s.
func (b *flyBench) removed() {
	b.run(given(), "-d", "1s").ends(b.t, 0, "4 clients began within")
	b.script(b.c.coordinator.dir, nil, "-s").ends(b.t, 0, "machine destroy")
	b.left("")
	b.script(b.c.coordinator.dir, nil, "-s").ends(b.t, 0, "no machine of this script is in app warp-benchmark")
}

// Errors in a call are reported in one line, before flyctl is called.
func TestFlyOptions(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	for _, c := range []struct{ args, says string }{
		{"-r", "-r wants a value"},
		{"-r iad,ordx", "-r iad,ordx: want regions"},
		{"-r iad,ord,iad", "a region is named twice"},
		{"-n 0", "-n 0: want a number of clients"},
		{"-c many", "-c many: want a number of requests"},
		{"-o big", "-o big: want a size"},
		{"-e https://s3.example", "-e https://s3.example: want HOST or HOST:PORT"},
		{"-b a/b", "-b a/b: want the name of a bucket"},
		{"-d 5", "-d 5: want a time"},
		{"-t copy", "-t copy: want get, put, mixed, list, stat or delete"},
		{"-t put -g", "it goes with -t get"},
		{"-a key", "an access key and a secret key belong together"},
		{"-p secret", "an access key and a secret key belong together"},
		{"-x", "-x: there is no such option"},
		{"--dryrun", "--dryrun: there is no such option"},
		{"get", "get: want options only"},
		{"-- --bucket=$(date)", "do not survive"},
	} {
		p := script(t, t.TempDir(), []string{"FLY_APP=a"}, strings.Fields(c.args)...)
		p.ends(t, 2, "benchmark.sh: error: ")
		if text := p.out.String(); !strings.Contains(text, c.says) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q, want one line with %q", c.args, text, c.says)
		}
	}
}

// A dry run shows the commands and runs none of them, because flyctl does not work in this test.
func TestFlyDryRun(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	dir := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(dir, "flyctl"), []byte("#!/bin/sh\necho flyctl was called\nexit 99\n"), 0o755))
	env := []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "FLY_APP=mine"}
	p := script(t, dir, env, "-r", "iad,ord,sjc", "-a", flyAccess, "-p", flySecret, "-f", "-g", "--dry-run")
	p.ends(t, 0, "+ flyctl deploy ")
	text := p.out.String()
	if got := strings.Count(text, "+ flyctl machine run --app mine --region "); got != 7 {
		t.Errorf("%d machines, want 2 in each of 3 regions and a coordinator:\n%s", got, text)
	}
	for _, want := range []string{
		"/warp get --warp-client=dns:", ".warp_set.kv._metadata.mine.internal:7761 ", "--host=idev-storage.fly.tigris.dev --bucket=test-bucket --concurrent=10 " +
			"--obj.size=4KB --duration=1m --benchdata=/data/warp-fly-", " --analyze.v --tls --obj.randsize --range", "WARP_ACCESS_KEY WARP_SECRET_KEY on standard input",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, flyAccess) || strings.Contains(text, flySecret) || strings.Contains(text, "was called") {
		t.Errorf("a key was shown, or flyctl called:\n%s", text)
	}
	script(t, dir, env, "-s", "--dry-run").ends(t, 0, "+ flyctl machine destroy MACHINE --app mine --force")
	help := script(t, dir, env, "-n", "77", "-h")
	help.ends(t, 0, "clients per region (default: 2)")
	documented(t, help.out.String())
	script(t, dir, env, "-s").ends(t, 1, "flyctl cannot list the machines of app mine")
}

// documented compares the table of options in docs/fly.md with the help.
func documented(t *testing.T, help string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/fly.md")
	check.OK(t, err)
	inHelp := regexp.MustCompile(`(?m)^  (-[a-z]|--dry-run)( [A-Z]+)?  +.*?(?:\(default: ([^)]*)\))?$`).FindAllStringSubmatch(help, -1)
	inDocs := regexp.MustCompile("(?m)^\\| `(-[^ `]+)( [A-Z]+)?` \\| .* \\|(?: `([^$`]+)`)? [^|]*\\|$").FindAllStringSubmatch(string(text), -1)
	if len(inHelp) != 16 || len(inDocs) != 17 {
		t.Fatalf("%d options in the help, %d in the table:\n%q\n%q", len(inHelp), len(inDocs), inHelp, inDocs)
	}
	for i, h := range inHelp {
		if strings.HasPrefix(h[3], "that in ") {
			h[3] = ""
		}
		if !slices.Equal(h[1:], inDocs[i][1:]) {
			t.Errorf("the help has %q, the table %q", h[1:], inDocs[i][1:])
		}
	}
}

func TestFlyShellcheck(t *testing.T) {
	t.Parallel()
	needs(t, "shellcheck")
	if out, err := exec.Command("shellcheck", flyScript).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The script depends on these properties of the image, and so does the stand-in for Fly.io.
func TestFlyImage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Dockerfile")
	check.OK(t, err)
	for _, line := range []string{"FROM scratch", `COPY --from=\S+ \S+ /warp`, `ENTRYPOINT \["/warp"\]`, `COPY --from=\S+ --chown=65532:65532 \S+ /data`, "USER 65532:65532", "WORKDIR /data"} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^%s$`, line)).Match(text) {
			t.Errorf("the Dockerfile has no line %s", line)
		}
	}
}
