// Package aisloader is the command line of NVIDIA's aisloader: its flags, and its table of figures with lines of each
// interval and the totals, or a list of JSON objects.
package aisloader

import (
	"context"
	"slices"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/session/plan"
	"warp/cli/terminal"
	"warp/pkg/generator"
	"warp/pkg/store/ais"
)

// loaderFlags are the flags of warp aisloader, the same as of NVIDIA's aisloader. Each sets what the flags of other
// benchmarks set.
type loaderFlags struct {
	benchmarks.Flags
	given    func(flag string) bool
	env      command.Environment
	settings ais.Settings

	bucket, provider, ip, s3Endpoint        string
	tokenFile, bucketProps, etl, etlSpec    string
	minSize, maxSize, totalSize             string
	readOffset, readLength                  string
	subdir, fileList, readerType, checksum  string
	loaderID, statsOutput, statsdHost       string
	port, statsdPort, statsInterval         int
	pctPut, maxPuts, epochs, shards, batch  int
	loaders, hashBits                       int
	randomSeed                              int64
	randomName, unique, skipList, latest    bool
	cached, getConfig, getLoaderID, cleanup bool
	verifyHash, statsdProbe, testProbe      bool
	usage                                   bool
}

const aisloaderName = "aisloader"

func Command(env command.Environment) *command.Command {
	f := &loaderFlags{}
	c := &command.Command{}
	f.given = c.WasGiven
	// Hosts are always said by the command line here, in the words of aisloader.
	f.Target.Given = func(flag string) bool { return flag == "host" || c.WasGiven(flag) }
	f.env = env
	*c = command.Command{
		Name: aisloaderName, Args: "[usage]", Section: command.SectionBenchmark, OtherTool: true,
		Summary: "take the command line of NVIDIA's aisloader",
		About: []string{
			"Flags have the names, defaults and units that they have in aisloader, with one dash or two.",
			"Uploads and downloads objects, prints aisloader's table, and writes the op log beside it.",
		},
		Examples: []string{
			"warp aisloader -ip=10.0.0.1 -bucket=ais://abc -pctput=30 -duration=5m -cleanup=true",
			"warp aisloader -s3endpoint=http://s3:9000 -bucket=s3://demo -pctput=100 -cleanup=true",
		},
		Groups:  []command.Group{f.targetGroup(env), f.workloadGroup(), f.loaderRunGroup()},
		MaxArgs: 1, Needs: "at most the word usage", Words: []string{"usage"},
		Check: func(bool) error {
			_, err := f.resolve()
			return err
		},
		Run: f.run,
	}
	return c
}

func (f *loaderFlags) targetGroup(env command.Environment) command.Group {
	return command.Group{Title: "Target", Flags: []cli.Flag{
		&cli.StringFlag{Name: "s3endpoint", Destination: &f.s3Endpoint, Usage: "talk to S3 at `URL`, without AIStore; embedded is a store in memory"},
		&cli.StringFlag{Name: "bucket", Destination: &f.bucket, DefaultText: "a new one with a random name",
			Usage: "`BUCKET`, or PROVIDER://BUCKET; warp creates a missing bucket"},
		&cli.StringFlag{Name: "ip", Value: "localhost", Destination: &f.ip, Usage: "`HOST` of an AIStore gateway; AIS_ENDPOINT overrides it"},
		&cli.IntFlag{Name: "port", Value: 8080, Destination: &f.port, Validator: portValid, Usage: "port `N` of the gateway"},
		&cli.StringFlag{Name: "provider", Value: "ais", Destination: &f.provider, Usage: "`PROVIDER` of the bucket: ais, aws, gcp, azure, oci or ht"},
	}, Also: []cli.Flag{
		&cli.StringFlag{Name: "s3profile", Destination: &f.Target.Profile, Usage: "with --s3endpoint: take credentials from this `PROFILE` of the shared AWS configuration"},
		&cli.StringFlag{Name: "access-key", Destination: &f.Target.AccessKey, Sources: env.Vars("WARP_ACCESS_KEY"),
			Usage: "with --s3endpoint: access `KEY`; default: AWS environment variables, then profiles"},
		&cli.StringFlag{Name: "secret-key", Destination: &f.Target.SecretKey, Sources: env.Vars("WARP_SECRET_KEY"), Usage: "with --s3endpoint: secret `KEY`"},
		&cli.StringFlag{Name: "region", Destination: &f.Target.Region, Sources: env.Vars("WARP_REGION"), Usage: "with --s3endpoint: `REGION` of the store; by default warp asks the store"},
		&cli.StringFlag{Name: "tokenfile", Destination: &f.tokenFile, TakesFile: true, Usage: "`FILE` with a token of AIStore's AuthN"},
		&cli.StringFlag{Name: "ca-file", Destination: &f.Target.CAFile, TakesFile: true, Usage: "with https: PEM `FILE` of additional certificate authorities"},
		&cli.BoolFlag{Name: "insecure", Destination: &f.Target.Insecure, Usage: "with https: accept any certificate"},
		&cli.StringFlag{Name: "bprops", Destination: &f.bucketProps, Usage: "properties of the AIStore bucket, as `JSON`"},
		&flagtype.Duration{Name: "timeout", Value: defaultLoaderTimeout, Destination: &f.Target.Options.Timeout, Usage: "fail a request that takes longer than `TIME`; 0 is no limit"},
		&flagtype.Choice{Name: "cksum-type", Value: "xxhash", Config: loaderChecksumNames(), Destination: &f.checksum, Usage: "upload with a checksum of `KIND`; to S3 only if you name one"},
	}}
}

