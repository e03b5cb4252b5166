package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func snowballBenchmark() benchmark {
	var pool poolFlags
	var snow ops.Snowball
	return benchmark{
		name: "snowball", summary: "upload TARs that the store unpacks (MinIO)",
		op: &snow, requests: []string{"PUT"},
		needs: []provider.Feature{provider.Unpacking},
		about: []string{
			"Uploads TARs of --objs.per objects each, which the store unpacks. This is a MinIO extension.",
			"Throughput counts the unpacked objects.",
		},
		plan: func() string {
			return fmt.Sprintf("uploads TARs of %s of %s each", human.Plural(snow.PerTar, "object"), snow.Sizes)
		},
		examples: []string{"warp snowball --host=s3:9000 --access-key=… --secret-key=… --objs.per=100"},
		flags: append(pool.sizeFlags("512KiB"),
			&cli.IntFlag{Name: "objs.per", Value: 50, Destination: &snow.PerTar, Validator: flagtype.AtLeast(1), Usage: "put `N` objects into each TAR"},
			&cli.BoolFlag{Name: "compress", Destination: &snow.Compress, Usage: "compress the TARs; all objects in a TAR are then the same"},
		),
		payload: true, writes: true,
		check: func(f *Flags) (err error) {
			if snow.Sizes, err = pool.sizes(f); err != nil {
				return err
			}
			f.cost.set(float64(snow.PerTar), float64(snow.PerTar))
			if err := snow.Check(f.Concurrent); err != nil {
				return exit.Usagef("%w", err)
			}
			return nil
		},
	}
}
