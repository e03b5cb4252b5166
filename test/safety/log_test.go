package safety

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// readLog returns all rows of a log, and whether the log is truncated.
func readLog(t *testing.T, path string) (rows []oplog.Record, warned bool) {
	t.Helper()
	r, rows := testlog.ReadFile(t, path)
	return rows, len(r.Warnings()) > 0
}

// analyze runs warp analyze in the directory of p.
func (p *process) analyze(args ...string) *process {
	p.t.Helper()
	return start(p.t, append([]string{"analyze"}, args...)...).want(0)
}

// atMostUnflushed is the max age of a finished request that is not in the log: a frame is written
// every second, from what was collected up to a tenth of a second before; the rest is for a machine that stalls.
const atMostUnflushed = 5 * time.Second

func TestKilledRunLeavesATruthfulLog(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		f := newFront(t, s.Endpoint, nil)
		p := b.through(f.endpoint, small("put", "--duration=60s", "--benchdata=mine")...)
		p.awaitOutput("seed")
		time.Sleep(time.Duration(7500+rand.IntN(1000)) * time.Millisecond)
		killed := time.Now()
		p.kill()
		if p.wait() != -1 {
			t.Fatalf("it was not killed: %s", p)
		}
		part := filepath.Join(p.dir, "mine.csv.zst.part")
		rows, warned := readLog(t, part)
		if len(rows) < 10 || !warned {
			t.Fatalf("%d rows, warned %v", len(rows), warned)
		}

		store := map[string]seen{}
		for _, r := range f.requests(func(r seen) bool { return strings.HasSuffix(r.path, ".rnd") }) {
			store[strings.TrimPrefix(r.path, "/"+b.name+"/")] = r
		}
		logged := map[string]bool{}
		for _, r := range rows {
			at, ok := store[r.Key]
			switch {
			case logged[r.Key]:
				t.Errorf("%s is in the log twice", r.Key)
			case !ok:
				t.Errorf("%s is in the log, and the store never saw it", r.Key)
			case r.Op != "PUT" || r.Bytes != 1024 || r.Err == "" && at.status != 200:
				t.Errorf("%+v is not what the store saw: %+v", r, at)
			case at.start.UnixNano() < r.Start || at.start.UnixNano() > r.End():
				t.Errorf("the store saw %s at %s, which is not within its row: %+v", r.Key, at.start, r)
			}
			logged[r.Key] = true
		}
		missing := 0
		for key, at := range store {
			if at.end.Before(killed.Add(-atMostUnflushed)) && !logged[key] {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("%d requests older than %s are not in the log of %d rows", missing, atMostUnflushed, len(rows))
		}

		a := p.analyze(part)
		a.warns("")
		if !strings.Contains(a.stdout(), "Operation: PUT") {
			t.Errorf("%s", a)
		}
		// A run that would write to the same name is rejected: the log is not overwritten, finished
		// or not.
		old, err := os.ReadFile(part)
		b.must(err)
		again := exec.Command(binary, append(small("put", "--benchdata="+filepath.Join(p.dir, "mine")), b.args()...)...)
		out, err := again.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "exists already") {
			t.Errorf("a second run with the same name: %v\n%s", err, out)
		}
		if now, _ := os.ReadFile(part); string(now) != string(old) {
			t.Error("the log of the killed run has changed")
		}
		b.laterRunsCleanUp(before)
	})
}

func TestExistingFilesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	dir := t.TempDir()
	precious := func(name string) string {
		path := filepath.Join(dir, name)
		b.must(os.WriteFile(path, []byte("precious"), 0o600))
		return path
	}
	for name, flag := range map[string]string{
		"log.csv.zst":       "--benchdata=" + filepath.Join(dir, "log"),
		"part.csv.zst.part": "--benchdata=" + filepath.Join(dir, "part"),
		"series.csv":        "--analyze.out=" + filepath.Join(dir, "series.csv"),
	} {
		path := precious(name)
		p := b.warp(small("put", flag)...)
		if code := p.wait(); code != 1 && code != 2 {
			t.Errorf("exit %d: %s", code, p)
		}
		p.says(name, "exists already")
		if text, err := os.ReadFile(path); string(text) != "precious" {
			t.Errorf("%s is now %q, %v", name, text, err)
		}
	}
	link := filepath.Join(dir, "link.csv.zst")
	if os.Symlink(filepath.Join(dir, "nowhere"), link) == nil {
		if code := b.warp(small("put", "--benchdata="+filepath.Join(dir, "link"))...).wait(); code == 0 {
			t.Error("a link that leads nowhere was written through")
		}
		if _, err := os.Stat(filepath.Join(dir, "nowhere")); err == nil {
			t.Error("a file was made behind a link")
		}
	}
	// A file that appears during the run is not overwritten either, and the log is not lost.
	p := b.warp("put", "--obj.size=1KiB", "--concurrent=2", "--duration=1s", "--benchdata="+filepath.Join(dir, "late"))
	p.awaitOutput("seed")
	await(t, 10*time.Second, func() bool { _, err := os.Stat(filepath.Join(dir, "late.csv.zst.part")); return err == nil }, "the log")
	path := precious("late.csv.zst")
	p.wait()
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("it was overwritten: %s", p)
	}
	if rows, _ := readLog(t, path+".part"); len(rows) == 0 {
		t.Errorf("the log is lost: %s", p)
	}
	b.same(before)
}

// fullDisk checks a run whose log has no room.
func (b *bucket) fullDisk(p *process, log string, before map[string]item) {
	b.t.Helper()
	if code := p.wait(); code != 1 {
		b.t.Errorf("exit %d: %s", code, p)
	}
	p.says("record the requests: ")
	b.t.Logf("%s", p.stderr())
	if p.took > 40*time.Second {
		b.t.Errorf("it ended after %s", p.took)
	}
	rows, _ := readLog(b.t, log+".part")
	if len(rows) < 10 {
		b.t.Errorf("%d rows are readable", len(rows))
	}
	a := p.analyze(log + ".part")
	a.warns("")
	b.same(before)
}

func TestFullDiskEndsTheRunInOrder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("SKIPPED: only root on Linux can make a small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "warp-test", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no file system can be mounted here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v, %s", err, out)
		}
	})
	b := made(t, stores.Shared(t, teststore.Versitygw), false)
	before := b.fill()
	p := b.warp("put", "--obj.size=1B", "--concurrent=16", "--duration=40s", "--benchdata="+filepath.Join(dir, "log"))
	b.fullDisk(p, filepath.Join(dir, "log.csv.zst"), before)
}

func TestFileSizeLimitEndsTheRunInOrder(t *testing.T) {
	needSignals(t)
	t.Parallel()
	b := made(t, stores.Shared(t, teststore.Garage), false)
	before := b.fill()
	dir := t.TempDir()
	p := &process{t: t, line: "under ulimit -f", dir: dir, start: time.Now()}
	args := append([]string{"-c", `ulimit -f 128; exec "$0" "$@"`, binary, "put", "--obj.size=1B", "--concurrent=16", "--duration=40s",
		"--benchdata=" + filepath.Join(dir, "log")}, b.args()...)
	p.cmd = exec.Command("sh", args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = []string{"HOME=" + dir}, &p.out, &p.err
	b.must(p.cmd.Start())
	t.Cleanup(func() { p.kill(); p.wait() })
	b.fullDisk(p, filepath.Join(dir, "log.csv.zst"), before)
}