func (f *loaderFlags) workloadGroup() command.Group {
	return command.Group{Title: command.WorkloadTitle, Flags: []cli.Flag{
		&cli.IntFlag{Name: "pctput", Destination: &f.pctPut, Validator: flagtype.Between(0, 100), Usage: "upload with `N` % of the requests and download with the rest; by default 100 with a new bucket or --maxputs, otherwise 0"},
		&flagtype.Duration{Name: "duration", Value: defaultLoaderDuration, Destination: &f.Ends.Duration,
			Usage: "run for `TIME`; 0 needs --totalputsize, --maxputs or --epochs, or else only cleans up"},
		&cli.IntFlag{Name: "numworkers", Value: 10, Destination: &f.Concurrent, Validator: flagtype.AtLeast(1), Usage: "`N` workers, each with one request at a time"},
		&cli.StringFlag{Name: "minsize", Value: "1MiB", Destination: &f.minSize, Usage: "smallest object `SIZE`"},
		&cli.StringFlag{Name: "maxsize", Value: "1GiB", Destination: &f.maxSize, Usage: "largest object `SIZE`"},
		&cli.StringFlag{Name: "totalputsize", Value: "0", Destination: &f.totalSize, Usage: "end the run after uploading `SIZE` in total"},
	}, Also: []cli.Flag{
		&cli.IntFlag{Name: "maxputs", Destination: &f.maxPuts, Validator: flagtype.AtLeast(0), Usage: "end the run after uploading `N` objects"},
		&cli.IntFlag{Name: "epochs", Destination: &f.epochs, Validator: flagtype.AtLeast(0), DefaultText: "as long as --duration lasts", Usage: "end the run after `N` passes over the objects"},
		&cli.BoolFlag{Name: "uniquegets", Value: true, Destination: &f.unique, Usage: "download all objects equally often, in random order"},
		&cli.StringFlag{Name: "filelist", Destination: &f.fileList, TakesFile: true, Usage: "download the objects named in `FILE`, one per line, instead of listing the bucket"},
		&cli.BoolFlag{Name: "skiplist", Destination: &f.skipList, Usage: "with --pctput=100: do not list the bucket; no effect, because warp never does"},
		&cli.StringFlag{Name: "readoff", Destination: &f.readOffset, Usage: "skip the first `SIZE` bytes of each object"},
		&cli.StringFlag{Name: "readlen", Destination: &f.readLength, DefaultText: "to the end", Usage: "download at most `SIZE` bytes of each object"},
		&flagtype.Choice{Name: "readertype", Value: loaderReader, Config: flagtype.Choices{loaderReader, "file", benchmarks.ReaderRand, benchmarks.ReaderTar}, Destination: &f.readerType,
			Usage: "payload `KIND`: sg or rand (random bytes) or tar (each object is a TAR archive)"},
		&cli.StringFlag{Name: "tmpdir", Value: "/tmp/ais", Usage: "no effect: `DIR` is for --readertype=file"},
		&cli.BoolFlag{Name: "verifyhash", Value: true, Destination: &f.verifyHash, Usage: "compare downloads with the store's checksum, if it sends one"},
		&cli.BoolFlag{Name: "latest", Destination: &f.latest, Usage: "have AIStore look for a later version in the remote bucket"},
		&cli.BoolFlag{Name: "cached", Destination: &f.cached, Usage: "list only the objects of a remote bucket that are in the AIStore cluster"},
		&cli.StringFlag{Name: "etl", Destination: &f.etl, Usage: "download through AIStore's transformation `NAME`: tar2tf, md5 or echo"},
		&cli.StringFlag{Name: "etl-spec", Destination: &f.etlSpec, TakesFile: true, Usage: "download through the transformation that `FILE` specifies"},
		&cli.BoolFlag{Name: "getconfig", Destination: &f.getConfig, Usage: "read the configuration of AIStore's proxy instead of objects"},
		&cli.IntFlag{Name: "batchsize", Value: 100, Destination: &f.batch, Validator: flagtype.AtLeast(1), Usage: "list and delete `N` objects per request"},
		&cli.Int64Flag{Name: "seed", Destination: &f.randomSeed, Usage: "seed `NUMBER` for names, sizes, order and payload; 0 is the current time"},
		&cli.StringFlag{Name: "subdir", Aliases: []string{"objNamePrefix"}, Destination: &f.subdir, Usage: "virtual directory `DIR` for all objects"},
		&cli.IntFlag{Name: "putshards", Destination: &f.shards, Validator: flagtype.Between(0, generator.MaxShards), Usage: "spread objects over `N` directories"},
		&cli.BoolFlag{Name: "randomname", Value: true, Destination: &f.randomName, Usage: "use names of 32 random characters; without effect with --loadernum and --loaderidhashlen"},
		&cli.StringFlag{Name: "loaderid", Value: "0", Destination: &f.loaderID, Usage: "`ID` of this loader among several"},
		&cli.IntFlag{Name: "loadernum", Destination: &f.loaders, Validator: flagtype.AtLeast(0), Usage: "number `N` of loaders, which count their objects and share no names"},
		&cli.IntFlag{Name: "loaderidhashlen", Destination: &f.hashBits, Validator: flagtype.AtLeast(0), Usage: "use `N` bits of a hash of --loaderid as the id"},
		&cli.BoolFlag{Name: "getloaderid", Destination: &f.getLoaderID, Usage: "print the id of this loader and exit"},
	}}
}

