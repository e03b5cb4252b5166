package benchmarks

import (
	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func listBenchmark() benchmark {
	var pool poolFlags
	var list ops.List
	return benchmark{
		name: "list", summary: "list objects, prefix by prefix",
		op: &list, requests: []string{"LIST"},
		about:    []string{"Uploads --objects objects; then each thread lists all pages of its own prefix repeatedly."},
		plan:     pool.then("has each worker list its own prefix again and again"),
		examples: []string{"warp list --host=s3:9000 --access-key=… --secret-key=… --max-keys=1000"},
		flags: pool.flags(10000, "1KB",
			&cli.IntFlag{Name: "max-keys", Value: 100, Destination: &list.MaxKeys, Validator: flagtype.Between(1, maxBatch), Usage: "request `N` objects per page, at most 1000"},
			&cli.BoolFlag{Name: "metadata", Destination: &list.Metadata, Usage: "list metadata as well (a MinIO extension)"},
		),
		rarely:  []cli.Flag{pool.versionsFlag(1)},
		payload: true,
		check: func(f *Flags) (err error) {
			if list.Metadata && f.Target.Host == target.EmbeddedHost {
				return exit.Usagef("the embedded store does not support --metadata")
			}
			if err := f.Target.Require(list.Metadata, "--metadata", provider.ListMetadata); err != nil {
				return err
			}
			list.Pool, err = pool.pool(f)
			return err
		},
		adjust: pool.adjust,
	}
}
