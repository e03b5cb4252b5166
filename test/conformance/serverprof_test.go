package conformance

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// profileIn matches MinIO's names for the profile of a kind at the end of a run. Some kinds have
// one at the beginning too.
func profileIn(kind string) string {
	if kind == "trace" {
		return "profile-*-trace.trace"
	}
	return "profile-*-" + kind + ".pprof"
}

// opens checks that the ZIP next to the log contains profiles of exactly these kinds, and that Go's
// tools can read them.
func opens(t *testing.T, log string, kinds ...string) {
	t.Helper()
	z, err := zip.OpenReader(strings.TrimSuffix(log, ".csv.zst") + ".profiles.zip")
	check.OK(t, err)
	defer z.Close()
	for _, kind := range store.ServerProfiles() {
		var found *zip.File
		for _, f := range z.File {
			if ok, _ := filepath.Match(profileIn(kind), f.Name); ok {
				found = f
			}
		}
		if (found != nil) != slices.Contains(kinds, kind) {
			t.Errorf("of %v asked for, %s is there: %v", kinds, kind, found != nil)
			continue
		}
		if found != nil {
			goToolReads(t, kind, found)
		}
	}
}

func goToolReads(t *testing.T, kind string, f *zip.File) {
	t.Helper()
	in, err := f.Open()
	check.OK(t, err)
	text, err := io.ReadAll(in)
	name := filepath.Join(t.TempDir(), kind)
	if err != nil || os.WriteFile(name, text, 0o600) != nil {
		t.Fatal(err)
	}
	args, want := []string{"tool", "pprof", "-top", name}, "flat%"
	if kind == "trace" {
		args, want = []string{"tool", "trace", "-pprof=sched", name}, ""
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) || len(out) == 0 {
		t.Errorf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// profiling reports whether the store was profiling itself, and stops it.
func profiling(t *testing.T, s *teststore.Store) bool {
	t.Helper()
	c, err := engines.New(store.Config{Hosts: []store.Address{{Name: s.Endpoint}}, Credentials: store.Keys{AccessKey: s.AccessKey, SecretKey: s.SecretKey}})
	check.OK(t, err)
	var got bytes.Buffer
	check.OK(t, c.ServerProfilesTo(t.Context(), &got))
	z, err := zip.NewReader(bytes.NewReader(got.Bytes()), int64(got.Len()))
	check.OK(t, err)
	// The archive always contains a description of the store.
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasPrefix(f.Name, "profile-") })
}

// TestServerProfiles checks that MinIO profiles itself while the run is measured, and no longer,
// however the run ends.
func TestServerProfiles(t *testing.T) {
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{}) // a separate one, since a store has only one profile at a time
	b := newBed(t, s)
	load := []string{"put", "--obj.size=64KiB", "--concurrent=4", "--duration=700ms"}
	stopped := func(t *testing.T) {
		t.Helper()
		if profiling(t, s) {
			t.Error("the store goes on to profile itself")
		}
	}
	for _, kinds := range append(store.ServerProfiles(), "cpu,mem", strings.Join(store.ServerProfiles(), ",")) {
		t.Run(kinds, func(t *testing.T) {
			o, log := b.run(append(load, "--serverprof="+kinds)...)
			o.want(t, 0)
			opens(t, log, strings.Split(kinds, ",")...)
			stopped(t)
			b.clean(t)
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		line, log := b.line("put", "--obj.size=64KiB", "--concurrent=4", "--duration=5m", "--serverprof=cpu,trace", "--stats-interval=100ms")
		c := startWarp(t, line...)
		c.says(t, "PUT: ")
		c.interrupt(t)
		o, _ := c.ends(t)
		o.want(t, 130)
		opens(t, log, "cpu", "trace")
		stopped(t)
		b.clean(t)
	})
	t.Run("nothing to measure", func(t *testing.T) {
		_ = b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{}) // it may already exist
		o, log := b.run("get", "--list-existing", "--duration=1s", "--serverprof=cpu")
		o.want(t, 1)
		stopped(t)
		if _, err := os.Stat(strings.TrimSuffix(log, ".csv.zst") + ".profiles.zip"); err == nil {
			t.Error("profiles of no run are saved")
		}
	})
	t.Run("no administrator", func(t *testing.T) {
		o, _ := b.run(append(load, append(ordinary(t, s), "--serverprof=cpu")...)...)
		t.Log(o.want(t, 1).says(t, "--serverprof: AccessDenied", "administrator"))
		stopped(t)
		b.clean(t)
	})
	t.Run("clients", func(t *testing.T) { profiledFleet(t, b, stopped) })
}

