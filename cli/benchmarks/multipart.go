package benchmarks

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store/provider"
)

func multipartBenchmark() benchmark {
	var parts partFlags
	var op ops.Multipart
	var object string
	name := &cli.StringFlag{Name: "obj.name", Value: "warp-multipart.bin", Destination: &object, Usage: "`NAME` of the object; it must not exist"}
	return benchmark{
		name: "multipart", summary: "download the parts of an object",
		op: &op, requests: []string{"GET"},
		absent: absentFromParts(),
		needs:  []provider.Feature{provider.UploadParts, provider.PartDownloads},
		about: []string{
			"Uploads one object in --parts parts, then downloads these parts in random order.",
		},
		plan: func() string {
			return fmt.Sprintf("uploads one object in %s of %s, then downloads these in random order", human.Plural(parts.count, "part"), flagtype.FormatSize(parts.size))
		},
		examples: []string{"warp multipart --host=s3:9000 --access-key=… --secret-key=… --parts=50 --part.size=8MiB"},
		flags: []cli.Flag{
			parts.countFlag(200, "upload the object in `N` parts, at most 10000"),
			parts.sizeFlag(5<<20, "part `SIZE`; S3 requires at least 5MiB"),
			name,
		},
		payload: true, oneBucket: true,
		check: func(f *Flags) error {
			if object == "" || strings.HasSuffix(object, "/") || strings.HasPrefix(object, ".warp/") || !lease.Listable(object) {
				return exit.Usagef("--obj.name: %q is not a valid name for an object of this run", object)
			}
			op.Parts, op.PartSize = parts.count, parts.size
			f.cost.uploads, f.cost.sizes, f.cost.partSize = 1, generator.Fixed(int64(parts.count)*parts.size), parts.size
			return parts.check()
		},
		adjust: func(o *bench.Options) { o.ObjectName, o.ObjectNameGiven = object, name.IsSet() },
	}
}
