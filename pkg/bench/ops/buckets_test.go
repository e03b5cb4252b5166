package ops_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// In several buckets a row's bucket follows from its thread, all of them are used, and all are left as they were.
func TestSeveralBuckets(t *testing.T) {
	stores.Each(t, func(t *testing.T, target *teststore.Store) {
		pool := func() ops.Pool { return ops.Pool{Objects: 30, Sizes: sizes(t, "1KiB")} }
		unique, versions, existing := pool(), pool(), pool()
		unique.Unique, unique.Epochs = true, 3
		versions.Versions = 2
		existing.ListExisting, existing.Objects, existing.Prefix = true, 3, "foreign"
		type run struct {
			op   bench.Op
			more func(o *bench.Options)
			rows int // that there must be in all; 0 = any number
		}
		noPrefix := func(o *bench.Options) { o.Layout.NoPrefix = true }
		runs := map[string]run{
			"get":           {op: &ops.Get{Pool: pool()}},
			"get unique":    {op: &ops.Get{Pool: unique}, rows: 30 + 90},
			"get existing":  {op: &ops.Get{Pool: existing}, more: func(o *bench.Options) { o.ReadOnly = true }},
			"put":           {op: &ops.Put{Sizes: sizes(t, "1KiB")}},
			"stat":          {op: &ops.Stat{Pool: pool()}, more: noPrefix},
			"list":          {op: &ops.List{Pool: pool()}},
			"list noprefix": {op: &ops.List{Pool: pool()}, more: noPrefix},
			"delete":        {op: &ops.Delete{Pool: pool(), Batch: 4}, rows: 30 + 9},
			"mixed":         {op: &ops.Mixed{Pool: pool(), Get: 45, Stat: 30, Put: 15, Delete: 10}},
			"copy":          {op: &ops.Copy{Pool: pool()}},
		}
		if target.Can.Versioning {
			runs["get versions"] = run{op: &ops.Get{Pool: versions}, more: func(o *bench.Options) { o.Versions = true }}
			runs["versioned"] = run{op: &ops.Versioned{Mixed: ops.Mixed{Pool: pool(), Get: 45, Stat: 30, Put: 15, Delete: 10}},
				more: func(o *bench.Options) { o.Versions = true }}
		}
		for name, r := range runs {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				inBuckets(t, target, name, r.op, r.more, r.rows)
			})
		}
	})
}

// rows keeps all rows of a run.
type rows struct {
	mu  sync.Mutex
	all []oplog.Record
}

func (r *rows) Write(records []oplog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, records...)
	return nil
}

func (r *rows) Flush() error { return nil }

// failures are the rows of failed requests. A versioned object that is being overwritten is gone from versitygw for a
// moment, or answered with another of these errors (see docs/operations.md), which has nothing to do with buckets.
func (r *rows) failures(target *teststore.Store) (failed []oplog.Record) {
	for i := range r.all {
		code, _, _ := strings.Cut(r.all[i].Err, ":")
		gone := target.Name == teststore.Versitygw && slices.Contains([]string{"NoSuchKey", "NoSuchVersion", "InvalidArgument", "InternalError"}, code)
		if r.all[i].Err != "" && !gone {
			failed = append(failed, r.all[i])
		}
	}
	return failed
}

