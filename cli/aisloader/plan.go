package aisloader

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/cli/session"
	"warp/pkg/bench"
	"warp/pkg/bench/ops"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// Defaults of aisloader.
const (
	loaderReader          = "sg" // memory that is scattered there; random bytes in memory here
	defaultLoaderTimeout  = 10 * time.Minute
	defaultLoaderDuration = time.Minute
)

// A loaderPlan is a run of aisloader, resolved from the flags.
type loaderPlan struct {
	opts    bench.Options
	op      *ops.Loader
	bucket  Bucket
	id      uint64 // of the loader, for StatsD
	keep    bool   // all objects stay
	kept    bool   // the objects of earlier runs are removed as well
	idle    bool   // nothing is uploaded or downloaded
	newName bool   // the name of the bucket is random

	transform store.Transformation // of downloads from AIStore; "" = none
}

// resolve checks the flags and returns the plan that they describe. It sends and writes nothing.
func (f *loaderFlags) resolve() (*loaderPlan, error) {
	p := &loaderPlan{op: &ops.Loader{Unique: f.unique, Epochs: f.epochs, Batch: f.batch, Cached: f.cached}}
	for _, step := range []func(*loaderPlan) error{f.resolveTarget, f.resolveLoad, f.resolveSizes, f.resolveNames, f.resolveOptions} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	return p, f.checkNewFiles(p)
}

// resolveTarget finds the store and the bucket.
func (f *loaderFlags) resolveTarget(p *loaderPlan) (err error) {
	if p.newName = f.bucket == ""; p.newName {
		f.bucket = "warp-aisloader-" + strings.ToLower(rand.Text()[:10])
	}
	if p.bucket, err = ParseBucket(f.bucket, f.provider); err != nil {
		return exit.Usagef("--bucket and --provider: %w", err)
	}
	f.Target.Default(f.env)
	f.Target.Bucket = p.bucket.Name
	if f.Target.Options.Timeout == 0 {
		f.Target.Options.Timeout = forever
	}
	if f.s3Endpoint == "" {
		err = f.useAIStore(p)
	} else {
		err = f.useS3(p)
	}
	if err == nil {
		err = f.Target.Check()
	}
	if err == nil {
		err = f.Target.OneBucket("aisloader works in one bucket")
	}
	return err
}

// forever is longer than any run.
const forever = 10 * 365 * 24 * time.Hour

// useS3 talks to S3 without AIStore.
func (f *loaderFlags) useS3(p *loaderPlan) error {
	for _, name := range []string{"ip", "port", "tokenfile", "bprops", "latest", "cached", "etl", "etl-spec", "getconfig"} {
		if f.given(name) {
			return exit.Usagef("--%s is for AIStore and cannot be combined with --s3endpoint", name)
		}
	}
	if p.bucket.Provider != "aws" && (p.bucket.Provider != "ais" || strings.Contains(f.bucket, "://")) {
		return exit.Usagef("--s3endpoint talks to S3, but %s://%s is not an S3 bucket: write s3://%s", p.bucket.Provider, p.bucket.Name, p.bucket.Name)
	}
	f.Target.Host, f.Target.ProviderName = f.s3Endpoint, engines.S3
	f.Target.Options.Checksum = ""
	if f.given("cksum-type") {
		f.Target.Options.Checksum = loaderChecksums()[f.checksum]
	}
	return nil
}

// loaderChecksums returns the names that the kinds of checksums have in S3.
func loaderChecksums() map[string]string {
	return map[string]string{"none": "", "xxhash": "XXH64", "md5": "MD5", "crc32c": "CRC32C", "sha256": "SHA256", "sha512": "SHA512"}
}

func loaderChecksumNames() flagtype.Choices {
	return flagtype.Choices{"none", "xxhash", "md5", "crc32c", "sha256", "sha512"}
}

