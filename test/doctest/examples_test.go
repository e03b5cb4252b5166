package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// TestExamples runs every script of the documentation.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			for i, b := range d.blocks {
				if b.language != "sh" {
					continue
				}
				var want string
				if i+1 < len(d.blocks) && d.blocks[i+1].directive == "output" {
					want = d.blocks[i+1].text
				}
				t.Run("line"+strconv.Itoa(b.number), func(t *testing.T) { b.test(t, dir, want) })
			}
		})
	}
}

// test runs a script and compares its output; want may be empty.
func (b block) test(t *testing.T, dir, want string) {
	if strings.HasPrefix(b.directive, "no test: ") {
		return
	}
	words := strings.Fields(b.directive)
	if len(words) == 0 || words[0] != "test" {
		t.Fatalf("line %d: the script has neither <!-- test --> nor <!-- no test: reason --> before it", b.number)
	}
	code := 0
	script := b.text
	var env []string
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "exit":
			code, _ = strconv.Atoi(value)
		case "needs":
			if _, err := exec.LookPath(value); err != nil {
				t.Skipf("SKIPPED, %s is not installed", value)
			}
		case "port":
			if !strings.Contains(script, "127.0.0.1:"+value) {
				t.Fatalf("line %d: the script has no 127.0.0.1:%s", b.number, value)
			}
			script = strings.ReplaceAll(script, "127.0.0.1:"+value, teststore.FreeAddress(t))
		case "store":
			env = storeVariables(t)
		default:
			t.Fatalf("line %d: what does %q mean?", b.number, w)
		}
	}
	r := run(t, dir, env, "sh", "-ec", script)
	if r.code != code {
		t.Fatalf("line %d: exit code %d instead of %d of\n%s\nwhich wrote\n%s", b.number, r.code, code, script, r.all)
	}
	if want != "" && !sameShape(withoutLoad(want), withoutLoad(r.all)) {
		t.Errorf("line %d: the documented output has another shape than that of\n%s\ndocumented:\n%s\nreal:\n%s",
			b.number, b.text, shape(withoutLoad(want)), shape(withoutLoad(r.all)))
	}
}

func storeVariables(t *testing.T) []string {
	s := stores.Shared(t, teststore.MinIO)
	return []string{"WARP_HOST=" + s.Endpoint, "WARP_ACCESS_KEY=" + s.AccessKey, "WARP_SECRET_KEY=" + s.SecretKey}
}

// busy matches what reports say about the machine, which depends on its other load.
var busy = regexp.MustCompile(`(?m)(^\n)?^((warp: warning|Warning|Before, warning|After, warning): (\S+: )?this machine may have been the limit.*|` +
	`.*(are the store's|is the store's|this machine's|usable time stamps of the kernel)[.;].*|((Before|After), warning: )?This machine was the limit.*| \* On the wire:.*|.*\(\S+ on the wire\).*|` +
	`(warp: warning|Warning): (warp did not run (on [0-9]+ clients )?for|.* in flight when the window began,|.* a request that started (before|after) the window, at |.* were measured at the same time for) .*)\n`)

// withoutLoad removes that from output.
func withoutLoad(text string) string { return busy.ReplaceAllString(text, "") }

