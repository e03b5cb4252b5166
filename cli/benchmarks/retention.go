package benchmarks

import (
	"github.com/urfave/cli/v3"

	"warp/cli/target"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

// lockBucket is the bucket of retention if the default bucket exists already,
// and without object lock.
const lockBucket = target.DefaultBucket + "-lock"

func retentionBenchmark() benchmark {
	var pool poolFlags
	var retention ops.Retention
	var elsewhere string
	return benchmark{
		name: "retention", summary: "lock versions of objects (PutObjectRetention)",
		op: &retention, requests: []string{"RETENTION"},
		needs: []provider.Feature{provider.ObjectLock},
		about: []string{
			"Uploads --versions versions of --objects objects, then locks them in random order, in governance",
			"mode for an hour. Needs a bucket with object lock, and creates it if it does not exist.",
		},
		plan:     pool.then("locks them for an hour in random order"),
		examples: []string{"warp retention --host=s3:9000 --access-key=… --secret-key=… --bucket=locked --objects=2500"},
		flags: append([]cli.Flag{pool.objectsFlag(25000, "`N` objects to upload first"), pool.versionsFlag(5)},
			pool.sizeFlags("1KiB")...),
		rarely:  []cli.Flag{pool.pickFlag()},
		payload: true, oneBucket: true,
		check: func(f *Flags) (err error) {
			if f.Target.Bucket == target.DefaultBucket && !f.clearBucket {
				elsewhere = lockBucket
			}
			retention.Pool, err = pool.pool(f)
			return err
		},
		adjust: func(o *bench.Options) { o.Lock, o.LockBucket = true, elsewhere },
	}
}
