package benchmarks

import (
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/flagtype"
	"warp/pkg/generator"
)

// payloadFlags say what objects contain.
type payloadFlags struct {
	Reader              string
	compressible, dedup int
}

func (p *payloadFlags) flags() []cli.Flag {
	return []cli.Flag{
		&flagtype.Choice{Name: "obj.generator", Value: "random", Config: flagtype.Choices{"random"}, Usage: "`KIND` of payload: random"},
		&cli.IntFlag{Name: "obj.compressible", Destination: &p.compressible, Validator: flagtype.Between(0, 100), Usage: "make `N` % of the payload compressible"},
		&cli.IntFlag{Name: "obj.dedup", Destination: &p.dedup, Validator: flagtype.Between(0, 100), Usage: "make `N` % of the 4 KiB chunks duplicates of chunks in other objects"},
		&cli.StringFlag{Name: "reader", Value: "rand", Destination: &p.Reader, Validator: readerValid,
			Usage: "payload `SOURCE`: rand (random bytes), tar (each object is a TAR archive) or file:NAME (the content of that file, repeated)"},
	}
}

// Values of --reader.
const (
	ReaderRand = "rand"
	ReaderTar  = "tar"
	readerFile = "file:"
)

func readerValid(s string) error {
	name, isFile := strings.CutPrefix(s, readerFile)
	switch {
	case s == ReaderRand, s == ReaderTar, isFile && name != "":
		return nil
	case s == "file", isFile:
		return flagtype.Wrong("%q does not name the file; write file:NAME", s)
	}
	return flagtype.Wrong("%q is not one of rand, tar and file:NAME", s)
}

// maxFile is how large a file may be that payload is taken from: it is kept in
// memory, so that reading it costs a run little.
const maxFile = 1 << 30

// shapes names a flag that makes payload another than it is by default, "" if none is given.
func (p *payloadFlags) shapes() string {
	switch {
	case p.compressible > 0:
		return "--obj.compressible"
	case p.dedup > 0:
		return "--obj.dedup"
	case p.Reader == ReaderTar, strings.HasPrefix(p.Reader, readerFile):
		return "--reader"
	}
	return ""
}

// Options returns the options of the payload generator.
func (p *payloadFlags) Options(seed uint64) (generator.PayloadOptions, error) {
	o := generator.PayloadOptions{Seed: seed, CompressiblePct: p.compressible, DedupPct: p.dedup, Tar: p.Reader == ReaderTar}
	name, isFile := strings.CutPrefix(p.Reader, readerFile)
	if (isFile || o.Tar) && p.compressible+p.dedup > 0 {
		return o, exit.Usagef("--obj.compressible and --obj.dedup are for random payload and cannot be combined with --reader=%s", p.Reader)
	}
	if !isFile {
		return o, nil
	}
	var err error
	o.File, err = readPayload(name)
	return o, err
}

// readPayload reads a file that objects are filled with.
func readPayload(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, exit.Usagef("--reader: %s: %w", name, files.Reason(err))
	case !info.Mode().IsRegular():
		return nil, exit.Usagef("--reader: %s is not a regular file", name)
	case info.Size() == 0:
		return nil, exit.Usagef("--reader: %s is empty", name)
	case info.Size() > maxFile:
		return nil, exit.Usagef("--reader: %s has %s, and the content of objects is kept in memory", name, flagtype.FormatSize(info.Size())).
			WithHint("use a part of it of up to %s", flagtype.FormatSize(maxFile))
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, exit.Errorf("--reader: %w", err)
	}
	return data, nil
}

// fits refuses sizes that --reader cannot make.
func (p *payloadFlags) fits(sizes generator.Sizes) error {
	if p.Reader == ReaderTar && sizes.Min() < generator.MinTarSize {
		return exit.Usagef("--reader=tar: a TAR with a file in it has at least %d bytes, and some objects would have as few as %d", generator.MinTarSize, sizes.Min()).
			WithHint("use larger ones, such as --obj.size=64KiB or --obj.size=4KiB-1MiB")
	}
	return nil
}
