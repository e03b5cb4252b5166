package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func fanoutBenchmark() benchmark {
	var pool poolFlags
	var fan ops.FanOut
	return benchmark{
		name: "fanout", summary: "upload one payload under many names (MinIO)",
		op: &fan, requests: []string{"POST"},
		needs: []provider.Feature{provider.FanOuts},
		about: []string{
			"Sends each payload once, and the store writes it under --copies names. This is a MinIO extension.",
			"Throughput counts the objects written, --copies times the payload sent.",
		},
		plan: func() string {
			return fmt.Sprintf("sends payloads of %s and has the store write each under %s", fan.Sizes, human.Plural(fan.Copies, "name"))
		},
		examples: []string{"warp fanout --host=s3:9000 --access-key=… --secret-key=… --copies=50 --obj.size=512KiB"},
		flags: append(pool.sizeFlags("1MiB"),
			&cli.IntFlag{Name: "copies", Value: 100, Destination: &fan.Copies, Validator: flagtype.Between(1, maxBatch), Usage: "write each payload under `N` names, at most 1000"},
		),
		payload: true, writes: true,
		check: func(f *Flags) (err error) {
			if err := f.Target.Options.CheckForm("fanout", false); err != nil {
				return err
			}
			fan.Sizes, err = pool.sizes(f)
			f.cost.set(float64(fan.Copies), float64(fan.Copies))
			return err
		},
	}
}
