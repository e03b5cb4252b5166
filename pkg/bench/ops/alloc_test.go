package ops

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/bench"

	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

type nowhere struct{}

func (nowhere) Write([]oplog.Record) error { return nil }
func (nowhere) Flush() error               { return nil }

// lend is an operation that lends its only worker to a test.
type lend struct {
	worker   chan *bench.Worker
	returned chan struct{}
}

func (l *lend) Prepare(context.Context, *bench.Env) error { return nil }

func (l *lend) Do(_ context.Context, w *bench.Worker) error {
	l.worker <- w
	<-l.returned
	return bench.ErrDone
}

// testWorker returns the worker of a run that lasts until the end of the test.
func testWorker(t testing.TB, addr string) *bench.Worker {
	client, err := engines.New(store.Config{
		Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Concurrency: 1, Engine: "lean",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"},
	})
	check.OK(t, err)
	op := &lend{make(chan *bench.Worker), make(chan struct{})}
	r := &bench.Runner{Client: client, Op: op, Options: bench.Options{RunID: "run", ClientID: "client", Bucket: "bucket", Seed: 1,
		Concurrency: 1, NoBucket: true, ReadOnly: true, Payload: generator.PayloadOptions{Seed: 1}, Verify: verify.ETag}}
	check.OK(t, r.Open(t.Context()))
	var run sync.WaitGroup
	run.Go(func() {
		if out := r.Run(context.Background(), nowhere{}); out.Fatal != nil {
			t.Error(out.Fatal)
		}
	})
	t.Cleanup(func() { close(op.returned); run.Wait() })
	return <-op.worker
}

// steps are the requests that must not make garbage.
func steps(t testing.TB, w *bench.Worker) map[string]func() {
	ctx := context.Background()
	obj := &store.Object{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Size: 1024, ETag: "0123456789abcdef0123456789abcdef"}
	get, stat := &Get{}, &Stat{}
	get.found, stat.found = []store.Object{*obj}, []store.Object{*obj}
	get.divide(w.Env)
	stat.divide(w.Env)
	check := func(err error) {
		check.OK(t, err)
	}
	made := &Get{}
	key := w.NextKey()
	made.names, made.buckets, made.made = w.Env.Names, []string{"bucket"}, []entry{newEntry(w.Env.Names, &store.Object{Ref: store.Ref{Key: key}, Size: 1024, ETag: obj.ETag}, "")}
	made.divide(w.Env)
	ranged := &Get{Range: true}
	ranged.found = []store.Object{{Ref: obj.Ref, Size: 1024}}
	ranged.RangeSize = 1024
	ranged.divide(w.Env)
	// What the store sends is all zeros, and so is this payload.
	zeros, err := generator.NewPayload(generator.PayloadOptions{File: make([]byte, 1)})
	check(err)
	plain, content := w.Check, verify.New(verify.Content, zeros)
	return map[string]func(){
		"GET":                      func() { check(get.Do(ctx, w)) },
		"GET of a prepared object": func() { check(made.Do(ctx, w)) },
		"GET with its content": func() {
			w.Check = content
			check(get.Do(ctx, w))
			w.Check = plain
		},
		"range": func() { check(ranged.Do(ctx, w)) },
		"STAT":  func() { check(stat.Do(ctx, w)) },
		"PUT": func() {
			_, err := w.Upload(ctx, w.NextKey(), 1024)
			check(err)
		},
	}
}

func TestMeasuredRequestsMakeNoGarbage(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector makes garbage of its own; make test runs this again without it")
	}
	w := testWorker(t, teststore.Silent(t))
	for name, step := range steps(t, w) {
		t.Run(name, func(t *testing.T) {
			for range 200 { // buffers grow, chunks of the queue come into use
				step()
			}
			if n := testing.AllocsPerRun(3000, step); n > 0 {
				t.Errorf("%v allocations per request", n)
			}
		})
	}
}

// What a request costs client and store together, in one process.
func BenchmarkRequest(b *testing.B) {
	w := testWorker(b, teststore.Silent(b))
	for name, step := range steps(b, w) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			m := hostload.NewMeter(b.Context(), nil, func() int64 { return 0 })
			m.Start()
			for b.Loop() {
				step()
			}
			b.ReportMetric(1e6*m.Stop().CPUSeconds/float64(b.N), "cpu-µs/op")
		})
	}
}
