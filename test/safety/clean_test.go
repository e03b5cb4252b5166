package safety

import (
	"os"
	"strings"
	"testing"
	"time"

	"warp/internal/teststore"
	"warp/pkg/generator"
)

// clean removes the remains of dead runs, and a named run's kept objects, but no foreign objects.
func TestClean(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		b.warp(small("put", "--seed=92", "--keep-data", "--max-objects=10", "--duration=0")...).want(0)
		alive := b.warp("get", "--objects=20", "--obj.size=1KiB", "--concurrent=2", "--duration=60s", "--lease=10s", "--seed=93")
		alive.awaitOutput("Preparing: uploading: ")
		b.killedAt(60, small("get", "--seed=91", "--putshards=3", "--randomname", "--subdir=deep/down")...)
		time.Sleep(expiry)
		count := func(seed uint64) int {
			return len(b.keys(func(k string) bool { return strings.Contains(k, generator.RunPrefix(seed)) }))
		}
		dead := count(91)
		if dead == 0 || count(92) != 10 || count(93) != 20 {
			t.Fatalf("%d, %d and %d objects to begin with", dead, count(92), count(93))
		}
		state := b.snapshot()
		p := b.warp("clean", "--dry-run").want(0)
		if !strings.Contains(p.stdout(), "dead, ") || !strings.Contains(p.stdout(), "kept on purpose; --run=") || !strings.Contains(p.stdout(), "may be alive") {
			t.Error(p)
		}
		b.warp("clean", "--dry-run", "--seed=92").want(0)
		for k, item := range b.snapshot() {
			if was, ok := state[k]; !isMarker(k) && (!ok || was != item) {
				t.Errorf("a dry run changed %q", k)
			}
		}
		b.warp("clean", "--seed=93").want(1).says("may be alive", "none of its objects were removed")
		b.warp("clean", "--run=none").want(1).says("has no marker of such a run")
		b.warp("clean").want(0)
		if count(91) != 0 || count(92) != 10 || count(93) != 20 {
			t.Errorf("clean left %d dead, %d kept and %d live objects of %d, 10 and 20", count(91), count(92), count(93), dead)
		}
		b.warp("clean", "--seed=92").want(0)
		if count(92) != 0 || count(93) != 20 {
			t.Errorf("clean --seed left %d kept and %d live objects", count(92), count(93))
		}
		alive.signal(os.Interrupt)
		if code := alive.wait(); code != 130 {
			t.Errorf("exit %d: %s", code, alive)
		}
		b.same(before)
	})
}

// A run that has kept its objects can be removed at once, by the id in its note.
func TestCleanByRun(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		kept := b.warp(small("put", "--max-objects=10", "--duration=0", "--noclear")...).want(0)
		_, id, ok := strings.Cut(kept.stderr(), "--run=")
		if !ok {
			t.Fatal(kept)
		}
		id, _, _ = strings.Cut(id, " ")
		b.warp("clean", "--run="+id).want(0)
		b.same(before)
		b.warp("clean", "--run="+id).want(1).says("has no marker of such a run")
	})
}

// Objects that several runs have kept under the same names count once.
func TestCleanOfTheSameObjects(t *testing.T) {
	t.Parallel()
	b := made(t, stores.Shared(t, teststore.MinIO), false)
	before := b.fill()
	keep := small("put", "--seed=95", "--max-objects=10", "--duration=0", "--concurrent=1") // otherwise each run uses different names
	b.warp(append(keep, "--keep-data")...).want(0)
	b.warp(keep...).want(1).says("kept objects under these names")
	b.warp(append(keep, "--keep-data", "--obj.size=2KiB")...).want(0)
	b.warp(append(keep, "--noclear")...).want(0)
	for _, c := range []struct{ flag, says string }{{"--dry-run", "objects would be removed"}, {"--quiet", "objects removed"}} {
		out := b.warp("clean", "--seed=95", c.flag).want(0).stdout()
		if strings.Count(out, "kept, 10 "+c.says) != 1 || strings.Count(out, "kept, 0 "+c.says) != 2 || c.flag == "--dry-run" && strings.Count(out, "\n  ") != 10 {
			t.Errorf("clean %s says %q", c.flag, out)
		}
	}
	b.same(before)
}

