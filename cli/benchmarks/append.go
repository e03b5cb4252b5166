package benchmarks

import (
	"fmt"

	"warp/cli/exit"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func appendBenchmark() benchmark {
	var pool poolFlags
	var op ops.Append
	return benchmark{
		name: "append", summary: "append to objects (S3 Express)",
		op: &op, requests: []string{"APPEND"},
		needs: []provider.Feature{provider.Appends},
		about: []string{
			"Each worker appends --obj.size to an object of its own, and starts a new one after 10,000 appends.",
		},
		plan: func() string {
			return fmt.Sprintf("has each worker append %s at a time to an object of its own", pool.drawn)
		},
		examples: []string{"warp append --host=s3:9000 --access-key=… --secret-key=… --obj.size=1MiB"},
		flags:    pool.sizeFlags("10MiB"),
		payload:  true,
		check: func(f *Flags) (err error) {
			if f.Payload.Reader == ReaderTar {
				return exit.Usagef("--reader=tar cannot be combined with appends: an object that grows is not a TAR").WithHint("use --reader=rand or --reader=file:NAME")
			}
			op.Parts = ops.MaxAppends
			if op.Sizes, err = pool.sizes(f); err == nil && op.Sizes.Max() == 0 {
				err = exit.Usagef("--obj.size=0: an append needs at least one byte").WithHint("use --obj.size=1 or more")
			}
			return err
		},
	}
}
