package lease_test

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A run that is alive keeps others away from its names.
func ExampleLease() {
	ctx := context.Background()
	memory, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 16 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()
	client, err := engines.New(store.Config{Hosts: store.Addresses([]string{memory.Addr()}), Region: "us-east-1",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Concurrency: 2})
	if err == nil {
		defer client.Close()
		err = client.MakeBucket(ctx, "bucket", false)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	options := func(run string) lease.Options {
		return lease.Options{Store: client, Bucket: "bucket", Run: run, Prefix: generator.RunPrefix(7), Seed: 7, Length: time.Minute}
	}
	first, second := lease.New(options("first")), lease.New(options("second"))
	fmt.Println(first.Acquire(ctx))
	fmt.Println(second.Acquire(ctx))
	fmt.Println(second.Release(ctx, false), first.Release(ctx, false))
	// Output:
	// <nil>
	// run first is using the same names: use another --seed or --prefix, or wait for it to end
	// <nil> <nil>
}
