package s3_test

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// An engine sends requests to one host, here one whose objects all have 5 bytes.
func ExampleEngine() {
	null, err := s3mem.StartNull(s3mem.NullOptions{Size: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer null.Close()
	cfg := store.Config{Region: "us-east-1", Concurrency: 1, Credentials: store.Keys{AccessKey: "access", SecretKey: "secret"}}
	at := store.Address{Name: null.Addr()}
	if why := s3.WhyNot(&cfg, at); why != "" {
		fmt.Println(why)
		return
	}
	var counters store.Counters
	e, err := s3.New(&cfg, at, s3.NewRegions(nil), &counters)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	for range 3 {
		trace := store.NewTrace(time.Now())
		d, err := e.Get(context.Background(), store.Get{Ref: store.Ref{Bucket: "photos", Key: "cat"}}, trace)
		fmt.Println(d.Bytes, trace.Status(), err)
	}
	fmt.Println(null.Count("GET"), "requests,", counters.Connections.Load(), "connection")
	// Output:
	// 5 200 <nil>
	// 5 200 <nil>
	// 5 200 <nil>
	// 3 requests, 1 connection
}
