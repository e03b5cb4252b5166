package minio_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/minio"
)

// An Admin does what comes before and after a benchmark, an Engine the requests
// in between.
func Example() {
	embedded, err := s3mem.Start(s3mem.EmbeddedOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer embedded.Close()
	cfg := store.Config{Region: "us-east-1", Concurrency: 1}
	at := store.Address{Name: embedded.Addr()}
	admin, err := minio.NewAdmin(&cfg, at)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer admin.Close()
	engine, err := minio.New(&cfg, at, new(store.Counters))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	ctx, hello, cat := context.Background(), strings.NewReader("hello"), store.Ref{Bucket: "photos", Key: "cat"}
	fmt.Println(admin.MakeBucket(ctx, "photos"))
	put, err := engine.Put(ctx, store.Put{Ref: cat, Body: hello, Size: hello.Size()}, store.NewTrace(time.Now()))
	fmt.Println(put.ETag, err)
	content, err := admin.Read(ctx, cat)
	fmt.Println(string(content), err)
	// Output:
	// <nil>
	// 5d41402abc4b2a76b9719d911017c592 <nil>
	// hello <nil>
}
