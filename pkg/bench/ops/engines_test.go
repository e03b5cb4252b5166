package ops_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/recording"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

var stores teststore.Pool

func TestMain(m *testing.M) { os.Exit(stores.Run(m)) }

// A tally counts what a run recorded.
type tally struct {
	mu     sync.Mutex
	good   map[string]int
	errors []string
}

func (s *tally) Write(records []oplog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		r := &records[i]
		unsent := r.Op == "PUT" && r.Bytes > 0 && r.LastByte == 0
		switch {
		case r.Err != "":
			s.errors = append(s.errors, r.Op+" "+r.Err)
		case r.Status/100 != 2, r.Requests == 0, unsent, r.Op == "GET" && r.FirstByte == 0,
			r.FirstByte > r.Duration, r.LastByte > r.Duration:
			s.errors = append(s.errors, fmt.Sprintf("%+v", *r))
		}
		s.good[r.Op]++
	}
	return nil
}

func (s *tally) Flush() error { return nil }

// Both engines do all operations on all stores.
func TestEnginesOnRealStores(t *testing.T) {
	stores.Each(t, func(t *testing.T, target *teststore.Store) { bothEngines(t, target) })
	t.Run("minio TLS", func(t *testing.T) {
		bothEngines(t, teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true}))
	})
}

func bothEngines(t *testing.T, target *teststore.Store) {
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) { allOperations(t, target, engine) })
		t.Run(engine+" asks for the region", func(t *testing.T) {
			runOn(t, target, store.Config{Engine: engine}, "put", &ops.Put{Sizes: sizes(t, "1KiB")})
		})
		t.Run(engine+" unsigned", func(t *testing.T) {
			runOn(t, target, store.Config{Engine: engine, Region: target.Region, UnsignedPayload: true}, "put", &ops.Put{Sizes: sizes(t, "100KiB")})
		})
	}
}

func sizes(t *testing.T, spec string) generator.Sizes {
	t.Helper()
	s, err := generator.ParseSizes(spec, false)
	check.OK(t, err)
	return s
}

func allOperations(t *testing.T, target *teststore.Store, engine string) {
	cfg := store.Config{Engine: engine, Region: target.Region}
	pool := func(size string, objects int) ops.Pool {
		return ops.Pool{Objects: objects, Sizes: sizes(t, size)}
	}
	operations := map[string]bench.Op{
		"get":       &ops.Get{Pool: pool("1KiB", 10)},
		"get large": &ops.Get{Pool: pool("3MiB", 4)},
		"get range": &ops.Get{Pool: pool("100KiB", 4), Range: true},
		"get empty": &ops.Get{Pool: pool("0", 4)},
		"put":       &ops.Put{Sizes: sizes(t, "10KiB")},
		"put large": &ops.Put{Sizes: sizes(t, "1000KiB")},
		"put parts": &ops.Put{Sizes: sizes(t, "17MiB")},
		"stat":      &ops.Stat{Pool: pool("1KiB", 10)},
		"list":      &ops.List{Pool: pool("1KiB", 20)},
		"delete":    &ops.Delete{Pool: pool("1KiB", 50), Batch: 10},
		"mixed":     &ops.Mixed{Pool: pool("10KiB", 20), Get: 45, Stat: 30, Put: 15, Delete: 10},
	}
	if target.Name == teststore.Garage {
		delete(operations, "get empty") // it stores none
	}
	for name, op := range operations {
		t.Run(name, func(t *testing.T) { runOn(t, target, cfg, name, op) })
	}
	if target.Can.Versioning {
		versioned := pool("1KiB", 5)
		versioned.Versions = 2
		t.Run("versions", func(t *testing.T) { runOn(t, target, cfg, "get versions", &ops.Get{Pool: versioned}) })
	}
}

// runOn wants a run without errors that makes the requests with which its name begins.
func runOn(t *testing.T, target *teststore.Store, cfg store.Config, name string, op bench.Op) {
	t.Helper()
	runFor(t, 300*time.Millisecond, target, cfg, name, op)
}

