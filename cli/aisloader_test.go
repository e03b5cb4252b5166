package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A loaderStore is a store that outlives the runs of a test.
type loaderStore struct {
	t      *testing.T
	url    string
	dir    string
	client *store.Client
}

func newLoaderStore(t *testing.T) *loaderStore {
	t.Helper()
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	server := httptest.NewServer(mem)
	t.Cleanup(func() { server.Close(); _ = mem.Close() })
	return loaderStoreAt(t, server.Listener.Addr().String())
}

func loaderStoreAt(t *testing.T, addr string) *loaderStore {
	t.Helper()
	client, err := engines.New(store.Config{Hosts: store.Addresses([]string{addr}), Region: "us-east-1",
		Credentials: store.Keys{AccessKey: "a", SecretKey: "bbbbbbbb"}, Concurrency: 4})
	check.OK(t, err)
	t.Cleanup(client.Close)
	return &loaderStore{t: t, url: "http://" + addr, dir: t.TempDir(), client: client}
}

// run runs warp aisloader, and wants that exit code.
func (s *loaderStore) run(code int, args ...string) result {
	s.t.Helper()
	all := append([]string{"aisloader", "-s3endpoint=" + s.url, "-benchdata=" + s.dir + "/", "-statsdport=1"}, args...)
	r := runWarp(s.t, map[string]string{"WARP_ACCESS_KEY": "a", "WARP_SECRET_KEY": "bbbbbbbb"}, all...)
	if r.code != code {
		s.t.Fatalf("%q: exit code %d, want %d:\n%s%s", args, r.code, code, r.out, r.err)
	}
	return r
}

