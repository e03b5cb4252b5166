package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func putBenchmark() benchmark {
	var pool poolFlags
	var put ops.Put
	return benchmark{
		name: "put", summary: "upload objects",
		op: &put, requests: []string{"PUT", "POST"},
		made: func() []string {
			if put.Post {
				return []string{"POST"}
			}
			return []string{"PUT"}
		},
		about:    []string{"Uploads new objects until the end of the run."},
		plan:     func() string { return fmt.Sprintf("uploads new objects of %s", put.Sizes) },
		examples: []string{"warp put --host=s3:9000 --access-key=… --secret-key=… --obj.size=4KiB --concurrent=64"},
		flags:    pool.sizeFlags("10MiB"),
		rarely: []cli.Flag{
			&cli.BoolFlag{Name: "post", Destination: &put.Post, Usage: "upload with POST forms, as browsers do, in one request each"},
		},
		payload: true, writes: true,
		parts: "upload objects larger than `SIZE` in parts of that size",
		check: func(f *Flags) (err error) {
			if err := f.Target.Require(put.Post, "--post", provider.Forms); err != nil {
				return err
			}
			if put.Post {
				if err := f.Target.Options.CheckForm("--post", true); err != nil {
					return err
				}
			}
			put.Sizes, err = pool.sizes(f)
			return err
		},
	}
}
