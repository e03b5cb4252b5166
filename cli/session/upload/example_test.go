package upload_test

import (
	"fmt"

	"warp/cli/session/upload"
)

func ExampleFlags_Check() {
	measured := []string{"warp-benchmark-bucket"}
	for _, url := range []string{
		"https://s3.example.com/logs/nightly",
		"https://s3.example.com/warp-benchmark-bucket",
		"https://access:secret@s3.example.com/logs",
	} {
		f := upload.Flags{URL: url}
		fmt.Println(f.Check(measured, false))
	}
	// Output:
	// <nil>
	// --upload: bucket warp-benchmark-bucket has the same name as a measured bucket, which is only for objects of the run; use a bucket of another name
	// --upload: keys do not belong in the address; put them into WARP_UPLOAD_ACCESS_KEY and WARP_UPLOAD_SECRET_KEY
}
