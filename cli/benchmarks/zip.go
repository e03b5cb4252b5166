package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench/ops"
	"warp/pkg/store/provider"
)

// maxFiles limits the files of a ZIP: each takes about 400 bytes of memory.
const maxFiles = 10_000_000

func zipBenchmark() benchmark {
	var pool poolFlags
	var zip ops.Zip
	return benchmark{
		name: "zip", summary: "download files out of a ZIP (MinIO)",
		op: &zip, requests: []string{"GET"},
		needs: []provider.Feature{provider.ZIPFiles},
		about: []string{
			"Uploads one ZIP of --files files, then downloads files out of it in random order. This is a MinIO",
			"extension.",
		},
		plan: func() string {
			return fmt.Sprintf("uploads one ZIP of %s of %s, then downloads files out of it in random order", human.Plural(zip.Files, "file"), zip.Sizes)
		},
		examples: []string{"warp zip --host=s3:9000 --access-key=… --secret-key=… --files=1000"},
		flags: append([]cli.Flag{
			&cli.IntFlag{Name: "files", Value: 10000, Destination: &zip.Files, Validator: flagtype.Between(1, maxFiles), Usage: "put `N` files into the ZIP"},
		}, pool.sizeFlags("10KiB")...),
		payload: true, oneBucket: true, reads: true,
		parts: "`SIZE` of the parts in which a larger ZIP is uploaded",
		check: func(f *Flags) (err error) {
			if zip.Sizes, err = pool.sizes(f); err == nil {
				f.cost.uploads, f.cost.archive = 1, zip.MeanSize()
			}
			return err
		},
	}
}
