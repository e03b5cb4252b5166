package benchmarks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/target"
	"warp/internal/human"
	"warp/internal/wholefile"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store/provider"
)

// poolFlags are the flags of operations that work on a pool of objects.
type poolFlags struct {
	objects, versions        int
	workingSet               int64 // bytes of all objects, instead of their number; 0 = not given
	size                     string
	minSize, maxSize         int64
	sizeFlag                 *cli.StringFlag // to know whether it was given
	boundFlags               [2]*flagtype.Size
	randSize, existing, flat bool
	unique                   bool
	fileList                 string
	held                     bool // another process keeps the objects
	together                 bool // the objects are those of all clients together
	shared                   bool // there are several clients
	epochs                   int
	zipf                     float64 // exponent of --pick; 0 = uniform

	objectsGiven, uniqueGiven func() bool
	drawn                     generator.Sizes // set by pool and sizes
	fitted                    bool            // the default of --objects was reduced to fit into the embedded store
}

// maxPoolObjects limits the objects of a pool: each takes about 150 bytes of memory.
const maxPoolObjects = 100_000_000

func (p *poolFlags) objectsFlag(n int, usage string) cli.Flag {
	f := &cli.IntFlag{Name: "objects", Value: n, Destination: &p.objects, Validator: flagtype.Between(0, maxPoolObjects), Usage: usage}
	p.objectsGiven = f.IsSet
	return f
}

// flags returns the flags for the number of objects and their sizes, and more flags.
func (p *poolFlags) flags(objects int, size string, more ...cli.Flag) []cli.Flag {
	return slices.Concat([]cli.Flag{p.objectsFlag(objects, "`N` objects to upload first")}, p.sizeFlags(size), more)
}

// workingSetFlag chooses the number of objects by their total size.
func (p *poolFlags) workingSetFlag() cli.Flag {
	return &flagtype.Size{Name: "working-set", Destination: &p.workingSet, DefaultText: "the size of --objects", Validator: workingSetValid,
		Usage: "upload objects of `SIZE` in total, instead of --objects: more than the store can cache"}
}

func workingSetValid(n int64) error {
	if n < 1 {
		return flagtype.Wrong("a working set needs at least 1 byte")
	}
	return nil
}

// chosen reports whether the number of objects is not the default.
func (p *poolFlags) chosen() bool { return p.objectsGiven() || p.workingSet > 0 }

// fillWorkingSet sets the number of objects to what --working-set needs.
func (p *poolFlags) fillWorkingSet(sizes generator.Sizes) error {
	if p.workingSet == 0 {
		return nil
	}
	mean := sizes.Mean() * float64(max(1, p.versions))
	n := math.Round(float64(p.workingSet) / max(mean, 1))
	switch {
	case p.objectsGiven():
		return exit.Usagef("--working-set and --objects cannot be combined: both set the number of objects")
	case p.foreign():
		return exit.Usagef("--working-set is for objects that warp uploads, but %s uses existing ones", p.how()).WithHint("leave it out")
	case n < 1:
		return exit.Usagef("--working-set=%s is less than one object of %s", flagtype.FormatSize(p.workingSet), sizes).WithHint("use smaller objects, or a larger working set")
	case n*float64(max(1, p.versions)) > maxPoolObjects:
		return exit.Usagef("--working-set=%s needs more than %d objects of %s", flagtype.FormatSize(p.workingSet), maxPoolObjects, sizes).WithHint("use larger objects")
	}
	p.objects = int(n)
	return nil
}

func (p *poolFlags) sizeFlags(size string) []cli.Flag {
	p.sizeFlag = &cli.StringFlag{Name: "obj.size", Value: size, Destination: &p.size,
		Usage: "`SIZE`, MIN-MAX, 4096:10,8192:1, exact:… or lognormal:…"}
	// The two ends of MIN-MAX, for those who know them as flags of their own.
	p.boundFlags = [2]*flagtype.Size{
		{Name: "min-size", Destination: &p.minSize, Hidden: true,
			Usage: "with --max-size: the same as --obj.size=MIN-MAX"},
		{Name: "max-size", Destination: &p.maxSize, Hidden: true,
			Usage: "with --min-size: the same as --obj.size=MIN-MAX"},
	}
	return []cli.Flag{
		p.sizeFlag,
		&cli.BoolFlag{Name: "obj.randsize", Destination: &p.randSize,
			Usage: "random sizes in the eight doublings below --obj.size, or in MIN,MAX"},
		p.boundFlags[0], p.boundFlags[1],
	}
}

