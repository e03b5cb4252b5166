package store_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A client sends each request through the host that it picks for it.
func Example() {
	embedded, err := s3mem.Start(s3mem.EmbeddedOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer embedded.Close()
	client, err := engines.New(store.Config{Hosts: store.Addresses([]string{embedded.Addr()}), Region: "us-east-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx := context.Background()
	if err := client.MakeBucket(ctx, "photos", false); err != nil {
		fmt.Println(err)
		return
	}

	hello := strings.NewReader("hello")
	trace := store.NewTrace(time.Now())
	err = client.Use(func(h *store.Host) error {
		_, err := h.Put(ctx, store.Put{Ref: store.Ref{Bucket: "photos", Key: "cat"}, Body: hello, Size: hello.Size()}, trace)
		return err
	})
	fmt.Println(err, trace.Status(), trace.Requests())

	err = client.Use(func(h *store.Host) error {
		_, err := h.Stat(ctx, store.Ref{Bucket: "photos", Key: "dog"}, store.NewTrace(time.Now()))
		return err
	})
	fmt.Println(store.CodeOf(err))
	// Output:
	// <nil> 200 1
	// NoSuchKey
}
