package benchmarks

import (
	"slices"

	"warp/pkg/bench/ops"

	"github.com/urfave/cli/v3"
)

func statBenchmark() benchmark {
	var pool poolFlags
	var stat ops.Stat
	return benchmark{
		name: "stat", summary: "request the metadata of objects (HEAD)",
		op: &stat, requests: []string{"STAT"},
		about:    []string{"Uploads --objects objects, then requests their metadata in random order."},
		plan:     pool.then("asks for the metadata of one after the other in random order"),
		examples: []string{"warp stat --host=s3:9000 --access-key=… --secret-key=… --objects=1000"},
		flags:    pool.flags(10000, "1KB"),
		rarely:   slices.Concat([]cli.Flag{pool.versionsFlag(1)}, pool.existingFlags(), pool.passFlags()),
		payload:  true,
		shares:   true,
		check: func(f *Flags) (err error) {
			stat.Pool, err = pool.pool(f)
			return err
		},
		adjust: pool.adjust,
	}
}
