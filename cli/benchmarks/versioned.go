package benchmarks

import (
	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func versionedBenchmark() benchmark {
	pool := poolFlags{versions: 1}
	var versioned ops.Versioned
	return benchmark{
		name: "versioned", summary: "like mixed, on versions of objects",
		op: &versioned, requests: []string{"GET", "STAT", "PUT", "DELETE"},
		made:     func() []string { return mixedRequests(&versioned.Mixed) },
		divided:  func() []float64 { return mixedShares(&versioned.Mixed) },
		needs:    []provider.Feature{provider.Versions},
		about:    []string{"Uploads --objects objects, then adds, reads and removes versions of them."},
		plan:     func() string { return pool.describe() + describeMix(&versioned.Mixed, "versions") },
		examples: []string{"warp versioned --host=s3:9000 --access-key=… --secret-key=… --obj.size=1MiB"},
		flags:    pool.flags(250, "10MiB", distribution(&versioned.Mixed)...),
		rarely:   []cli.Flag{pool.pickFlag(), pool.workingSetFlag()},
		payload:  true, writes: true, reads: true,
		check: func(f *Flags) (err error) {
			if err := versioned.Check(); err != nil {
				return exit.Usagef("%w", err)
			}
			f.cost.set(mixedWrites(&versioned.Mixed))
			versioned.Pool, err = pool.pool(f)
			return err
		},
		adjust: func(o *bench.Options) { o.Versions = true },
	}
}
