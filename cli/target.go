package cli

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench"
	"warp/pkg/fleet"
	"warp/pkg/fleet/protocol"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/dial"
	"warp/pkg/store/engines"
)

// defaultEmbeddedMemory is what the embedded store may grow to.
const defaultEmbeddedMemory = 1 << 30

// signSTS is the --signature that exchanges a token for credentials.
const signSTS = "STS_WEB_TOKEN"

// embeddedHost is the --host that needs no store.
const embeddedHost = "embedded"

// defaultHost is where an S3 store of one's own usually is.
const defaultHost = "127.0.0.1:9000"

const defaultBucket = "warp-benchmark-bucket"

// targetFlags say which store to talk to, and as whom.
type targetFlags struct {
	host, hostSelect, bucket, region   string
	buckets                            []string               // that bucket names, once check has parsed it
	hosts                              []string               // likewise
	elsewhere                          string                 // what else to try where nobody answers
	given                              func(flag string) bool // stands on the command line, and not in a variable
	engine, providerName               string
	provider                           *engines.Provider // what the names come to
	env                                command.Environment
	accessKey, secretKey, sessionToken string
	accessToken                        string
	source                             string // of the credentials, unless they are for S3
	profile, signature, caFile         string
	tls, insecure, resolveHost         bool
	unsigned                           bool
	webToken, credentialsFile          string
	redirectHosts                      string
	redirects                          []string // what those are, once check has looked
	options                            optionFlags
	aistore                            store.AIStore // of commands that are about AIStore
	embeddedMemory                     int64
}

func (f *targetFlags) group(env command.Environment) command.Group {
	f.env = env
	return command.Group{Title: groupTarget, Flags: []cli.Flag{
		&cli.StringFlag{Name: "host", Aliases: []string{"s3endpoint", "base-uri"}, Value: defaultHost, Destination: &f.host, Sources: env.Vars("WARP_HOST"),
			Usage: "`HOST`:PORT of the store; several as a,b or node{1...8}:900{0...3} or file:NAME; embedded is a store in memory"},
		&cli.StringFlag{Name: "access-key", Aliases: []string{"s3-access-key"}, Destination: &f.accessKey, Sources: env.Vars("WARP_ACCESS_KEY"),
			Usage: "access `KEY`, or account of Azure; default: AWS environment variables, then profiles"},
		&cli.StringFlag{Name: "secret-key", Aliases: []string{"s3-secret-key"}, Destination: &f.secretKey, Sources: env.Vars("WARP_SECRET_KEY"),
			Usage: "secret `KEY`"},
		&cli.BoolFlag{Name: "tls", Destination: &f.tls, Sources: env.Vars("WARP_TLS"), Usage: "use HTTPS"},
		&cli.StringFlag{Name: "bucket", Value: defaultBucket, Destination: &f.bucket,
			Usage: "`BUCKET` to use, or several, such as b{1...4}; warp creates a missing bucket and never touches other objects in it"},
	}, Also: []cli.Flag{
		&flagtype.Choice{Name: "provider", Config: flagtype.Choices(engines.ProviderNames()), Destination: &f.providerName, Sources: env.Vars("WARP_PROVIDER"),
			DefaultText: "as host or bucket say, else s3", Usage: "`KIND` of store, if neither host nor bucket (gs://NAME) says it: " + strings.Join(engines.ProviderNames(), " or ")},
		&cli.StringFlag{Name: "region", Aliases: []string{"s3-region"}, Destination: &f.region, Sources: env.Vars("WARP_REGION"),
			Usage: "`REGION` of the store; by default warp asks the store"},
		&cli.StringFlag{Name: "session-token", Destination: &f.sessionToken, Sources: env.Vars("WARP_SESSION_TOKEN"),
			Usage: "session `TOKEN` of temporary credentials"},
		&cli.StringFlag{Name: "access-token", Hidden: true, Destination: &f.accessToken, Sources: env.Vars("WARP_ACCESS_TOKEN"),
			Usage: "bearer `TOKEN`, or a shared access signature of Azure, for stores that take one"},
		&cli.StringFlag{Name: "credentials-file", Destination: &f.credentialsFile, TakesFile: true,
			Usage: "use several credentials in turn; `FILE` has one ACCESS:SECRET or ACCESS:SECRET:TOKEN per line"},
		&cli.StringFlag{Name: "sts-web-token", Destination: &f.webToken, Hidden: true, Sources: env.Vars("WARP_STS_WEB_TOKEN"),
			Usage: "with --signature=STS_WEB_TOKEN: web identity `TOKEN` to exchange for credentials, or file:NAME"},
		&cli.StringFlag{Name: "profile", Aliases: []string{"s3profile"}, Destination: &f.profile, Usage: "take credentials from this `PROFILE` of the shared AWS configuration"},
		&flagtype.Choice{Name: "host-select", Value: "weighed", Config: flagtype.Choices{"weighed", "roundrobin"}, Destination: &f.hostSelect,
			Usage: "choose each request's host by `HOW`: weighed (fewest requests in flight, then longest idle) or roundrobin"},
		&flagtype.Choice{Name: "engine", Value: "auto", Config: flagtype.Choices{"auto", "lean", "minio"}, Destination: &f.engine,
			Usage: "HTTP client `WHAT`: lean (warp's own, least CPU), minio (minio-go) or auto (lean where possible)"},
		&flagtype.Size{Name: "embedded.memory", Hidden: true, Value: defaultEmbeddedMemory, Destination: &f.embeddedMemory,
			Usage: "with --host=embedded: maximum `SIZE` of the store"},
		&cli.BoolFlag{Name: "resolve-host", Destination: &f.resolveHost, Hidden: true,
			Usage: "use every address of a host name as a separate host"},
		&flagtype.Choice{Name: "signature", Value: "S3V4", Config: flagtype.Choices{"S3V4", "IAM", "S3V2", "STS_WEB_TOKEN"}, Destination: &f.signature, Hidden: true,
			Usage: "signature `KIND`: S3V4, S3V2, IAM (credentials of this machine's instance profile) or STS_WEB_TOKEN (credentials for a web identity token)"},
	}}
}