func (p *poolFlags) versionsFlag(n int) cli.Flag {
	return &cli.IntFlag{Name: "versions", Value: n, Destination: &p.versions, Validator: flagtype.Between(1, 10_000), Usage: "upload `N` versions of each object"}
}

func (p *poolFlags) existingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "list-existing", Destination: &p.existing, Usage: "use existing objects below --prefix, at most --objects (0 is all)"},
		&cli.BoolFlag{Name: "list-flat", Destination: &p.flat, Usage: "with --list-existing: do not descend into subdirectories"},
		&cli.StringFlag{Name: "filelist", Destination: &p.fileList, TakesFile: true,
			Usage: "use existing objects named in `FILE`, one per line, all or the first --objects"},
	}
}

// passFlags returns the flags of operations that read the objects of a pool again and
// again.
func (p *poolFlags) passFlags() []cli.Flag {
	unique := &cli.BoolFlag{Name: "unique", Destination: &p.unique,
		Usage: "use all objects equally often: pass after pass, each in a new random order"}
	p.uniqueGiven = unique.IsSet
	return []cli.Flag{unique, p.pickFlag(),
		&cli.IntFlag{Name: "epochs", Destination: &p.epochs, Validator: flagtype.AtLeast(0),
			Usage: "end the run after `N` passes over all objects; the default --duration then does not apply"}}
}

// foreign reports whether the objects exist already and are not warp's own.
func (p *poolFlags) foreign() bool { return p.existing || p.fileList != "" || p.held }

// how returns the flag that selects them.
func (p *poolFlags) how() string {
	switch {
	case p.fileList != "":
		return "--filelist"
	case p.held:
		return "--use-pool"
	}
	return "--list-existing"
}

// pool checks the flags and makes the pool of them.
func (p *poolFlags) pool(f *Flags) (ops.Pool, error) {
	p.held = f.pool.pool != ""
	var sizes generator.Sizes
	err := exit.First(
		func() error { return f.pool.check(p, &f.Target) },
		func() (err error) { sizes, err = p.sizes(f); return err },
		func() error { return p.fillWorkingSet(sizes) },
		func() error { return p.check(f) },
		func() error { return f.Target.Require(p.versions > 1, "--versions", provider.Versions) },
		func() error { return p.checkEmbedded(f, sizes) },
	)
	if err != nil {
		return ops.Pool{}, err
	}
	pool := ops.Pool{
		Objects: p.objects, Sizes: sizes, Versions: p.versions,
		ListExisting: p.existing, ListFlat: p.flat, Prefix: f.names.listed(),
		Unique: p.unique || p.epochs > 0, Epochs: p.epochs, Zipf: p.zipf, Together: p.together && !p.foreign(),
	}
	if p.held { // all of them, or it is an error
		pool.ListExisting, pool.Objects, pool.Kept = true, 0, p.objects*max(p.versions, 1)
	}
	p.shared = f.names.clients > 1 || f.Fleet.Clients != ""
	f.Ends.Passes = p.epochs > 0
	f.cost.passes = p.epochs
	if p.foreign() {
		f.cost.sizes = nil
		f.cost.objects = float64(pool.Objects + pool.Kept)
	} else {
		each := p.objects
		if clients := max(f.names.clients, f.Fleet.Size()); pool.Together && each > 0 && clients > 0 {
			each = ops.PartOf(each, f.names.client, clients)
		}
		f.cost.uploads = float64(each) * float64(max(1, p.versions))
		f.cost.objects = f.cost.uploads
	}
	if p.fileList != "" {
		if !p.objectsGiven() {
			pool.Objects = 0
		}
		pool.Keys, err = ReadKeys(p.fileList)
		f.cost.objects = float64(len(pool.Keys))
		if pool.Objects > 0 {
			f.cost.objects = min(f.cost.objects, float64(pool.Objects))
		}
	}
	if f.names.clients > 0 {
		pool.ShareAmong(f.names.client, f.names.clients)
	}
	return pool, err
}

