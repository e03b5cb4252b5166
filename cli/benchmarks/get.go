package benchmarks

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/ops"
)

func getBenchmark() benchmark {
	var pool poolFlags
	var get ops.Get
	atOnce := &cli.IntFlag{Name: "split.concurrent", Value: 16, Destination: &get.Split.AtOnce, Validator: flagtype.Between(1, maxParts),
		Usage: "with --split.size: download `N` ranges of an object at a time"}
	head := &cli.BoolFlag{Name: "split.head", Destination: &get.Split.Head, Usage: "with --split.size: ask for the ETag with HEAD before the first range"}
	part := &cli.BoolFlag{Name: "range", Destination: &get.Range, Usage: "download a random part of each object"}
	return benchmark{
		name: "get", summary: "download objects, or parts of them",
		op: &get, requests: []string{"GET", "DOWNLOAD", "GETPART"},
		made: func() []string {
			if get.Split.Size > 0 {
				return []string{"DOWNLOAD", "GETPART"}
			}
			return []string{"GET"}
		},
		divided: func() []float64 {
			if pool.foreign() {
				return nil
			}
			heads := 0.
			if get.Split.Head {
				heads = 1
			}
			ranges := func(size int64) float64 { return math.Ceil(float64(size) / float64(get.Split.Size)) }
			return []float64{heads, expected(get.Sizes, ranges)}
		},
		about: []string{"Uploads --objects objects, then downloads them in random order."},
		plan: func() string {
			if get.Split.Size > 0 {
				return pool.describe() + fmt.Sprintf("downloads them in random order, each in ranges of %s, %d at a time", flagtype.FormatSize(get.Split.Size), get.Split.AtOnce)
			}
			if get.Range || get.ReadOffset > 0 || get.ReadLength > 0 {
				return pool.describe() + "downloads parts of them in random order"
			}
			return pool.describe() + "downloads them in random order"
		},
		examples: []string{
			"warp get --host=s3-{1...4}:9000 --access-key=… --secret-key=… --obj.size=1MiB",
			"warp get --list-existing --objects=0 --bucket=photos",
		},
		flags: pool.flags(2500, "10MiB",
			part,
			&flagtype.Size{Name: "range-size", Destination: &get.RangeSize, DefaultText: "random", Usage: "length `SIZE` of these parts; implies --range"},
		),
		rarely: slices.Concat([]cli.Flag{
			&flagtype.Size{Name: "split.size", Destination: &get.Split.Size, DefaultText: "whole objects", Usage: "download each object in ranges of `SIZE`, several at a time"},
			atOnce, head,
			&flagtype.Size{Name: "read-offset", Destination: &get.ReadOffset, Usage: "skip the first `SIZE` bytes of each object"},
			&flagtype.Size{Name: "read-length", Destination: &get.ReadLength, DefaultText: "to the end", Usage: "download at most `SIZE` bytes of each object"},
			pool.versionsFlag(1), pool.workingSetFlag(),
		}, pool.existingFlags(), pool.passFlags()),
		payload: true, reads: true, shares: true,
		parts: "while preparing, upload objects larger than `SIZE` in parts of that size",
		check: func(f *Flags) (err error) {
			if get.RangeSize > 0 && part.IsSet() && !get.Range {
				return exit.Usagef("--range-size and --range=false cannot be combined")
			}
			for _, flag := range []cli.Flag{atOnce, head} {
				if flag.IsSet() && get.Split.Size == 0 {
					return exit.Usagef("--%s needs --split.size", flag.Names()[0])
				}
			}
			get.Range = get.Range || get.RangeSize > 0
			fixed := get.ReadOffset > 0 || get.ReadLength > 0
			if get.Range && fixed {
				return exit.Usagef("--range cannot be combined with --read-offset and --read-length")
			}
			if get.Split.Size > 0 && (get.Range || fixed) {
				return exit.Usagef("--split.size cannot be combined with --range, --read-offset and --read-length")
			}
			if err := cmp.Or(f.verify.whole("--split.size", get.Split.Size > 0), f.verify.whole("--range", get.Range), f.verify.whole("--read-offset or --read-length", fixed)); err != nil {
				return err
			}
			if get.Pool, err = pool.pool(f); err == nil && !pool.foreign() && get.ReadOffset > 0 && get.ReadOffset >= get.Sizes.Min() {
				err = exit.Usagef("--read-offset=%s is beyond the end of the smallest objects, which have %s", flagtype.FormatSize(get.ReadOffset), flagtype.FormatSize(get.Sizes.Min()))
			}
			return err
		},
		adjust: pool.adjust,
	}
}