// runFor is runOn for what takes longer on a busy machine. The rows go to further sinks as well.
func runFor(t *testing.T, duration time.Duration, target *teststore.Store, cfg store.Config, name string, op bench.Op, sinks ...recording.Sink) {
	t.Helper()
	cfg.Hosts = []store.Address{{Name: target.Endpoint}}
	cfg.TLS, cfg.CAFile = target.CAFile != "", target.CAFile
	cfg.Credentials = store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey}
	cfg.Concurrency = 4
	client, err := engines.New(cfg)
	check.OK(t, err)
	if client.EngineName() != cfg.Engine {
		t.Fatalf("engine %s instead of %s", client.EngineName(), cfg.Engine)
	}
	seed := uint64(time.Now().UnixNano())
	runner := &bench.Runner{Client: client, Op: op, Options: bench.Options{
		Benchmark: name, RunID: fmt.Sprint("run", seed), ClientID: "client", Seed: seed,
		Bucket:      strings.ReplaceAll("engine-"+strings.Fields(name)[0]+fmt.Sprint("-v", strings.Contains(name, "versions")), "true", "ersions"),
		Concurrency: 4, Duration: duration, Drain: 10 * time.Second, Lease: time.Minute,
		Payload: generator.PayloadOptions{Seed: seed}, Versions: strings.Contains(name, "versions"),
	}}
	ctx := context.Background()
	defer func() {
		if err := runner.Cleanup(ctx); err != nil {
			t.Error(err)
		}
	}()
	check.OK(t, runner.Open(ctx))
	seen := &tally{good: map[string]int{}}
	out := runner.Run(ctx, append(sinks, seen)...)
	made := strings.ToUpper(strings.Fields(name)[0])
	if name == "mixed" {
		made = "GET"
	}
	if out.Fatal != nil || out.Failed > 0 || len(seen.errors) > 0 || seen.good[made] == 0 {
		t.Errorf("%v, %d of %d failed, %v: %.600q", out.Fatal, out.Failed, out.Sent, seen.good, seen.errors)
	}
}

// What one engine has stored, the other finds whole.
func TestEnginesStoreTheSame(t *testing.T) {
	stores.Each(t, func(t *testing.T, target *teststore.Store) {
		hosts := map[string]*store.Client{}
		for _, engine := range []string{"lean", "minio"} {
			c, err := engines.New(store.Config{
				Hosts: []store.Address{{Name: target.Endpoint}}, Region: target.Region, Engine: engine,
				Credentials: store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey},
			})
			check.OK(t, err)
			hosts[engine] = c
		}
		ctx := context.Background()
		const bucket = "engines-content"
		check.OK(t, hosts["lean"].MakeBucket(ctx, bucket, false))
		payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
		check.OK(t, err)
		body := payload.NewReader()
		for _, size := range []int64{1, 64 << 10, 64<<10 + 1, 900_000} {
			key := fmt.Sprintf("a b/ü+%d", size)
			body.Reset(generator.PayloadID(key), size)
			ref := store.Ref{Bucket: bucket, Key: key}
			h := hosts["lean"].Acquire()
			if _, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: size}, store.NewTrace(time.Now())); err != nil {
				t.Fatal(err)
			}
			data, err := hosts["minio"].ReadSmall(ctx, ref)
			check.OK(t, err)
			want, _ := io.ReadAll(io.NewSectionReader(body, 0, size))
			if string(data) != string(want) {
				t.Errorf("%d bytes came back as %d others", size, len(data))
			}
			stat, err := h.Stat(ctx, ref, store.NewTrace(time.Now()))
			other, err2 := hosts["minio"].Acquire().Stat(ctx, ref, store.NewTrace(time.Now()))
			if err != nil || err2 != nil || stat != other {
				t.Errorf("%+v, %v; minio-go says %+v, %v", stat, err, other, err2)
			}
			if err := hosts["lean"].Delete(ctx, []store.Ref{ref}); err != nil {
				t.Error(err)
			}
		}
	})
}
