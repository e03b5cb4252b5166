package cli

import (
	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
)

func mixedCommand(env environment) *command {
	pool := poolFlags{versions: 1}
	var mixed bench.Mixed
	return benchmarkCommand(env, benchmark{
		name: "mixed", summary: "download, stat, upload and delete at once",
		about:    []string{"Uploads --objects objects as a pool, and then works on it with all four operations."},
		examples: []string{"warp mixed --host=embedded --obj.size=1MiB --objects=100 --duration=10s"},
		flags: append(append([]cli.Flag{pool.objectsFlag(2500, "`N` objects to upload first")}, pool.sizeFlags("10MiB")...),
			distribution(&mixed)...),
		payload: true,
		op: func(f *benchFlags) (op bench.Op, err error) {
			if err := mixed.Check(); err != nil {
				return nil, usageError("%w", err)
			}
			mixed.Pool, err = pool.pool(f)
			return &mixed, err
		},
	})
}

// distribution are the shares of the four operations.
func distribution(m *bench.Mixed) []cli.Flag {
	return []cli.Flag{
		shareFlag("get", 45, &m.Get, "downloads"),
		shareFlag("stat", 30, &m.Stat, "stats"),
		shareFlag("put", 15, &m.Put, "uploads"),
		shareFlag("delete", 10, &m.Delete, "deletions; not above the uploads"),
	}
}

func shareFlag(name string, value float64, p *float64, what string) cli.Flag {
	return &cli.FloatFlag{Name: name + "-distrib", Value: value, Destination: p, Validator: shareValid, Usage: "share of " + what + " among the requests"}
}
