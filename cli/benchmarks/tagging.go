package benchmarks

import (
	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

func taggingBenchmark() benchmark {
	pool := poolFlags{versions: 1}
	var tagging ops.Tagging
	return benchmark{
		name: "tagging", summary: "put, get and delete the tags of objects",
		op: &tagging, requests: []string{"PUTTAGS", "GETTAGS", "DELETETAGS"},
		needs:    []provider.Feature{provider.Tags},
		about:    []string{"Uploads --objects objects, then puts, gets and deletes their tags, and verifies what it gets."},
		plan:     pool.then("puts, gets and deletes their tags"),
		examples: []string{"warp tagging --host=s3:9000 --access-key=… --secret-key=… --get-distrib=9 --put-distrib=1"},
		flags: append(append([]cli.Flag{pool.objectsFlag(10000, "`N` objects to upload first, at least one per worker")}, pool.sizeFlags("1KiB")...),
			&cli.IntFlag{Name: "tags", Value: 2, Destination: &tagging.Tags, Validator: flagtype.Between(1, 10), Usage: "set `N` tags per object, at most 10"},
			shareFlag("put", 30, &tagging.Put, "puts"),
			shareFlag("get", 60, &tagging.Get, "gets"),
			shareFlag("delete", 10, &tagging.Delete, "deletions"),
		),
		payload: true,
		check: func(f *Flags) (err error) {
			if err := tagging.Check(); err != nil {
				return exit.Usagef("%w", err)
			}
			if pool.objects < f.Concurrent {
				return exit.Usagef("--objects=%d is less than --concurrent=%d, and every worker needs objects of its own", pool.objects, f.Concurrent)
			}
			tagging.Pool, err = pool.pool(f)
			return err
		},
	}
}