// says waits for output of the process.
func (c *child) says(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(c.err.String()+c.out.String(), text); time.Sleep(10 * time.Millisecond) {
		select {
		case <-c.done:
			t.Fatalf("it ended without having said %q: %s", text, c.err.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("it never said %q: %s", text, c.err.String())
		}
	}
}

// ordinary returns flags with credentials of a user who may use buckets and nothing else.
func ordinary(t *testing.T, s *teststore.Store) []string {
	t.Helper()
	creds, err := credentials.NewSTSAssumeRole("http://"+s.Endpoint, credentials.STSAssumeRoleOptions{
		AccessKey: s.AccessKey, SecretKey: s.SecretKey,
		Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]}]}`,
	})
	check.OK(t, err)
	v, err := creds.GetWithContext(nil)
	check.OK(t, err)
	return []string{"--access-key=" + v.AccessKeyID, "--secret-key=" + v.SecretAccessKey, "--session-token=" + v.SessionToken}
}

// startClients returns the addresses of clients, each a process with a separate directory.
func startClients(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for range n {
		addrs = append(addrs, teststore.FreeAddress(t))
		startWarp(t, "client", addrs[len(addrs)-1]).says(t, "listens at")
	}
	return addrs
}

// profiledFleet checks that the coordinator, rather than the clients, profiles the store, once, and
// keeps the result next to its log.
func profiledFleet(t *testing.T, b *bed, stopped func(*testing.T)) {
	before := len(b.proxy.Requests(asksForProfiles))
	load := []string{"put", "--warp-client=" + strings.Join(startClients(t, 2), ","), "--obj.size=64KiB", "--concurrent=2", "--serverprof=cpu,trace"}
	o, log := b.run(append(load, "--duration=1s")...)
	o.want(t, 0)
	opens(t, log, "cpu", "trace")
	stopped(t)
	b.clean(t)
	if n := len(b.proxy.Requests(asksForProfiles)) - before; n != 3 {
		t.Errorf("profiles were asked for %d times, want 3: a try, the beginning and the end", n)
	}
	line, log := b.line(append(load, "--duration=5m", "--stats-interval=100ms")...)
	c := startWarp(t, line...)
	c.says(t, "PUT: ")
	c.interrupt(t)
	o, _ = c.ends(t)
	o.want(t, 130)
	opens(t, log, "cpu", "trace")
	stopped(t)
	b.clean(t)
	o, _ = b.run(append(load, append(ordinary(t, b.store), "--duration=1s")...)...)
	t.Log(o.want(t, 1).says(t, "--serverprof: AccessDenied", "administrator"))
	away, _ := b.run(append(load, "--host=127.0.0.1:1", "--duration=1s")...)
	t.Log(away.want(t, 1).says(t, "--serverprof", "the coordinator asks"))
}

func asksForProfiles(s *teststore.Seen) bool { return strings.HasPrefix(s.Path, "/minio/admin/") }

// TestServerProfilesElsewhere checks that a store other than MinIO is rejected before the run, in
// one line.
func TestServerProfilesElsewhere(t *testing.T) {
	t.Parallel()
	stores.Each(t, func(t *testing.T, s *teststore.Store) {
		t.Parallel()
		if s.Name == teststore.MinIO {
			return
		}
		b := newBed(t, s)
		o, log := b.run("put", "--obj.size=1KiB", "--concurrent=2", "--duration=300ms", "--serverprof=cpu,mem")
		t.Log(o.want(t, 1).says(t, "--serverprof: this store does not profile itself", "leave it out"))
		if _, err := os.Stat(log); err == nil {
			t.Error("there is a log")
		}
		b.clean(t)
	})
}
