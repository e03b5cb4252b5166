package aisloader_test

import (
	"fmt"

	"warp/cli/aisloader"
)

func ExampleParseBucket() {
	for _, name := range []string{"training", "s3://training", "ftp://training"} {
		b, err := aisloader.ParseBucket(name, "ais")
		fmt.Println(b.Provider, b.Name, err)
	}
	// Output:
	// ais training <nil>
	// aws training <nil>
	// ftp training "ftp" is not a provider of AIStore: write ais, aws, gcp, azure, oci or ht
}

// A unit is binary, whether or not it is written so.
func ExampleParseSize() {
	for _, size := range []string{"512K", "512KB", "512KiB"} {
		n, err := aisloader.ParseSize(size)
		fmt.Println(n, err)
	}
	// Output:
	// 524288 <nil>
	// 524288 <nil>
	// 524288 <nil>
}
