package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/standin"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// Benchmarks run in a directory bucket of S3 Express One Zone, whose listings are in no order, and remove what they wrote
// and nothing else. What such a bucket lacks is refused before the run.
func TestExpressBenchmarks(t *testing.T) {
	t.Parallel()
	const bucket = "bench--use1-az4--x-s3"
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = mem.Close() })
	e := standin.NewExpress(mem)
	e.Lasts = 20 * time.Second // a busy machine renews it in time, and this test takes longer
	e.Start(t, false)
	c, err := engines.New(store.Config{Hosts: store.Addresses([]string{e.Addr}), Provider: "s3express", Concurrency: 1,
		Credentials: store.Keys{AccessKey: e.User.Access, SecretKey: e.User.Secret}})
	check.OK(t, err)
	defer c.Close()
	target := []string{"--host=" + e.Addr, "--access-key=" + e.User.Access, "--secret-key=" + e.User.Secret, "--provider=s3express", "--bucket=" + bucket, "--quiet"}
	run := func(code int, args ...string) result {
		t.Helper()
		r := runWarp(t, nil, append(args, target...)...)
		if r.code != code {
			t.Errorf("%q: exit code %d, want %d: %s%s", args, r.code, code, r.err, r.out)
		}
		return r
	}
	load := []string{"--duration=1s", "--concurrent=3"}
	logOf := func(name string) string { return "--benchdata=" + filepath.Join(t.TempDir(), name) }
	for _, command := range [][]string{
		{"put", "--obj.size=1KiB"},
		{"put", "--obj.size=100KiB", "--checksum=CRC32C"},
		{"get", "--obj.size=100KiB", "--objects=30"},
		{"mixed", "--obj.size=1KiB", "--objects=30"},
		{"stat", "--obj.size=1KiB", "--objects=30"},
		{"list", "--obj.size=1KiB", "--objects=60", "--max-keys=7"},
		{"delete", "--obj.size=1KiB", "--objects=60", "--batch=7"},
		{"append", "--obj.size=1KiB"},
		{"multipart-put", "--parts=2", "--part.size=5MiB", "--concurrent=1"},
		{"copy", "--obj.size=1KiB", "--objects=10"},
		{"put", "--obj.size=1KiB", "--engine=minio"},
		{"get", "--obj.size=1KiB", "--objects=10", "--engine=minio"},
	} {
		args := append(append([]string{}, command...), load...)
		run(exit.OK, append(args, logOf(command[0]))...)
		if command[0] == "put" { // now there is a bucket, for what is somebody else's
			for _, key := range []string{"foreign", "warp-x/foreign", ".warp/foreign"} {
				if _, err := c.WriteSmall(t.Context(), store.Ref{Bucket: bucket, Key: key}, []byte("x")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run(exit.OK, "mixed", "--obj.size=1KiB", "--objects=10", "--duration=6s", "--concurrent=2", "--warp-client="+twoClients(t), "--warp-client-wait=60s", logOf("fleet"))
	run(exit.OK, "put", "--obj.size=1KiB", "--max-objects=50", "--keep-data", "--seed=7", "--prefix=kept", logOf("kept"))
	run(exit.OK, "get", "--list-existing", "--prefix=kept/", "--duration=1s", logOf("existing"))
	if r := run(exit.OK, "clean", "--seed=7"); !strings.Contains(r.out, "50") {
		t.Errorf("clean says %q", r.out)
	}
	left := map[string]bool{}
	err = c.List(t.Context(), store.List{Bucket: bucket}, func() {}, func(o store.Object) bool { left[o.Key] = true; return true })
	if err != nil || len(left) != 3 || !left["foreign"] || !left["warp-x/foreign"] || !left[".warp/foreign"] {
		t.Errorf("left are %v, %v", left, err)
	}
	for _, key := range []string{"object", "object2", "object3"} {
		if _, err := c.WriteSmall(t.Context(), store.Ref{Bucket: bucket, Key: key}, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if r := run(exit.Failed, "multipart", "--obj.name=object", "--parts=2"); !strings.Contains(r.err, "object exists in bucket") {
		t.Errorf("an object that is not the first of the listing is not found: %s", r.err)
	}
	_, problems := e.Seen()
	for _, p := range problems {
		t.Error(p)
	}
	checkExpressRefusals(t, e, run)
}

// checkExpressRefusals runs commands that need something that a directory bucket lacks.
func checkExpressRefusals(t *testing.T, e *standin.Express, run func(code int, args ...string) result) {
	t.Helper()
	seen, _ := e.Seen()
	for _, command := range [][]string{
		{"versioned"}, {"retention"}, {"tagging"}, {"zip"}, {"snowball"}, {"fanout"}, {"put", "--post"}, {"get", "--versions=2"}, {"put", "--tag=a=b"},
		{"put", "--storage-class=X"}, {"put", "--sse-kms-key=k"}, {"put", "--checksum=XXH3"}, {"list", "--metadata"},
	} {
		if r := run(exit.Usage, command...); strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "S3 Express One Zone") {
			t.Errorf("%q: %s", command, r.err)
		}
	}
	after, _ := e.Seen()
	for _, r := range after[len(seen):] {
		if !strings.HasPrefix(r.Query, "session") { // the test's own client renews its session
			t.Errorf("a refused command sent %s %s?%s", r.Method, r.Path, r.Query)
		}
	}
}

// At a store that is not Amazon's the name of a directory bucket is a name like any other.
func TestNamesOfDirectoryBucketsElsewhere(t *testing.T) {
	t.Parallel()
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = mem.Close() })
	for _, host := range []string{mem.Addr(), "embedded"} {
		r := runWarp(t, nil, "get", "--host="+host, "--bucket=bench--use1-az4--x-s3",
			"--obj.size=1KiB", "--objects=10", "--duration=1s", "--concurrent=1", "--stress")
		if r.code != exit.OK {
			t.Errorf("%s: exit code %d: %s", host, r.code, r.err)
		}
	}
}
