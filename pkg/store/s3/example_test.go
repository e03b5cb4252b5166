package s3_test

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// However many workers ask, the store gets one request for the region of a
// bucket.
func ExampleRegions() {
	requests := 0
	regions := s3.NewRegions(func(_ context.Context, bucket string) (string, error) {
		requests++
		return "eu-central-1", nil
	})
	for range 3 {
		region, err := regions.Of(context.Background(), "photos")
		fmt.Println(region, err)
	}
	regions.Learn("videos", "us-west-2") // from an answer
	region, err := regions.Of(context.Background(), "videos")
	fmt.Println(region, err)
	fmt.Println(requests, "request")
	// Output:
	// eu-central-1 <nil>
	// eu-central-1 <nil>
	// eu-central-1 <nil>
	// us-west-2 <nil>
	// 1 request
}

// A store answers a batch of deletions key by key.
func ExampleDeletions() {
	d := s3.Deletions{Refs: []store.Ref{{Bucket: "photos", Key: "cat"}, {Bucket: "photos", Key: "dog"}}}
	if err := d.Confirm([]byte("cat"), 200); err != nil {
		fmt.Println(err)
	}
	fmt.Println(d.Err(store.NewTrace(time.Now()))) // nothing was said about the dog
	// Output: BadAnswer: the store confirmed 1 of 2 deletions
}