func (p *poolFlags) check(f *Flags) error {
	switch {
	case p.flat && !p.existing:
		return exit.Usagef("--list-flat needs --list-existing")
	case p.foreign() && !p.held && f.verify.mode() == verify.Content && f.Seed == "":
		return exit.Usagef("--verify=content needs the seed of the run that uploaded the objects").
			WithHint("add --seed=N; that run printed it, and its op log contains it")
	case p.foreign() && f.clearBucket:
		return exit.Usagef("--clear-bucket would delete the objects of --list-existing or --filelist")
	case p.fileList != "" && len(f.Target.Buckets) > 1:
		return f.Target.OneBucket("--filelist names objects of one bucket")
	case p.objects > 0 && p.objects < len(f.Target.Buckets):
		return exit.Usagef("--objects=%d is less than the %d buckets of --bucket", p.objects, len(f.Target.Buckets))
	case p.fileList != "" && p.existing:
		return exit.Usagef("--filelist and --list-existing cannot be combined")
	case p.fileList != "" && f.names.listed() != "":
		return exit.Usagef("--filelist cannot be combined with --prefix and --subdir: it lists whole names")
	case p.fileList != "" && p.versions > 1:
		return exit.Usagef("--filelist and --versions cannot be combined")
	case p.zipf > 0 && (p.unique || p.epochs > 0):
		return exit.Usagef("--pick=%s cannot be combined with --unique and --epochs, which use all objects equally often", pickValue{}.ToString(p.zipf))
	case p.epochs > 0 && p.uniqueGiven() && !p.unique:
		return exit.Usagef("--epochs and --unique=false cannot be combined")
	case p.objects*max(p.versions, 1) > maxPoolObjects:
		return exit.Usagef("--objects times --versions is more than %d", maxPoolObjects)
	case p.objects == 0 && !p.foreign() && p.objectsGiven():
		return exit.Usagef("--objects=0 leaves no objects for the benchmark")
	case p.foreign() && !f.suite && !p.held:
		return p.checkUnused(f)
	}
	return nil
}

// checkUnused refuses flags about new objects if existing ones are used.
func (p *poolFlags) checkUnused(f *Flags) error {
	name := ""
	switch {
	case p.sizeFlag.IsSet():
		name = "--obj.size"
	case p.randSize:
		name = "--obj.randsize"
	case p.boundFlags[0].IsSet():
		name = "--min-size and --max-size"
	case f.verify.mode() != verify.Content: // which has to know what payload should be there
		name = f.Payload.shapes()
	}
	if name == "" {
		return nil
	}
	return exit.Usagef("%s: only for objects that warp uploads, but %s uses existing ones", name, p.how()).WithHint("leave it out")
}

// bytes returns the size of all objects of the pool.
func (p *poolFlags) bytes(sizes generator.Sizes) float64 {
	return float64(p.objects) * float64(max(1, p.versions)) * sizes.Mean()
}

// checkEmbedded returns an error if the embedded store is too small for the pool. The default number of objects is reduced
// instead.
func (p *poolFlags) checkEmbedded(f *Flags, sizes generator.Sizes) error {
	half := float64(f.Target.EmbeddedMemory / 2) // the other one is for what the run uploads
	switch {
	case f.Target.Host != target.EmbeddedHost:
		return nil
	case p.foreign() && !p.held:
		return exit.Usagef("the embedded store starts empty, so %s finds nothing in it", p.how()).WithHint("point --host at a store")
	case p.bytes(sizes) > float64(f.Target.EmbeddedMemory) && !p.chosen() && float64(p.objects)*half >= p.bytes(sizes):
		p.objects, p.fitted = int(float64(p.objects)*half/p.bytes(sizes)), true
	case p.bytes(sizes) > float64(f.Target.EmbeddedMemory):
		return exit.Usagef("%d objects of %s do not fit into the embedded store (--embedded.memory=%s)",
			p.objects, sizes, flagtype.FormatSize(f.Target.EmbeddedMemory)).WithHint("use fewer or smaller ones, such as --obj.size=64KiB")
	}
	return nil
}

// maxFileList limits a list of names, which is kept in memory. It has room for millions of them.
const maxFileList = 256 << 20