// resolveLoad sets the operation, and when the run ends.
func (f *loaderFlags) resolveLoad(p *loaderPlan) (err error) {
	total, err := loaderSize("totalputsize", f.totalSize)
	if err != nil {
		return err
	}
	if (p.newName || f.maxPuts > 0) && !f.given("pctput") && !f.getConfig {
		f.pctPut = 100 // there is nothing to read, or a number of uploads is asked for
	}
	bounded := total > 0 || f.epochs > 0
	if bounded && !f.given("duration") {
		f.Ends.Duration = 0
	}
	p.op.PutPercent = f.pctPut
	f.Progress.Interval = time.Duration(max(f.statsInterval, 1)) * time.Second // while it prepares
	p.opts.Duration, p.opts.TotalSize, p.opts.MaxObjects = f.Ends.Duration, total, int64(f.maxPuts)
	p.idle = f.Ends.Duration == 0 && !bounded && f.maxPuts == 0
	p.keep = f.given("cleanup") && !f.cleanup || f.getConfig
	p.kept = f.cleanup && !f.getConfig
	switch {
	case f.readerType == "file":
		return exit.Usagef("--readertype=file: warp makes payload in memory, so that it does not measure the local disk").WithHint("use --readertype=sg")
	case f.epochs > 0 && f.pctPut == 100:
		return exit.Usagef("--epochs and --pctput=100 cannot be combined: nothing is read")
	case f.skipList && f.fileList == "" && f.pctPut < 100:
		return exit.Usagef("--skiplist is for --pctput=100 only: downloads need the listing, or --filelist")
	case f.Concurrent > bench.MaxThreads:
		return exit.Usagef("--numworkers=%d is more than %d", f.Concurrent, bench.MaxThreads)
	case f.testProbe && !f.statsdProbe:
		return exit.Usagef("--test-probe and --statsdprobe=false cannot be combined")
	}
	if f.fileList != "" && f.pctPut < 100 {
		p.op.Keys, err = benchmarks.ReadKeys(f.fileList)
	}
	return err
}

// resolveSizes sets the sizes of objects, and the part of them that is read.
func (f *loaderFlags) resolveSizes(p *loaderPlan) error {
	var sizes [4]int64
	for i, size := range []struct{ flag, text string }{
		{"minsize", f.minSize}, {"maxsize", f.maxSize}, {"readoff", f.readOffset}, {"readlen", f.readLength},
	} {
		var err error
		if sizes[i], err = loaderSize(size.flag, cmp.Or(size.text, "0")); err != nil {
			return err
		}
	}
	smallest, largest := sizes[0], sizes[1]
	p.op.ReadOffset, p.op.ReadLength = sizes[2], sizes[3]
	switch {
	case p.transform.Name != "" && (p.op.ReadOffset > 0 || p.op.ReadLength > 0):
		return exit.Usagef("--etl and --etl-spec cannot be combined with --readoff and --readlen: whole objects are transformed")
	case smallest > largest:
		return exit.Usagef("--minsize=%s is more than --maxsize=%s", f.minSize, f.maxSize).WithHint("give both")
	case largest > benchmarks.MaxObject:
		return exit.Usagef("--maxsize=%s is more than %s, the largest object of S3", f.maxSize, flagtype.FormatSize(benchmarks.MaxObject))
	case f.pctPut > 0 && f.pctPut < 100 && p.op.ReadOffset > 0 && p.op.ReadOffset >= smallest:
		return exit.Usagef("--readoff=%s is beyond the end of the smallest objects, which have --minsize=%s", f.readOffset, f.minSize)
	}
	var err error
	spec := fmt.Sprintf("%d-%d", smallest, largest)
	if smallest == largest {
		spec = strconv.FormatInt(smallest, 10)
	}
	if p.op.Sizes, err = generator.ParseSizes(spec, false); err != nil {
		return exit.Usagef("--minsize and --maxsize: %w", err)
	}
	f.Payload.Reader = f.readerType
	if f.readerType == benchmarks.ReaderTar && smallest < generator.MinTarSize {
		return exit.Usagef("--readertype=tar: a TAR with a file in it has at least %d bytes, and --minsize=%s is less", generator.MinTarSize, f.minSize)
	}
	return nil
}

