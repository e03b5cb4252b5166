package benchmarks

import (
	"fmt"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/internal/human"
	"warp/pkg/bench/ops"
	"warp/pkg/generator"
	"warp/pkg/store/provider"
)

func multipartPutBenchmark() benchmark {
	var op ops.MultipartPut
	var parts partFlags
	return benchmark{
		name: "multipart-put", summary: "upload objects in parts",
		op: &op, requests: []string{"UPLOAD", "PUTPART"},
		divided: func() []float64 { return []float64{2, float64(op.Parts)} }, // one begins and one ends each
		absent:  absentFromParts(),
		needs:   []provider.Feature{provider.UploadParts},
		about: []string{
			"Each worker uploads one object after the other, in --parts parts, --part.concurrent at a time.",
		},
		plan: func() string {
			return fmt.Sprintf("uploads objects in %s of %s, %d at a time", human.Plural(op.Parts, "part"), flagtype.FormatSize(op.PartSize), op.AtOnce)
		},
		examples: []string{"warp multipart-put --host=s3:9000 --access-key=… --secret-key=… --parts=20"},
		flags: []cli.Flag{
			parts.countFlag(100, "upload each object in `N` parts, at most 10000"),
			parts.sizeFlag(5<<20, "part `SIZE`; S3 requires at least 5MiB"),
			parts.atOnceFlag(20, "transfer `N` parts of an object at a time"),
		},
		payload: true, writes: true,
		check: func(f *Flags) error {
			op = ops.MultipartPut{Parts: parts.count, PartSize: parts.size, AtOnce: parts.atOnce}
			f.cost.sizes = generator.Fixed(int64(op.Parts) * op.PartSize)
			return parts.check()
		},
	}
}

// partFlags are the flags of operations on objects in parts.
type partFlags struct {
	count, atOnce int
	size          int64
}

// maxParts is the limit of S3.
const maxParts = 10_000

func (p *partFlags) countFlag(n int, usage string) cli.Flag {
	return &cli.IntFlag{Name: "parts", Value: n, Destination: &p.count, Validator: flagtype.Between(1, maxParts), Usage: usage}
}

func (p *partFlags) sizeFlag(size int64, usage string) cli.Flag {
	return &flagtype.Size{Name: "part.size", Value: size, Destination: &p.size, Usage: usage}
}

func (p *partFlags) atOnceFlag(n int, usage string) cli.Flag {
	return &cli.IntFlag{Name: "part.concurrent", Value: n, Destination: &p.atOnce, Validator: flagtype.Between(1, maxParts), Usage: usage}
}

func (p *partFlags) check() error { return target.CheckPartSize(p.size) }
