package archive_test

import (
	"archive/zip"
	"fmt"
	"io"

	"warp/pkg/bench/archive"
	"warp/pkg/generator"
)

// The ZIP contains the content that the generator gives to the keys of its files.
func ExampleZip() {
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, body, err := archive.Zip("all.zip", []int64{10, 2000}, payload.NewReader())
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := zip.NewReader(body, body.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, f := range r.File {
		file, err := f.Open()
		if err != nil {
			fmt.Println(err)
			return
		}
		content, err := io.ReadAll(file) // checks the sum
		want := make([]byte, f.UncompressedSize64)
		payload.ObjectAt(generator.PayloadID(keys[i]), int64(len(want)), 0, want)
		fmt.Println(keys[i], len(content), string(content) == string(want), err)
	}
	// Output:
	// all.zip/00000000.rnd 10 true <nil>
	// all.zip/00000001.rnd 2000 true <nil>
}
