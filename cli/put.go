package cli

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
)

func putCommand(env environment) *command {
	var pool poolFlags
	var put bench.Put
	return benchmarkCommand(env, benchmark{
		name: "put", summary: "upload objects",
		about:    []string{"Uploads new objects until the time is over."},
		plan:     func() string { return fmt.Sprintf("uploads new objects of %s", put.Sizes) },
		examples: []string{"warp put --host=s3:9000 --access-key=… --secret-key=… --obj.size=4KiB --concurrent=64"},
		flags:    pool.sizeFlags("10MiB"),
		rarely: []cli.Flag{
			&cli.BoolFlag{Name: "post", Destination: &put.Post, Usage: "upload as a browser's form does (POST), in one request each"},
		},
		payload: true, writes: true,
		parts: "`SIZE` of the parts in which larger objects are uploaded",
		op: func(f *benchFlags) (op bench.Op, err error) {
			if put.Post {
				if err := f.target.options.checkForm("--post", true); err != nil {
					return nil, err
				}
			}
			put.Sizes, err = pool.sizes(f)
			return &put, err
		},
	})
}
