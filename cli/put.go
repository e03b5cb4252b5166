package cli

import (
	"warp/pkg/bench"
)

func putCommand(env environment) *command {
	var pool poolFlags
	return benchmarkCommand(env, benchmark{
		name: "put", summary: "upload objects",
		about:    []string{"Uploads new objects until the time is over."},
		examples: []string{"warp put --host=127.0.0.1:9000 --access-key=… --secret-key=… --obj.size=4KiB --concurrent=64"},
		flags:    pool.sizeFlags("10MiB"),
		payload:  true,
		op: func(*benchFlags) (bench.Op, error) {
			sizes, err := pool.sizes()
			return &bench.Put{Sizes: sizes}, err
		},
	})
}
