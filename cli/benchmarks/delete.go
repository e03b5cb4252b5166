package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/pkg/bench/ops"
)

// maxBatch is the limit of S3 for one request.
const maxBatch = 1000

func deleteBenchmark() benchmark {
	pool := poolFlags{versions: 1}
	var del ops.Delete
	return benchmark{
		name: "delete", summary: "delete objects, many per request",
		op: &del, requests: []string{"DELETE"},
		about: []string{
			"Uploads --objects objects, then deletes them in batches. Ends when none are left.",
			"With --list-existing or --filelist it deletes objects that are not warp's, and requires --destroy.",
		},
		plan: func() string { return pool.describe() + fmt.Sprintf("deletes them, %d per request", del.Batch) }, empties: true,
		examples: []string{"warp delete --host=s3:9000 --access-key=… --secret-key=… --batch=10"},
		flags: pool.flags(25000, "1KiB",
			&cli.IntFlag{Name: "batch", Value: 100, Destination: &del.Batch, Validator: flagtype.Between(1, maxBatch), Usage: "delete `N` objects per request, at most 1000"},
		),
		rarely:  pool.existingFlags(),
		payload: true,
		check: func(f *Flags) (err error) {
			if pool.foreign() && !f.Target.MayDestroy(f.Destroy) {
				return f.demandDestroy("delete %s deletes objects of bucket %s that warp did not write", pool.how(), f.Target.BucketList())
			}
			del.Pool, err = pool.pool(f)
			f.cost.batch = del.Batch
			return err
		},
		adjust: pool.adjust,
	}
}