// keys are the names of the objects in a bucket, without markers; exists is false where there is no bucket.
func (s *loaderStore) keys(bucket string) (keys []string, exists bool) {
	s.t.Helper()
	exists, err := s.client.BucketExists(s.t.Context(), bucket)
	if err != nil {
		s.t.Fatal(err)
	}
	if !exists {
		return nil, false
	}
	err = s.client.List(s.t.Context(), store.List{Bucket: bucket}, func() { keys = nil }, func(o store.Object) bool {
		if !strings.HasPrefix(o.Key, ".warp/") {
			keys = append(keys, o.Key)
		}
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return keys, true
}

func (s *loaderStore) put(bucket string, keys ...string) {
	s.t.Helper()
	if exists, _ := s.client.BucketExists(s.t.Context(), bucket); !exists {
		if err := s.client.MakeBucket(s.t.Context(), bucket, false); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, key := range keys {
		if _, err := s.client.WriteSmall(s.t.Context(), store.Ref{Bucket: bucket, Key: key}, []byte("somebody's")); err != nil {
			s.t.Fatal(err)
		}
	}
}

func want(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

// Loaders upload objects with the names that aisloader gives them, which stay; a run with nothing to do but -cleanup=true
// removes them, and nothing else.
func TestAISLoaderNamesAndCleanup(t *testing.T) {
	t.Parallel()
	s := newLoaderStore(t)
	small := []string{"-bucket=s3://nvais", "-minsize=16B", "-maxsize=16B", "-numworkers=3", "-pctput=100", "-quiet", "-duration=1m"}
	s.put("nvais", "aisloader/zzz", "mine")
	s.run(0, append(small, "-loaderid=11", "-loadernum=20", "-maxputs=20", "-objNamePrefix=aisloader", "-cleanup=false")...)
	s.run(0, append(small, "-loaderid=loaderstring", "-loaderidhashlen=8", "-maxputs=2", "-subdir=a/b", "-cleanup=false")...)
	s.run(0, append(small, "-randomname=false", "-putshards=2", "-maxputs=3", "-subdir=c/", "-cleanup=false")...)
	s.run(0, append(small, "-maxputs=2", "-putshards=4", "-subdir=r", "-cleanup=false")...)
	keys, _ := s.keys("nvais")
	wanted := []string{"a/b/1db", "a/b/db", "aisloader/zzz", "c/00000/1", "c/00001/0", "c/00001/2", "mine"}
	for n := range 20 {
		wanted = append(wanted, fmt.Sprintf("aisloader/%x", n<<8|11))
	}
	random := 0
	for _, key := range keys {
		if regexp.MustCompile(`^r/0000[0-3]/[0-9a-z]{32}$`).MatchString(key) {
			random++
		} else if !slices.Contains(wanted, key) {
			t.Errorf("%s has no name of aisloader", key)
		}
	}
	if random != 2 || len(keys) != len(wanted)+random {
		t.Errorf("%d names at random, %d in all, want %d", random, len(keys), len(wanted)+2)
	}
	s.put("nvais", "aisloader/10b") // somebody writes over one of them
	r := s.run(0, "-bucket=nvais", "-duration", "0s", "-totalputsize=0", "-cleanup=true")
	want(t, r.err, `26 objects of earlier runs removed; bucket nvais stays: 3 objects in it are not warp's`)
	if keys, _ := s.keys("nvais"); !slices.Equal(keys, []string{"aisloader/10b", "aisloader/zzz", "mine"}) {
		t.Errorf("left are %q", keys)
	}
	r = s.run(0, "-bucket=never", "-duration=0", "-cleanup=true")
	want(t, r.err, "bucket never does not exist, so there is nothing to clean up")
	r = s.run(0, "-bucket=nvais", "-duration=0", "-cleanup=false")
	want(t, r.err, "there is nothing to do")
}

// Without -cleanup a run removes what it wrote, and with -cleanup=false it does not. A second run of the same loader
// overwrites what the first one kept.
func TestAISLoaderKeeps(t *testing.T) {
	t.Parallel()
	s := newLoaderStore(t)
	load := func(args ...string) result {
		return s.run(0, append([]string{"-bucket=abc", "-minsize=1", "-maxsize=1", "-numworkers=2", "-pctput=100", "-duration=1m", "-randomname=false"}, args...)...)
	}
	r := load("-maxputs=3")
	want(t, r.err, "--cleanup is not given: at its end, this run removes the objects that it wrote", "cleaned up")
	if keys, _ := s.keys("abc"); len(keys) > 0 {
		t.Errorf("%q are left", keys)
	}
	load("-maxputs=5", "-cleanup=false")
	load("-maxputs=3", "-cleanup=false")
	if keys, _ := s.keys("abc"); len(keys) != 5 {
		t.Errorf("kept are %q", keys)
	}
	load("-maxputs=2", "-cleanup=true")
	if keys, _ := s.keys("abc"); len(keys) > 0 {
		t.Errorf("%q are left", keys)
	}
	s.put("abc", "2")
	r = s.run(1, "-bucket=abc", "-minsize=1", "-maxsize=1", "-pctput=100", "-duration=1m", "-randomname=false", "-maxputs=1")
	want(t, r.err, "2 exists in bucket abc, no run of warp wrote it")
}

// Reads are of what is in the bucket, each object equally often; mixed runs end with -totalputsize.
func TestAISLoaderReads(t *testing.T) {
	t.Parallel()
	s := newLoaderStore(t)
	r := s.run(1, "-bucket=abc", "-pctput=0", "-cleanup=false")
	want(t, r.err, "bucket abc does not exist")
	s.put("abc", "a", "b", "c/d", "c/e")
	r = s.run(0, "-bucket=abc", "-epochs=3", "-cleanup=false", "-numworkers=1")
	want(t, r.out, `Found 4 existing objects`, `(?m)^\d\d:\d\d:\d\d  GET   12 +\t120B +\t`, `"put %": 0`, `(?m)^Actual run duration: \d`)
	r = s.run(0, "-bucket=abc", "-epochs=2", "-subdir=c/", "-readoff=3", "-readlen=4", "-cleanup=false")
	want(t, r.out, `GET   4 +\t16B `)
	r = s.run(1, "-bucket=abc", "-subdir=x", "-cleanup=false")
	want(t, r.err, `has no objects under prefix "x"`)
	r = s.run(1, "-bucket=abc", "-readoff=11", "-cleanup=false")
	want(t, r.err, `nothing to read at offset 11`)
	list := filepath.Join(s.dir, "list")
	writeFile(t, list, "a\nc/d\n")
	r = s.run(0, "-bucket=abc", "-epochs=4", "-uniquegets=false", "-filelist", list, "-cleanup=false")
	want(t, r.out, `Found 2 existing objects`, `GET   8 +\t80B`)
	r = s.run(0, "-bucket=abc", "-duration=0", "-totalputsize=100k", "-minsize=1K", "-maxsize=1K", "-pctput=30", "-cleanup=true", "-seed=7")
	want(t, r.out, `PUT   100 +\t100.0KiB`, `GET   \d+`)
	want(t, r.err, "bucket abc stays: 4 objects in it are not warp's")
	// A new bucket has nothing to read.
	r = s.run(0, "-minsize=1", "-maxsize=1", "-maxputs=5")
	want(t, r.err, "is new, and there is nothing to read: --pctput is 100")
	want(t, r.out, `PUT   5 `)
	// What one finds in an empty bucket are one's own uploads.
	r = s.run(0, "-bucket=empty", "-pctput=50", "-minsize=1", "-maxsize=1", "-maxputs=50", "-cleanup=true")
	want(t, r.out, `Found 0 existing objects`, `PUT   50 `, `GET   \d+`)
}

// -timeout is how long a request may take in all, however steadily it moves.
func TestAISLoaderTimeout(t *testing.T) {
	t.Parallel()
	const size = 400
	addr := teststore.Intercept(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/slow") {
			backend.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		for range size { // for 20 s
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(50 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
	})
	s := loaderStoreAt(t, addr)
	s.put("abc")
	if _, err := s.client.WriteSmall(t.Context(), store.Ref{Bucket: "abc", Key: "slow"}, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	s.run(3, "-bucket=abc", "-epochs=1", "-numworkers=1", "-cleanup=false", "-timeout=5s")
	logs, err := filepath.Glob(filepath.Join(s.dir, "*.csv.zst"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %q, %v", logs, err)
	}
	for _, r := range rowsIn(t, logs[0]) {
		if !strings.Contains(r.Err, "the request was not over after 5s") || r.Duration < 5*time.Second || r.FirstByte == 0 {
			t.Errorf("after %v: %q", r.Duration, r.Err)
		}
	}
}

// Metrics have aisloader's names, and with -trace-http its names of phases, of which the log has the times.
func TestAISLoaderStatsD(t *testing.T) {
	t.Parallel()
	s := newLoaderStore(t)
	in, err := net.ListenPacket("udp", "127.0.0.1:0")
	check.OK(t, err)
	defer in.Close()
	_, port, _ := net.SplitHostPort(in.LocalAddr().String())
	load := func(args ...string) (metrics string) {
		s.run(0, append([]string{"-bucket=abc", "-pctput=50", "-minsize=1", "-maxsize=1", "-maxputs=60", "-seed=3", "-numworkers=2", "-loaderid=27",
			"-statsdport=" + port, "-statsdip=127.0.0.1", "-cleanup=true"}, args...)...)
		const over = "this comes after all that was sent before"
		last, err := net.Dial("udp", in.LocalAddr().String())
		check.OK(t, err)
		defer last.Close()
		_, err = last.Write([]byte(over))
		check.OK(t, err)
		for buf := make([]byte, 1<<16); ; {
			n, _, err := in.ReadFrom(buf)
			check.OK(t, err)
			if string(buf[:n]) == over {
				return metrics
			}
			metrics += string(buf[:n])
		}
	}
	host, err := os.Hostname()
	check.OK(t, err)
	prefix := `(?m)^aisloader\.` + regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "_") + `-1b\.`
	common := func(metrics string) {
		t.Helper()
		for _, op := range []string{"put", "get"} {
			for _, name := range []string{`count:\d+\|c`, `errors:0\|c`, `pending:\d\|g`, `throughput:[\d.]+\|g`, `latency:[\d.]+\|ms\|@[\d.e-]+`, `minlatency:[\d.]+\|ms`, `maxlatency:[\d.]+\|ms`} {
				want(t, metrics, prefix+op+`\.`+name+"$")
			}
		}
	}
	metrics := load()
	common(metrics)
	if strings.Contains(metrics, "latency.") {
		t.Errorf("phases without -trace-http in\n%s", metrics)
	}
	metrics = load("-trace-http")
	common(metrics)
	for _, name := range []string{"targetconn", "targetrequest", "targetresponse", "target", "posthttp"} {
		want(t, metrics, prefix+`get\.latency\.`+name+`:[\d.]+\|ms`, prefix+`put\.latency\.`+name+`:[\d.]+\|ms`)
	}
	logs, err := filepath.Glob(filepath.Join(s.dir, "*.csv.zst"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("logs %q, %v", logs, err)
	}
	traced := 0
	for _, log := range logs {
		rows := rowsIn(t, log)
		rest := slices.DeleteFunc(slices.Clone(rows), func(r oplog.Record) bool { return r.Phases != nil })
		if len(rest) == 0 {
			traced++
		} else if len(rest) < len(rows) {
			t.Errorf("%d of %d rows have no phases", len(rest), len(rows))
		}
	}
	if traced != 1 {
		t.Errorf("%d of 2 logs have phases", traced)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	check.OK(t, os.WriteFile(path, []byte(text), 0o600))
}
