package cli

import (
	"github.com/urfave/cli/v3"

	"warp/pkg/bench"
	"warp/pkg/generator"
)

// poolFlags are the flags of operations that work on a pool of objects.
type poolFlags struct {
	objects, versions        int
	size                     string
	randSize, existing, flat bool
}

// mostObjects is what a pool may have: each costs some 150 bytes of memory.
const mostObjects = 100_000_000

func objectsValid(n int) error {
	if n < 0 || n > mostObjects {
		return wrong("%d is not between 0 and %d", n, mostObjects)
	}
	return nil
}

func (p *poolFlags) objectsFlag(n int, usage string) cli.Flag {
	return &cli.IntFlag{Name: "objects", Value: n, Destination: &p.objects, Validator: objectsValid, Usage: usage}
}

func (p *poolFlags) sizeFlags(size string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "obj.size", Value: size, Destination: &p.size,
			Usage: "`SIZE` of objects, or weighted sizes: 4096:10,16384:1"},
		&cli.BoolFlag{Name: "obj.randsize", Destination: &p.randSize,
			Usage: "sizes spread over the eight doublings below --obj.size, or over MIN,MAX"},
	}
}

func (p *poolFlags) versionsFlag() cli.Flag {
	return &cli.IntFlag{Name: "versions", Value: 1, Destination: &p.versions, Validator: versionsValid, Usage: "upload `N` versions of each object"}
}

func versionsValid(n int) error {
	if n < 1 || n > 10_000 {
		return wrong("%d is not between 1 and 10000", n)
	}
	return nil
}

func (p *poolFlags) existingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "list-existing", Destination: &p.existing, Usage: "use up to --objects objects that are in the bucket (0 is all), below --prefix"},
		&cli.BoolFlag{Name: "list-flat", Destination: &p.flat, Usage: "with --list-existing: do not descend below the prefix"},
	}
}

// pool checks the flags and makes the pool of them.
func (p *poolFlags) pool(f *benchFlags) (bench.Pool, error) {
	sizes, err := p.sizes()
	switch {
	case err != nil:
		return bench.Pool{}, err
	case p.flat && !p.existing:
		return bench.Pool{}, usageError("--list-flat is of use with --list-existing only")
	case p.existing && f.clearBucket:
		return bench.Pool{}, usageError("--clear-bucket would delete what --list-existing is to list")
	case p.objects*max(p.versions, 1) > mostObjects:
		return bench.Pool{}, usageError("--objects times --versions is more than %d", mostObjects)
	case p.objects == 0 && !p.existing:
		return bench.Pool{}, usageError("--objects=0 leaves nothing to work on")
	case p.versions > 1 && f.target.host == embeddedHost:
		return bench.Pool{}, usageError("the embedded store does not do --versions")
	case f.target.host == embeddedHost && !p.existing && float64(p.objects)*sizes.Mean() > float64(f.target.embeddedMemory):
		return bench.Pool{}, usageError("%d objects of %s do not fit into the embedded store (--embedded.memory=%s)",
			p.objects, p.size, formatSize(f.target.embeddedMemory)).tell("use fewer or smaller ones, such as --obj.size=64KiB")
	}
	return bench.Pool{
		Objects: p.objects, Sizes: sizes, Versions: p.versions,
		ListExisting: p.existing, ListFlat: p.flat, Prefix: f.prefix,
	}, nil
}

func (p *poolFlags) sizes() (generator.Sizes, error) {
	sizes, err := generator.ParseSizes(p.size, p.randSize)
	if err != nil {
		return nil, usageError("--obj.size: %w", err)
	}
	return sizes, nil
}

// adjust tells the runner what the pool asks of the bucket.
func (p *poolFlags) adjust(o *bench.Options) {
	o.ReadOnly = p.existing
	o.Versions = p.versions > 1 && !p.existing
}
