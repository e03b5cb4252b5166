package benchmarks

import (
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func copyBenchmark() benchmark {
	pool := poolFlags{versions: 1}
	var op ops.Copy
	var parts partFlags
	size := parts.sizeFlag(0, "copy objects larger than `SIZE` in parts of that size")
	size.(*flagtype.Size).DefaultText = "5GiB"
	return benchmark{
		name: "copy", summary: "copy objects inside the store",
		op: &op, requests: []string{"COPY", "COPYPART"},
		divided: func() []float64 {
			switch {
			case pool.foreign() && parts.size > 0:
				return nil // nobody knows their sizes
			case pool.foreign():
				return []float64{1}
			}
			whole := func(size int64) float64 {
				if op.PartsOf(size) > 0 {
					return 2 // one begins and one ends each
				}
				return 1
			}
			return []float64{expected(pool.drawn, whole), expected(pool.drawn, func(size int64) float64 { return float64(op.PartsOf(size)) })}
		},
		needs:    []provider.Feature{provider.Copies},
		about:    []string{"Uploads --objects objects, then has the store copy them to new names, in random order."},
		plan:     pool.then("has the store copy them to new names in random order"),
		examples: []string{"warp copy --host=s3:9000 --access-key=… --secret-key=… --obj.size=100MiB --part.size=16MiB"},
		flags: pool.flags(250, "10MiB",
			size,
			parts.atOnceFlag(4, "transfer `N` parts of an object at a time"),
		),
		rarely:  slices.Concat([]cli.Flag{pool.workingSetFlag()}, pool.existingFlags(), pool.passFlags()),
		payload: true, writes: true,
		check: func(f *Flags) error {
			if err := f.Target.Require(parts.size > 0, "copy --part.size", provider.PartCopies); err != nil {
				return err
			}
			if parts.size > 0 {
				if err := parts.check(); err != nil {
					return err
				}
			}
			var err error
			op.Pool, err = pool.pool(f)
			op.PartSize, op.AtOnce = parts.size, parts.atOnce
			return err
		},
	}
}