func loaderSize(flag, text string) (int64, error) {
	n, err := ParseSize(text)
	if err != nil {
		return 0, exit.Usagef("--%s: %w", flag, err)
	}
	return n, nil
}

// resolveNames sets the names of objects.
func (f *loaderFlags) resolveNames(p *loaderPlan) error {
	id, notNumber := strconv.ParseUint(f.loaderID, 10, 64)
	p.opts.Layout = generator.Layout{Loader: true, Shards: f.shards}
	p.id = id
	switch {
	case f.loaders > 0 && f.hashBits > 0:
		return exit.Usagef("--loadernum and --loaderidhashlen cannot be combined")
	case f.hashBits > generator.MaxLoaderBits:
		return exit.Usagef("--loaderidhashlen=%d is more than %d bits, and would leave no room for the numbers of objects", f.hashBits, generator.MaxLoaderBits)
	case f.hashBits == 0 && notNumber != nil:
		return exit.Usagef("--loaderid: %q is not a whole number from 0 up", f.loaderID).WithHint("to use a hash of it as the id, add --loaderidhashlen=8")
	case f.loaders > 0 && id >= uint64(f.loaders):
		return exit.Usagef("--loaderid=%d is not below --loadernum=%d", id, f.loaders).WithHint("ids start at 0")
	case f.hashBits > 0:
		p.opts.Layout.Counts = generator.CountsOfNamedLoader(f.loaderID, f.hashBits)
		p.id = p.opts.Layout.Counts.ID
	case f.loaders > 0:
		p.opts.Layout.Counts = generator.CountsOfLoader(id, uint64(f.loaders))
	default:
		p.opts.Layout.Random = f.randomName
	}
	if f.subdir == "" {
		return nil
	}
	p.opts.Prefix = path.Clean(f.subdir)
	if first, _, _ := strings.Cut(p.opts.Prefix, "/"); first == "" || first == "." || first == ".." || first == ".warp" {
		return exit.Usagef("--subdir=%s: object names cannot begin like that", f.subdir).WithHint("write it like a/b")
	}
	if !lease.Listable(p.opts.Prefix) {
		return exit.Usagef("--subdir=%q has a character that listings in XML cannot contain, so nobody could clean up", f.subdir).WithHint("leave it out")
	}
	p.op.Prefix = f.subdir
	return nil
}

// resolveOptions completes the options of the run.
func (f *loaderFlags) resolveOptions(p *loaderPlan) (err error) {
	client := session.NewID()
	o := &p.opts
	o.Benchmark, o.RunID, o.ClientID = aisloaderName, session.NewID()+client, client
	o.Bucket = f.Target.Buckets[0]
	if o.Seed = uint64(f.randomSeed); o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	o.Concurrency, o.Batch, o.MaxErrors = f.Concurrent, f.batch, f.MaxErrors
	if f.given("timeout") {
		o.RequestTimeout = f.Target.Options.Timeout
	} else {
		o.RequestTimeout = defaultLoaderTimeout
	}
	if o.RequestTimeout == forever {
		o.RequestTimeout = 0
	}
	o.Lease, o.KeepData, o.ReadOnly = time.Minute, p.keep, f.pctPut == 0 || f.getConfig
	o.TraceHTTP, o.TraceSample = f.Trace.On, 1
	o.NoBucket = f.getConfig
	switch {
	case p.transform.Name != "":
		o.Verify = verify.None // another object comes
	case !f.verifyHash || p.op.ReadOffset > 0 || p.op.ReadLength > 0:
		o.Verify = verify.ETag
	default:
		o.Verify = verify.Stored
	}
	o.Payload, err = f.Payload.Options(o.Seed)
	return err
}

// checkNewFiles returns an error for files that could not be written.
func (f *loaderFlags) checkNewFiles(p *loaderPlan) error {
	f.Log = runlog.Path(f.Benchdata, p.opts.Benchmark, p.opts.ClientID)
	return runlog.CheckNew(f.Log)
}
