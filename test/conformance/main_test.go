package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/cli"
	"warp/internal/check"
	"warp/internal/standin"
	"warp/internal/testlog"
	"warp/internal/teststore"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// actAsWarp makes the test binary run as warp, for tests that need a separate process.
const actAsWarp = "WARP_CONFORMANCE_ACT_AS_WARP"

var stores teststore.Pool

func TestMain(m *testing.M) {
	if os.Getenv(actAsWarp) != "" {
		os.Exit(cli.Main(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	// Most tests only wait for the end of a run.
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p != nil {
		_ = p.Value.Set("4")
	}
	// The first engine sets a variable of minio-go, which the tests' own clients read.
	if _, err := engines.New(store.Config{Hosts: store.Addresses([]string{"127.0.0.1:1"}), Engine: "minio"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(stores.Run(m))
}

// An outcome is the result of a command line.
type outcome struct {
	line     string
	code     int
	out, err string
}

func (o outcome) String() string {
	return fmt.Sprintf("warp %s\nexit %d\n--- stdout\n%s--- stderr\n%s", o.line, o.code, o.out, o.err)
}

// want fails the test if the exit code differs.
func (o outcome) want(t *testing.T, code int) outcome {
	t.Helper()
	if o.code != code {
		t.Fatalf("exit %d, want %d: %s", o.code, code, o)
	}
	return o
}

// errorLines returns the lines in which warp says why it failed.
func (o outcome) errorLines() (lines []string) {
	for l := range strings.Lines(o.err) {
		if strings.HasPrefix(l, "warp: error: ") {
			lines = append(lines, strings.TrimSpace(l))
		}
	}
	return lines
}

// says checks that there is exactly one error line, with all of the words.
func (o outcome) says(t *testing.T, words ...string) string {
	t.Helper()
	lines := o.errorLines()
	if len(lines) != 1 {
		t.Fatalf("%d error lines, want one: %s", len(lines), o)
	}
	for _, w := range words {
		if !strings.Contains(lines[0], w) {
			t.Errorf("%q is not in %q", w, lines[0])
		}
	}
	return lines[0]
}

// measured repeats a command line as long as it ends before its first request, because a machine
// that stalls for longer than a run says nothing about the run.
func measured(run func() outcome) (o outcome) {
	for range 5 {
		if o = run(); !strings.Contains(o.err, "no request was made") {
			break
		}
	}
	return o
}

// warp runs a command line in this process.
func warp(args ...string) outcome {
	var out, errw bytes.Buffer
	code := cli.Main(context.Background(), append([]string{"warp"}, args...), strings.NewReader(""), &out, &errw)
	return outcome{strings.Join(args, " "), code, out.String(), errw.String()}
}

// process returns a command that runs warp with only env as its environment, so that a developer's
// own settings and credentials do not affect it.
func process(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	check.OK(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append([]string{actAsWarp + "=1", teststore.QuickExit, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	cmd.Dir = t.TempDir()
	return cmd
}

// warpProcess runs a command line in a separate process.
func warpProcess(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	cmd := process(t, env, args...)
	var out, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errw
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String(), errw.String()}
}

// A bed is the environment for the runs of one test: a separate bucket in a store, behind a proxy.
type bed struct {
	store   *teststore.Store
	proxy   *teststore.Proxy
	nodes   []*teststore.Proxy // in front of the hosts to which the store redirects
	cluster *standin.AIStore   // set if the bed is in a cluster
	bucket  string
	client  *minio.Client // bypasses the proxy
	dir     string
	runs    int
}

var buckets atomic.Int64

func newBed(t *testing.T, s *teststore.Store, faults ...*teststore.Fault) *bed {
	t.Helper()
	b := &bed{
		store: s, proxy: teststore.NewProxy(t, s.Endpoint, faults...), dir: t.TempDir(),
		bucket: fmt.Sprintf("conformance-%d", buckets.Add(1)),
	}
	var err error
	b.client, err = minio.New(s.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: s.Region,
	})
	check.OK(t, err)
	return b
}

// target returns the flags for the bed.
func (b *bed) target() []string {
	return []string{"--host=" + b.proxy.Endpoint, "--access-key=" + b.store.AccessKey, "--secret-key=" + b.store.SecretKey,
		"--region=" + b.store.Region, "--bucket=" + b.bucket}
}

// line completes a benchmark's command line; data is the name of the log.
func (b *bed) line(args ...string) (line []string, log string) {
	b.runs++
	data := filepath.Join(b.dir, fmt.Sprintf("run%d", b.runs))
	return append(append(append([]string{args[0]}, b.target()...), "--benchdata="+data), args[1:]...), data + ".csv.zst"
}

// run runs a benchmark in this process.
func (b *bed) run(args ...string) (o outcome, log string) {
	line, log := b.line(args...)
	again := false
	return measured(func() outcome {
		if again {
			b.proxy.Forget()
		}
		again = true
		return warp(line...)
	}), log
}

// runUntil runs a command line with growing durations until its log has enough.
func (b *bed) runUntil(t *testing.T, args []string, enough func(history) bool) (o outcome, log string) {
	t.Helper()
	for i, d := range durations {
		if i > 0 {
			b.forget()
		}
		if o, log = b.run(append(args, d)...); enough(readLog(t, log)) {
			break
		}
	}
	return o, log
}

// clean checks that the bucket exists and is empty.
func (b *bed) clean(t *testing.T) {
	t.Helper()
	b.left(t, nil)
}

// left checks that the bucket contains exactly these keys.
func (b *bed) left(t *testing.T, keys map[string]bool) {
	t.Helper()
	ctx := t.Context()
	if exists, err := b.client.BucketExists(ctx, b.bucket); err != nil || !exists {
		t.Errorf("bucket %s: exists %v, error %v", b.bucket, exists, err)
		return
	}
	found := map[string]bool{}
	note := func(what string, o minio.ObjectInfo) {
		switch {
		case o.Err != nil:
			t.Errorf("listing %s of %s: %v", what, b.bucket, o.Err)
		case !keys[o.Key]:
			t.Errorf("left behind in %s: %s (%s)", b.bucket, o.Key, what)
		}
		found[o.Key] = true
	}
	for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Recursive: true}) {
		note("an object", o)
	}
	if b.store.Can.Versioning {
		for o := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Recursive: true, WithVersions: true}) {
			note("a version", o)
		}
	}
	for u := range b.client.ListIncompleteUploads(ctx, b.bucket, "", true) {
		if u.Err != nil {
			t.Errorf("listing uploads of %s: %v", b.bucket, u.Err)
			continue
		}
		t.Errorf("left behind in %s: an unfinished upload of %s", b.bucket, u.Key)
	}
	for k := range keys {
		if !found[k] {
			t.Errorf("%s is no longer in %s", k, b.bucket)
		}
	}
}

// A history is the content of a log.
type history struct {
	header   oplog.Header
	trailer  oplog.Trailer
	rows     []oplog.Record
	warnings []string
}

func readLog(t *testing.T, path string) history {
	t.Helper()
	r, rows := testlog.ReadFile(t, path)
	return history{r.Header(), r.Trailer(), rows, r.Warnings()}
}

// of returns the rows of one operation.
func (h history) of(op string) (rows []oplog.Record) {
	for _, r := range h.rows {
		if r.Op == op {
			rows = append(rows, r)
		}
	}
	return rows
}

func errorsIn(rows []oplog.Record) (n int) {
	for _, r := range rows {
		if r.Err != "" {
			n++
		}
	}
	return n
}

// report decodes the output of --json.
func (o outcome) report(t *testing.T) results.Report {
	t.Helper()
	var r results.Report
	d := json.NewDecoder(strings.NewReader(o.out))
	if err := d.Decode(&r); err != nil {
		t.Fatalf("the JSON report: %v: %s", err, o)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("something follows the JSON report: %s", o)
	}
	return r
}

// operation returns the part of a report about one operation.
func operation(t *testing.T, r results.Report, op string) results.Operation {
	t.Helper()
	for _, o := range r.Operations {
		if o.Op == op {
			return o
		}
	}
	t.Fatalf("no %s in the report, which has %d operations", op, len(r.Operations))
	panic("unreachable")
}

// sameAsAnalyze checks that analyze prints exactly what the run has printed.
func (o outcome) sameAsAnalyze(t *testing.T, log string, flags ...string) {
	t.Helper()
	again := warp(append([]string{"analyze", log}, flags...)...).want(t, 0)
	if again.out != o.out {
		t.Errorf("analyze differs from the report of the run.\nrun:\n%s\nanalyze:\n%s", o.out, again.out)
	}
}