// Patterns of numbers, the most specific first.
var numbers = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d [A-Z]+\b`), "TIME"},
	{regexp.MustCompile(`(\b|[-+])[0-9.]+ ?([KMGT]i)?B(/s)?\b`), "SIZE"},
	{regexp.MustCompile(`(\b|[-+])([0-9.]+(h|ms|µs|ns|m|s))+\b`), "DURATION"},
	{regexp.MustCompile(`(\b|[-+])[0-9]+(\.[0-9]+)?\b`), "N"},
}

// shape returns text without its numbers.
func shape(text string) string {
	for _, n := range numbers {
		text = n.pattern.ReplaceAllString(text, n.word)
	}
	return text
}

// sameShape reports whether real has the shape of want.
func sameShape(want, real string) bool {
	var b strings.Builder
	b.WriteString(`^`)
	for l := range strings.Lines(shape(want)) {
		if strings.TrimSpace(l) == "…" {
			b.WriteString(`(?:.*\n)*`)
		} else if begin, cut := strings.CutSuffix(l, "…\n"); cut {
			b.WriteString(regexp.QuoteMeta(begin) + `.*\n`)
		} else {
			b.WriteString(regexp.QuoteMeta(l))
		}
	}
	return regexp.MustCompile(b.String() + `$`).MatchString(shape(real))
}

func TestShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, real string
		same       bool
	}{
		{"Ran 3.00s.\n", "Ran 998ms.\n", true},
		{"at 10:00:00 UTC\n", "at 23:59:59 UTC\n", true},
		{"1.5GiB/s, 2.00 obj/s\n", "812.0MiB/s, 81.25 obj/s\n", true},
		{"…\nend 1\n", "a\nb\nend 2\n", true},
		{"…\nend 1\n", "end 2\nmore\n", false},
		{"3 errors…\n", "7 errors and more\n", true},
		{"3 errors…\nend\n", "7 errors\nmore\nend\n", false},
		{"3 errors\n", "3 requests\n", false},
		{"99%: 1ms\n", "99%: 1ms, 99.9%: 2ms\n", false},
	} {
		if got := sameShape(c.want, c.real); got != c.same {
			t.Errorf("%q and %q: the same shape is %v", c.want, c.real, got)
		}
	}
}

// TestMakeDemo runs a new user's first command in a copy of the tree, so that it leaves nothing in
// this one.
func TestMakeDemo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Fatal("make is not installed: ", err)
	}
	if !strings.Contains(readAll(t, "README.md"), "```\nmake demo\n```") {
		t.Error("README does not begin with make demo")
	}
	dir := t.TempDir()
	for _, name := range []string{"Makefile", "go.mod", "go.sum", "main.go", "cli", "pkg", "internal"} {
		from, err := filepath.Abs(filepath.Join(root, name))
		check.OK(t, err)
		check.OK(t, copyTree(from, filepath.Join(dir, name)))
	}
	var env []string
	for _, name := range []string{"GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY"} {
		out, err := exec.Command("go", "env", name).Output()
		check.OK(t, err)
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	r := run(t, dir, env, "make", "demo")
	if r.code != 0 {
		t.Fatalf("make demo: exit code %d\n%s%s", r.code, r.out, r.errout)
	}
	for _, want := range []string{"Mixed operations.", "Operation: GET", "Operation: DELETE", "Total: "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("make demo does not report %q:\n%s", want, r.out)
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, "warp-mixed-*.csv.zst")); len(logs) != 1 {
		t.Errorf("make demo left %d logs", len(logs))
	}
}

// copyTree copies everything that the build needs, without links.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

func readAll(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	check.OK(t, err)
	return string(text)
}

// TestMakeTest compares what CONTRIBUTING.md says about make test and make test-stores with the
// Makefile, without running all tests.
func TestMakeTest(t *testing.T) {
	t.Parallel()
	for target, wants := range map[string][]string{
		"test":        {"test", "./...", "cd test", "make test-stores"},
		"test-stores": {"internal/teststore/build", "WARP_TEST_STORES=1", "-race", "./conformance", "TestMeasured"},
	} {
		out, err := exec.Command("make", "-s", "-n", "-C", root, target).CombinedOutput()
		if err != nil {
			t.Fatalf("make -n %s: %v\n%s", target, err, out)
		}
		for _, want := range wants {
			if !strings.Contains(string(out), want) {
				t.Errorf("make %s does not call %q:\n%s", target, want, out)
			}
		}
	}
}

// make test-stores runs every package whose tests use a store.
func TestStoreTests(t *testing.T) {
	t.Parallel()
	asks := regexp.MustCompile(`stores\.(Shared|Each)|teststore\.(Start|StartReceiver|StartKubernetes|Ensure|Open)\(`)
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*_test.go"))
	check.OK(t, err)
	more, _ := filepath.Glob(filepath.Join(root, "cli", "*_test.go"))
	makefile := readAll(t, "Makefile")
	for _, f := range append(files, more...) {
		text, err := os.ReadFile(f)
		check.OK(t, err)
		if name := filepath.Base(filepath.Dir(f)); asks.Match(text) && !regexp.MustCompile(`STORE_TESTS :=.*[ ,/]`+name+`\b`).MatchString(makefile) {
			t.Errorf("%s asks for a store, and make test-stores does not run its package", f)
		}
	}
}