func inBuckets(t *testing.T, target *teststore.Store, name string, op bench.Op, more func(*bench.Options), want int) {
	ctx := context.Background()
	proxy := teststore.NewProxy(t, target.Endpoint)
	client, err := engines.New(store.Config{
		Hosts: []store.Address{{Name: proxy.Endpoint}}, Region: target.Region, Concurrency: 7,
		Credentials: store.Keys{AccessKey: target.AccessKey, SecretKey: target.SecretKey},
	})
	check.OK(t, err)
	var buckets []string
	for i := range 3 {
		buckets = append(buckets, fmt.Sprintf("spread-%s-%d", strings.ReplaceAll(name, " ", "-"), i))
	}
	prepareForeign(t, client, buckets, !strings.Contains(name, "version"))
	seed := uint64(time.Now().UnixNano())
	o := bench.Options{
		Benchmark: name, RunID: fmt.Sprint("run", seed), ClientID: "client", Seed: seed, Bucket: buckets[0], MoreBuckets: buckets[1:],
		Concurrency: 7, Duration: 500 * time.Millisecond, Drain: 10 * time.Second, Lease: time.Minute,
		Payload: generator.PayloadOptions{Seed: seed},
	}
	if want > 0 {
		o.Duration = time.Minute
	}
	if more != nil {
		more(&o)
	}
	r, seen := &bench.Runner{Client: client, Op: op, Options: o}, &rows{}
	check.OK(t, r.Open(ctx))
	out := r.Run(ctx, seen)
	if failed := seen.failures(target); out.Fatal != nil || len(failed) > 0 || out.Sent == 0 {
		t.Fatalf("%v, of %d failed: %+v", out.Fatal, out.Sent, failed)
	}
	if want > 0 && len(seen.all) != want {
		t.Errorf("%d rows instead of %d", len(seen.all), want)
	}
	checkPlaces(t, proxy, buckets, seen.all, want == 0)
	if err := r.Cleanup(ctx); err != nil {
		t.Error(err)
	}
	for _, b := range buckets {
		left := keysOf(t, client, b)
		foreign := []string{"foreign/1", "foreign/2"}
		if strings.Contains(name, "version") {
			foreign = nil
		}
		if fmt.Sprint(left) != fmt.Sprint(foreign) {
			t.Errorf("bucket %s has %q afterwards", b, left)
		}
		if state, err := client.Versioning(ctx, b); err != nil || state == "Enabled" {
			t.Errorf("versioning of bucket %s is %q afterwards, %v", b, state, err)
		}
	}
}

// prepareForeign puts somebody else's objects into buckets. Those for versions warp has to make itself.
func prepareForeign(t *testing.T, client *store.Client, buckets []string, objects bool) {
	for _, b := range buckets {
		if !objects {
			continue
		}
		check.OK(t, client.MakeBucket(t.Context(), b, false))
		for _, key := range []string{"foreign/1", "foreign/2"} {
			if _, err := client.WriteSmall(t.Context(), store.Ref{Bucket: b, Key: key}, []byte("foreign")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func keysOf(t *testing.T, client *store.Client, bucket string) (keys []string) {
	err := client.List(t.Context(), store.List{Bucket: bucket}, func() { keys = nil }, func(o store.Object) bool {
		keys = append(keys, o.Key)
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return keys
}

// checkPlaces wants every row's request in the bucket that its thread has, and rows of every bucket. Passes and
// deletions end with what is left in another bucket, so their reads are not looked at.
func checkPlaces(t *testing.T, proxy *teststore.Proxy, buckets []string, all []oplog.Record, reads bool) {
	in := make(map[string]map[string]bool)
	for _, s := range proxy.Requests(nil) {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(s.Path, "/"), "/")
		if in[key] == nil {
			in[key] = make(map[string]bool)
		}
		in[key][bucket] = true
	}
	used := make(map[string]int)
	for _, row := range all {
		bucket := buckets[int(row.Thread)%len(buckets)]
		used[bucket]++
		if row.Op == "PUT" && (len(in[row.Key]) != 1 || !in[row.Key][bucket]) {
			t.Errorf("%s of thread %d for %s went to %v", row.Op, row.Thread, row.Key, in[row.Key])
		}
		foreign := strings.HasPrefix(row.Key, "foreign") // which all buckets have
		if reads && !foreign && (row.Op == "GET" || row.Op == "STAT") && !in[row.Key][bucket] {
			t.Errorf("%s of thread %d for %s went to %v", row.Op, row.Thread, row.Key, in[row.Key])
		}
	}
	if len(used) != len(buckets) {
		t.Errorf("rows by bucket: %v", used)
	}
}
