package verify_test

import (
	"fmt"
	"time"

	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// A download whose fourth byte is wrong.
func ExampleVerifier() {
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	object := &store.Object{Ref: store.Ref{Bucket: "bucket", Key: "key"}, Size: 1000}
	content := make([]byte, object.Size)
	payload.ObjectAt(generator.PayloadID(object.Key), object.Size, 0, content)
	content[3] ^= 1

	v := verify.New(verify.Content, payload)
	get := v.Request(store.Get{Ref: object.Ref})
	v.Reset(object, &get)
	n, _ := get.Into.Write(content)
	err = v.Download(object, &store.Download{Bytes: int64(n)}, object.Size, store.NewTrace(time.Now()))
	fmt.Println(err)
	// Output:
	// WrongContent: the byte at offset 3 of key is 0x1a instead of 0x1b
}