func (f *loaderFlags) loaderRunGroup() command.Group {
	return command.Group{Title: command.RunTitle, Flags: []cli.Flag{
		&cli.BoolFlag{Name: "cleanup", Destination: &f.cleanup, DefaultText: "only what this run writes",
			Usage: "remove all objects that warp has ever written to the bucket, and the bucket if warp made it; --cleanup=false keeps all"},
	}, Also: []cli.Flag{
		&cli.IntFlag{Name: "statsinterval", Value: 10, Destination: &f.statsInterval, Validator: flagtype.AtLeast(0), Usage: "print a line every `N` seconds; 0 is never"},
		&cli.StringFlag{Name: "stats-output", Destination: &f.statsOutput, TakesFile: true, Usage: "write the table to `FILE` instead of standard output"},
		&cli.StringFlag{Name: "statsdip", Value: "localhost", Destination: &f.statsdHost, Usage: "send metrics to StatsD at `HOST`"},
		&cli.IntFlag{Name: "statsdport", Value: 8125, Destination: &f.statsdPort, Validator: portValid, Usage: "UDP port `N` of StatsD"},
		&cli.BoolFlag{Name: "statsdprobe", Value: true, Destination: &f.statsdProbe, Usage: "send no metrics if nothing seems to listen there"},
		&cli.BoolFlag{Name: "test-probe", Destination: &f.testProbe, Usage: "fail at the start if no StatsD seems to listen there"},
		&cli.BoolFlag{Name: "trace-http", Destination: &f.Trace.On, Usage: "measure the phases of requests; SIGHUP toggles it"},
		plan.Flag(&f.DryRun),
		&cli.BoolFlag{Name: "usage", Destination: &f.usage, Usage: "explain the command, like --help-all"},
		f.LogFlag(),
		f.MaxErrorsFlag(),
	}}
}

func portValid(n int) error {
	if n < 1 || n > 65535 {
		return flagtype.Wrong("%d is not a port from 1 to 65535", n)
	}
	return nil
}

// run starts the run, or shows the help, the id or the plan.
func (f *loaderFlags) run(ctx context.Context, inv *command.Invocation) error {
	return exit.Reword(f.begin(ctx, inv), f.ownWords)
}

func (f *loaderFlags) begin(ctx context.Context, inv *command.Invocation) error {
	if f.wantsUsage(inv) {
		return inv.Resultf("%s", inv.Command.Help(terminal.Columns(inv.Out, inv.Env)))
	}
	if f.getLoaderID {
		return f.showLoaderID(inv)
	}
	p, err := f.resolve()
	if err != nil {
		return err
	}
	switch {
	case f.DryRun != "":
		return f.showRun(inv, p)
	case p.idle && p.keep:
		inv.Notef("there is nothing to do: --duration and --totalputsize are 0, and --cleanup=false")
		return nil
	case p.idle:
		return f.cleanOnly(ctx, inv)
	}
	return f.execute(ctx, inv, p)
}

// wantsUsage reports whether the help is asked for, as it is by a command line that says nothing at all.
func (f *loaderFlags) wantsUsage(inv *command.Invocation) bool {
	return f.usage || len(inv.Args) > 0 || inv.Env.Value("AIS_ENDPOINT") == "" && !slices.ContainsFunc(inv.Command.Flags(), func(flag cli.Flag) bool { return f.given(flag.Names()[0]) })
}
