package bench

import (
	"context"
	"testing"

	"warp/internal/check"
	"warp/pkg/bench/recording"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

type nowhere struct{}

func (nowhere) Write([]oplog.Record) error { return nil }
func (nowhere) Flush() error               { return nil }

// testWorker is a worker that measures against a store, with all that belongs
// to a run.
func testWorker(t testing.TB, addr string) *Worker {
	client, err := engines.New(store.Config{
		Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Concurrency: 1, Engine: "lean",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"},
	})
	check.OK(t, err)
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	check.OK(t, err)
	o := &Options{RunID: "run", ClientID: "client"}
	run := newRun(context.Background(), o, client, newTracing(o), nil)
	run.record([]recording.Sink{nowhere{}})
	t.Cleanup(func() { run.records.Close(); run.cancel() })
	env := &Env{Client: client, Bucket: "bucket", Names: generator.NewNames("warp-1/", 1, generator.Layout{})}
	return &Worker{Env: env, run: run, Rand: generator.Rand(1, "worker", 0), Body: payload.NewReader(), Check: verify.New(verify.ETag, payload), queue: run.records.NewQueue(0)}
}
