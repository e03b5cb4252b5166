package generator_test

import (
	"fmt"

	"warp/pkg/generator"
)

// A name identifies the run that wrote the object.
func ExampleNames() {
	names := generator.NewNames(generator.RunPrefix(1), 1, generator.Layout{})
	key := names.Key(0, 0)
	fmt.Println(key)
	fmt.Println(names.Owns(key), names.Owns(generator.RunPrefix(1)+"somebody's.txt"))
	// Output:
	// warp-e9pbhewdpab10/f5jv8shd/0.axg2j88c.rnd
	// true false
}

// The seed of the random numbers determines the sizes.
func ExampleParseSizes() {
	sizes, err := generator.ParseSizes("4KiB-1MiB", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sizes, sizes.Min(), sizes.Max())
	a, b := generator.Rand(1, "sizes", 0), generator.Rand(1, "sizes", 0)
	fmt.Println(sizes.Next(a) == sizes.Next(b))
	// Output:
	// 4KiB-1MiB 4096 1048576
	// true
}
