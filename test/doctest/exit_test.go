package doctest

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

// TestExitCodes produces every exit code in the documented table.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	small := []string{"--obj.size=1KiB", "--concurrent=2", "--duration=500ms", "--quiet"}
	hosts := "--host=" + twoHosts(t)
	real := map[string]func() result{
		"0": func() result { return warp(t, dir, append([]string{"put", "--host=embedded"}, small...)...) },
		"1": func() result { return warp(t, dir, append([]string{"put", "--host=127.0.0.1:1"}, small...)...) },
		"2": func() result { return warp(t, dir, append([]string{"put", "--nonsense"}, small...)...) },
		"3": func() result {
			return warp(t, dir, append([]string{"put", hosts, "--allow-dead-hosts", "--access-key=testkey", "--secret-key=testsecret"}, small...)...)
		},
		"4": func() result {
			return warp(t, dir, append([]string{"put", "--host=embedded", "--assert=errors>50%"}, small...)...)
		},
		"5": func() result {
			return warp(t, dir, append([]string{"put", "--host=embedded", "--assert=p99.9999<1m"}, small...)...)
		},
		"130": func() result { return interrupted(t, dir) },
	}
	var documented []string
	usage := read(t, "docs/usage.md")
	for _, row := range usage.in(t, "Exit codes")[0].rows {
		documented = append(documented, row[0])
		provoke := real[row[0]]
		if provoke == nil {
			t.Errorf("exit code %s is documented, and no test makes it happen", row[0])
			continue
		}
		if r := provoke(); strconv.Itoa(r.code) != row[0] {
			t.Errorf("what should exit with %s (%s) exits with %d:\n%s%s", row[0], row[1], r.code, r.out, r.errout)
		}
	}
	for c := range real {
		if len(missing([]string{c}, documented)) > 0 {
			t.Errorf("docs/usage.md does not document exit code %s", c)
		}
	}
	// The help says the same.
	help := mustWarp(t, 0, dir, "--help-all").out
	_, said, _ := strings.Cut(help, "Exit codes:")
	for _, c := range documented {
		if !strings.Contains(strings.ReplaceAll(said, "\n", " "), " "+c+" ") {
			t.Errorf("warp --help does not mention exit code %s", c)
		}
	}
}

// interrupted sends the signal of Ctrl-C.
func interrupted(t *testing.T, dir string) result {
	r := start(t, dir, nil, binary, "put", "--host=embedded", "--obj.size=1KiB", "--rps-limit=200", "--forever", "--quiet", "--benchdata=stopped")
	waitForRows(t, dir, "stopped.csv.zst.part")
	check.OK(t, r.cmd.Process.Signal(os.Interrupt))
	res, err := r.wait()
	check.OK(t, err)
	if !strings.Contains(res.out, "Operation: PUT") {
		t.Errorf("an interrupted run does not report:\n%s%s", res.out, res.errout)
	}
	if _, err := os.Stat(dir + "/stopped.csv.zst"); err != nil {
		t.Errorf("an interrupted run does not save: %v", err)
	}
	return res
}

// waitForRows waits until the log of a running benchmark has a complete frame with requests.
func waitForRows(t *testing.T, dir, log string) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if strings.Contains(warp(t, dir, "analyze", log).out, "Operation: PUT") {
			return
		}
	}
	t.Fatalf("%s does not get any rows", log)
}

// A killed run leaves what docs/oplog.md describes.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	r := start(t, dir, nil, binary, "put", "--host=embedded", "--obj.size=1KiB", "--rps-limit=200", "--forever", "--quiet", "--benchdata=killed")
	waitForRows(t, dir, "killed.csv.zst.part")
	check.OK(t, r.cmd.Process.Kill())
	_, _ = r.wait()
	res := mustWarp(t, 0, dir, "analyze", "killed.csv.zst.part")
	if !strings.Contains(res.out, "Operation: PUT") || !strings.Contains(res.errout, "warning") {
		t.Errorf("analyze of a killed run's log says\n%s%s", res.out, res.errout)
	}
	if res := mustWarp(t, 2, dir, "put", "--host=embedded", "--obj.size=1KiB", "--duration=1s", "--benchdata=killed"); !strings.Contains(res.errout, ".part exists already") {
		t.Errorf("a name that is taken by a .part file gives\n%s", res.errout)
	}
}
