package cli

import (
	"slices"

	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
)

func getCommand(env environment) *command {
	var pool poolFlags
	var get bench.Get
	return benchmarkCommand(env, benchmark{
		name: "get", summary: "download objects, or parts of them",
		about: []string{"Uploads --objects objects, then downloads them in random order."},
		examples: []string{
			"warp get --host=s3-{1...4}:9000 --access-key=… --secret-key=… --obj.size=1MiB",
			"warp get --list-existing --objects=0 --bucket=photos",
		},
		flags: append(append([]cli.Flag{pool.objectsFlag(2500, "`N` objects to upload first")}, pool.sizeFlags("10MiB")...),
			&cli.BoolFlag{Name: "range", Destination: &get.Range, Usage: "download a random part of each object"},
			&sizeFlag{Name: "range-size", Destination: &get.RangeSize, DefaultText: "random", Usage: "with --range: `SIZE` of the parts"},
		),
		rarely:  slices.Concat([]cli.Flag{pool.versionsFlag()}, pool.existingFlags(), pool.passFlags()),
		payload: true,
		op: func(f *benchFlags) (op bench.Op, err error) {
			if get.RangeSize > 0 && !get.Range {
				return nil, usageError("--range-size is of use with --range only")
			}
			get.Pool, err = pool.pool(f)
			return &get, err
		},
		adjust: pool.adjust,
	})
}
