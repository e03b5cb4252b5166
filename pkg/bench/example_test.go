package bench_test

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A counter is a sink that counts requests by operation.
type counter map[string]int

func (c counter) Write(records []oplog.Record) error {
	for i := range records {
		c[records[i].Op]++
	}
	return nil
}

func (counter) Flush() error { return nil }

// A run uploads 25 objects to a store in memory, and removes them.
func ExampleRunner() {
	ctx := context.Background()
	memory, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 16 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()
	client, err := engines.New(store.Config{Hosts: store.Addresses([]string{memory.Addr()}), Region: "us-east-1",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Concurrency: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	sizes, err := generator.ParseSizes("4KiB", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := &bench.Runner{Client: client, Op: &ops.Put{Sizes: sizes}, Options: bench.Options{
		Benchmark: "put", RunID: "run", ClientID: "client", Bucket: "bucket", Seed: 1,
		Concurrency: 4, MaxObjects: 25, Lease: time.Minute, Payload: generator.PayloadOptions{Seed: 1},
	}}
	requests := counter{}
	if err = runner.Open(ctx); err == nil {
		out := runner.Run(ctx, requests)
		fmt.Printf("%s: %v, %d failed, %s\n", out.Trailer.End, requests, out.Failed, out.Trailer.Reason)
	}
	fmt.Println(err, runner.Cleanup(ctx))
	// Output:
	// completed: map[PUT:25], 0 failed, all 25 objects of --max-objects were written
	// <nil> <nil>
}