// traffic are the flags for what requests look like and how they travel.
func (f *targetFlags) traffic(env command.Environment, parts string) command.Group {
	also := f.options.requestFlags()
	also = append(also,
		&cli.BoolFlag{Name: "disable-sha256-payload", Destination: &f.unsigned,
			Usage: "do not hash the payload of uploads for their signatures"},
	)
	if parts != "" {
		also = append(also, f.options.partFlag(parts))
	}
	return command.Group{Title: groupTraffic, Also: append(also, f.connections(env)...)}
}

// connections are the flags for how to get through to the store, which is the same for everything that asks it.
func (f *targetFlags) connections(env command.Environment) []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "insecure", Destination: &f.insecure, Usage: "with --tls: accept any certificate"},
		&cli.StringFlag{Name: "ca-file", Destination: &f.caFile, TakesFile: true, Usage: "with --tls: PEM `FILE` of additional certificate authorities"},
		&cli.StringFlag{Name: "redirect-hosts", Destination: &f.redirectHosts, Hidden: true,
			Usage: "follow redirects, with credentials, also to these `HOSTS` outside the store's own domain; *.DOMAIN is every name below it"},
	}, f.options.connectionFlags(env)...)
}

// check refuses what contradicts itself, before anything is asked of anybody.
func (f *targetFlags) check() error {
	switch {
	case f.signature == signSTS && f.webToken == "":
		return exit.Usagef("--signature=STS_WEB_TOKEN needs --sts-web-token")
	case f.signature != signSTS && f.webToken != "":
		return exit.Usagef("--sts-web-token needs --signature=STS_WEB_TOKEN")
	case f.credentialsFile != "" && (f.accessKey != "" || f.secretKey != "" || f.sessionToken != "" || f.profile != ""):
		return exit.Usagef("credentials come either from --credentials-file or from --access-key, --secret-key, --session-token and --profile (or their variables)")
	case f.accessToken != "" && (f.accessKey != "" || f.secretKey != "" || f.credentialsFile != "" || f.signature != "S3V4"):
		return exit.Usagef("--access-token (WARP_ACCESS_TOKEN) says who sends the requests: leave out --access-key, --secret-key, --credentials-file and --signature")
	case f.accessKey != "" && f.secretKey == "":
		return exit.Usagef("--access-key (WARP_ACCESS_KEY) is given without --secret-key (WARP_SECRET_KEY)").WithHint("give both")
	case f.accessKey == "" && f.secretKey != "":
		return exit.Usagef("--secret-key (WARP_SECRET_KEY) is given without --access-key (WARP_ACCESS_KEY)").WithHint("give both")
	case f.accessKey == "" && f.sessionToken != "" && f.host != embeddedHost:
		return exit.Usagef("--session-token (WARP_SESSION_TOKEN) is given without --access-key and --secret-key").WithHint("give all three")
	case f.profile != "" && f.accessKey != "":
		return exit.Usagef("--profile and --access-key both name credentials: leave out one of them")
	case f.credentialsFile != "" && (f.signature == "IAM" || f.signature == signSTS):
		return exit.Usagef("--signature=%s brings credentials of its own: leave out --credentials-file", f.signature)
	case f.bucket == "":
		return exit.Usagef("--bucket is empty")
	}
	if err := f.checkStore(); err != nil {
		return err
	}
	if f.redirectHosts != "" {
		var err error
		if f.redirects, err = store.ParseRedirectHosts(f.redirectHosts); err != nil {
			return exit.Usagef("--redirect-hosts: %w", err)
		}
	}
	switch {
	case f.insecure && !f.tls:
		return exit.Usagef("--insecure needs --tls")
	case f.caFile != "" && !f.tls:
		return exit.Usagef("--ca-file needs --tls")
	case f.host != embeddedHost && f.embeddedMemory != defaultEmbeddedMemory:
		return exit.Usagef("--embedded.memory needs --host=embedded")
	case f.host != embeddedHost:
		if err := f.checkOptions(); err != nil {
			return err
		}
		if err := f.options.check(f.tls, f.signature); err != nil {
			return err
		}
		return checkCertificates("--ca-file", f.caFile, f.options.clientCert, f.options.clientKey)
	case f.profile != "" || f.signature != "S3V4" || f.resolveHost || f.credentialsFile != "":
		return exit.Usagef("--host=embedded takes no --profile, --signature, --credentials-file or --resolve-host: leave them out")
	case f.tls:
		return exit.Usagef("--host=embedded does not support TLS: leave out --tls")
	case f.embeddedMemory < 16<<20:
		return exit.Usagef("--embedded.memory is less than 16MiB")
	}
	if name := f.options.beyondEmbedded(); name != "" {
		return exit.Usagef("--host=embedded does not support %s: leave it out, or point --host at a store", name)
	}
	return f.options.check(f.tls, f.signature)
}