// An object with a name chosen by the user is reported and counted like the others, but only if it
// belongs to the run.
func TestCleanOfAFixedObject(t *testing.T) {
	t.Parallel()
	s := stores.Shared(t, teststore.MinIO)
	b := made(t, s, false)
	before := b.fill()
	kept := b.warp("multipart", "--obj.name=by/name.bin", "--parts=2", "--part.size=5MiB", "--duration=1s", "--lease=10s", "--keep-data").want(0)
	_, id, ok := strings.Cut(kept.stderr(), "--run=")
	if !ok {
		t.Fatal(kept)
	}
	id, _, _ = strings.Cut(id, " ")
	for _, c := range []struct{ flag, says string }{{"--dry-run", "kept, 1 object would be removed\n  by/name.bin\n"}, {"--quiet", "kept, 1 object removed\n"}} {
		if out := b.warp("clean", "--run="+id, c.flag).want(0).stdout(); !strings.HasSuffix(out, c.says) {
			t.Errorf("clean %s says %q", c.flag, out)
		}
	}
	b.same(before)
}

// Manually started clients share a seed at the same time, with separate names. The same client
// twice is rejected.
func TestClientsOfOneSeed(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		before := b.fill()
		args := func(id string) []string {
			return []string{"get", "--objects=10", "--obj.size=1KiB", "--concurrent=2", "--duration=60s", "--lease=10s", "--seed=94", "--client-count=12", "--client-id=" + id}
		}
		one, ten := b.warp(args("1")...), b.warp(args("10")...)
		one.awaitOutput("Preparing: uploading: ")
		ten.awaitOutput("Preparing: uploading: ")
		for _, id := range []string{"c1/", "c10/"} {
			own := generator.RunPrefix(94) + id
			if n := len(b.keys(func(k string) bool { return strings.HasPrefix(k, own) })); n != 10 {
				t.Errorf("%d of 10 objects are below %s", n, own)
			}
		}
		b.warp(args("1")...).want(1).says("is using the same names")
		b.warp("put", "--seed=94", "--obj.size=1KiB").want(1).says("is using the same names")
		one.signal(os.Interrupt)
		one.wait()
		if n := len(b.keys(func(k string) bool { return strings.HasPrefix(k, generator.RunPrefix(94)) })); n != 10 {
			t.Errorf("%d objects are left of client 10's", n)
		}
		ten.signal(os.Interrupt)
		ten.wait()
		b.same(before)
	})
}

// Only the objects in the file are read and deleted, and deletion has to be requested.
func TestFileList(t *testing.T) {
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b := made(t, s, false)
		for _, key := range []string{"a b", "c/d", "keep"} {
			b.put(key, "content of "+key)
		}
		keep := b.snapshot()
		list := t.TempDir() + "/keys"
		b.must(os.WriteFile(list, []byte("a b\r\n\nc/d\na b"), 0o600))
		p := b.warp("get", "--filelist="+list, "--epochs=5", "--concurrent=3").want(0)
		if !strings.Contains(p.stdout(), "Operation: GET (10)") {
			t.Error(p)
		}
		b.warp("stat", "--filelist="+list, "--objects=1", "--epochs=2", "--stress").want(0)
		b.same(keep)
		b.warp("delete", "--filelist="+list).want(2).says("--destroy=" + b.name)
		b.same(keep)
		b.warp("delete", "--filelist="+list, "--destroy="+b.name).want(0)
		for k := range keep {
			if !strings.HasPrefix(k, "keep") {
				delete(keep, k)
			}
		}
		b.same(keep)
		b.warp("get", "--filelist="+list).want(1).says("find ", "NoSuchKey")
	})
}