// ReadKeys reads the names of objects, one in a line. A name that is there
// twice counts once. Spaces are part of a name; empty lines are not.
func ReadKeys(path string) ([]string, error) {
	text, err := wholefile.Read(path, maxFileList)
	if err != nil {
		return nil, exit.Usagef("--filelist: %w", err)
	}
	var keys []string
	seen := make(map[string]bool)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		key := strings.TrimRight(line, "\r\n")
		switch {
		case key == "" || seen[key]:
			continue
		case strings.HasPrefix(key, ".warp/"):
			return nil, exit.Usagef("--filelist: line %d of %s is a marker of warp, which no run may use", number, path)
		case len(key) > 1024:
			return nil, exit.Usagef("--filelist: line %d of %s has %d bytes, but object names have at most 1024", number, path, len(key))
		}
		seen[key] = true
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, exit.Usagef("--filelist: %s names no object", path)
	}
	return keys, nil
}

// MaxObject is the size of the largest object that engines upload.
const MaxObject = 5 << 40

// sizes checks the flags on sizes and makes the sizes of them.
func (p *poolFlags) sizes(f *Flags) (generator.Sizes, error) {
	spec, err := p.sizeSpec()
	if err != nil {
		return nil, err
	}
	sizes, err := generator.ParseSizes(spec, p.randSize)
	if err != nil {
		return nil, exit.Usagef("--obj.size: %w", err)
	}
	if sizes.Max() > MaxObject {
		flag := "--obj.size"
		if p.boundFlags[1].IsSet() {
			flag = "--max-size"
		}
		return nil, exit.Usagef("%s: %s is more than %s, the largest object of S3", flag, flagtype.FormatSize(sizes.Max()), flagtype.FormatSize(MaxObject))
	}
	p.drawn, f.cost.sizes = sizes, sizes
	return sizes, f.Payload.fits(sizes)
}

// sizeSpec returns --obj.size, or the range from --min-size to --max-size.
func (p *poolFlags) sizeSpec() (string, error) {
	lower, upper := p.boundFlags[0], p.boundFlags[1]
	if !lower.IsSet() && !upper.IsSet() {
		return p.size, nil
	}
	switch {
	case !lower.IsSet() || !upper.IsSet():
		return "", exit.Usagef("--min-size and --max-size must be given together")
	case p.sizeFlag.IsSet() || p.randSize:
		return "", exit.Usagef("--min-size and --max-size cannot be combined with --obj.size and --obj.randsize")
	case p.minSize > p.maxSize:
		return "", exit.Usagef("--min-size=%s is more than --max-size=%s", flagtype.FormatSize(p.minSize), flagtype.FormatSize(p.maxSize))
	}
	return fmt.Sprintf("%d-%d", p.minSize, p.maxSize), nil
}

// then returns the plan of a benchmark that makes or finds its objects first.
func (p *poolFlags) then(what string) func() string {
	return func() string { return p.describe() + what }
}

// describe says where the objects come from; "" if none are needed.
func (p *poolFlags) describe() string {
	switch {
	case p.fileList != "":
		return "takes the objects that --filelist names, then "
	case p.held:
		return fmt.Sprintf("takes %s that another warp keeps, then ", human.Plural(p.objects, "object"))
	case p.existing && p.objects == 0:
		return "takes the objects that are there, then "
	case p.existing:
		return fmt.Sprintf("takes up to %s that are there, then ", human.Plural(p.objects, "object"))
	case p.objects == 0:
		return ""
	}
	versions := ""
	if p.versions > 1 {
		versions = fmt.Sprintf(" in %d versions", p.versions)
	}
	why := ""
	if p.fitted {
		why = ", as many as fit into half of the embedded store"
	}
	if p.together && p.shared {
		why = ", divided among the clients"
	}
	return fmt.Sprintf("uploads %s of %s%s, %s in all%s, then ", human.Plural(p.objects, "object"), p.drawn, versions, human.Bytes(p.bytes(p.drawn)), why)
}

// adjust sets the options that the pool needs.
func (p *poolFlags) adjust(o *bench.Options) {
	o.ReadOnly = p.foreign()
	o.Versions = p.versions > 1 && !p.foreign()
}