// checkCertificates refuses files that hold no certificates, under the name of the flag that they are from.
func checkCertificates(flag, caFile, cert, key string) error {
	if _, err := dial.Roots(&store.Config{CAFile: caFile}); err != nil {
		return exit.Usagef("%s: %w", flag, err)
	}
	if _, err := dial.ClientCertificates(&store.Config{Options: store.Options{ClientCert: cert, ClientKey: key}}); err != nil {
		return exit.Usagef("--client-cert and --client-key: %w", err)
	}
	return nil
}

// several refuses more than one bucket for what is of one only.
func (f *targetFlags) several(what string) error {
	if len(f.buckets) > 1 {
		return exit.Usagef("%s, and --bucket names %d: name one", what, len(f.buckets))
	}
	return nil
}

// bucketList is the buckets with commas between them.
func (f *targetFlags) bucketList() string { return strings.Join(f.buckets, ",") }

// mayDestroy says whether --destroy names exactly the buckets of the run.
func (f *targetFlags) mayDestroy(destroy string) bool {
	_, named, err := parseBuckets(destroy)
	slices.Sort(named)
	return err == nil && slices.Equal(named, slices.Sorted(slices.Values(f.buckets)))
}

// A target is the store that the flags name.
type target struct {
	client   *store.Client
	embedded *s3mem.Embedded // nil where the store is somebody else's
}

func (t *target) close() {
	if t.client != nil {
		t.client.Close()
	}
	if t.embedded != nil {
		_ = t.embedded.Close()
	}
}

// open gets ready to talk to the store. full is called when the embedded store
// has no more room.
func (f *targetFlags) open(ctx context.Context, inv *command.Invocation, concurrency int, full func(error)) (*target, error) {
	t := &target{}
	cfg, err := f.config(concurrency)
	if err != nil {
		return nil, err
	}
	if f.host == embeddedHost {
		if err := bench.FileLimit(2*concurrency, concurrency); err != nil { // both ends are here
			return nil, exit.Errorf("%w", err)
		}
		err = f.startEmbedded(t, &cfg, full)
	} else {
		err = f.findStore(ctx, inv, &cfg)
	}
	if err != nil {
		return nil, err
	}
	if t.client, err = engines.New(cfg); err != nil {
		t.close()
		return nil, exit.Usagef("%w", err)
	}
	inv.Debugf("hosts: %s; requests go through %s", strings.Join(t.client.Endpoints(), ", "), t.client.EngineName())
	return t, nil
}

func (f *targetFlags) startEmbedded(t *target, cfg *store.Config, full func(error)) error {
	e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: f.embeddedMemory, OnFull: func(error) {
		full(exit.Errorf("the embedded store is full (--embedded.memory=%s)", flagtype.FormatSize(f.embeddedMemory)).
			WithHint("allow it more, use smaller or fewer objects, or point --host at a store"))
	}})
	if err != nil {
		return exit.Errorf("start the embedded store: %w", err)
	}
	t.embedded = e
	cfg.Hosts = []store.Address{{Name: e.Addr()}}
	// It takes any region and any keys.
	cfg.Region = cmp.Or(f.region, "us-east-1")
	cfg.Credentials = store.Keys{AccessKey: cmp.Or(f.accessKey, "embedded"), SecretKey: cmp.Or(f.secretKey, "embedded"), SessionToken: f.sessionToken}
	return nil
}

func (f *targetFlags) findStore(ctx context.Context, inv *command.Invocation, cfg *store.Config) error {
	var err error
	if cfg.Hosts, err = f.addresses(ctx, f.hosts); err != nil {
		return exit.Errorf("--resolve-host: %w", err)
	}
	if f.provider.Identify != nil {
		return f.identify(ctx, inv, cfg)
	}
	all, err := f.credentials(ctx, inv, cfg)
	if err != nil {
		return err
	}
	cfg.Credentials, cfg.Others = all[0], all[1:]
	return nil
}

func (f *targetFlags) addresses(ctx context.Context, hosts []string) ([]store.Address, error) {
	if f.resolveHost {
		port := "80"
		if f.tls {
			port = "443"
		}
		return store.ResolveHosts(ctx, hosts, port, net.DefaultResolver.LookupHost)
	}
	return store.Addresses(hosts), nil
}

// config is what the flags say about the store, without hosts and keys.
func (f *targetFlags) config(concurrency int) (store.Config, error) {
	options, err := f.options.options()
	return store.Config{
		TLS: f.tls, Insecure: f.insecure, CAFile: f.caFile, Region: f.region,
		HostSelect: f.hostSelect, AppVersion: thisBuild().version, Concurrency: concurrency,
		Engine: f.engine, Provider: f.provider.Name, UnsignedPayload: f.unsigned, RedirectHosts: f.redirects, AIStore: f.aistore, Options: options,
	}, err
}

// describe is the store as another machine needs to know it: what is in files
// here is in the description.
func (f *targetFlags) describe(ctx context.Context, inv *command.Invocation, concurrency int) (*protocol.Store, error) {
	cfg, err := f.config(concurrency)
	if err != nil {
		return nil, err
	}
	if len(cfg.SourceIPs) > 0 {
		return nil, exit.Usagef("--source-ip names addresses of this machine, and --warp-client runs elsewhere").
			WithHint("start each client as warp client IP:PORT, which binds it to that address")
	}
	if err := f.findStore(ctx, inv, &cfg); err != nil {
		return nil, err
	}
	if _, err := engines.New(cfg); err != nil { // it sends nothing, and finds what contradicts itself
		return nil, exit.Usagef("%w", err)
	}
	target, err := fleet.DescribeStore(cfg)
	if err != nil {
		return nil, exit.Usagef("--warp-client: %w", err)
	}
	return target, nil
}
