// Package target has the flags that say which store to talk to, as whom and how, and
// opens that store.
package target

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/fleet"
	"warp/pkg/fleet/protocol"
	"warp/pkg/s3mem"
	"warp/pkg/store"
	"warp/pkg/store/dial"
	"warp/pkg/store/engines"
	"warp/pkg/store/provider"
)

// defaultEmbeddedMemory is the maximum size of the embedded store.
const defaultEmbeddedMemory = 1 << 30

// signSTS is the --signature that exchanges a token for credentials.
const signSTS = "STS_WEB_TOKEN"

// EmbeddedHost is the --host that needs no store.
const EmbeddedHost = "embedded"

// defaultHost is the usual address of a local S3 store.
const defaultHost = "127.0.0.1:9000"

// DefaultBucket is the --bucket if none is given.
const DefaultBucket = "warp-benchmark-bucket"

// Titles of the groups of flags.
const (
	targetTitle  = "Target"
	TrafficTitle = "Traffic"
)

// Flags choose the store and the credentials. Check completes them.
type Flags struct {
	Host, hostSelect, Bucket, Region   string
	Buckets                            []string               // parsed from Bucket by Check
	Hosts                              []string               // parsed from Host by Check
	Elsewhere                          string                 // the end of the hint if no store answers
	Given                              func(flag string) bool // the flag is on the command line
	engine, ProviderName               string
	Provider                           *provider.Provider // found by Check from hosts, buckets and --provider
	env                                command.Environment
	AccessKey, SecretKey, sessionToken string
	accessToken                        string
	source                             string // of the credentials, unless they are for S3
	anonymous                          bool   // S3's own credentials were not found
	hostFrom                           string // what names the host: --host or a variable
	Profile, Signature, CAFile         string
	TLS, Insecure, ResolveHost         bool
	Unsigned                           bool
	webToken, CredentialsFile          string
	redirectHosts                      string
	redirects                          []string // parsed by Check
	Options                            OptionFlags
	Settings                           json.RawMessage // of commands about one kind of store, see [store.Config]
	EmbeddedMemory                     int64
	EmbeddedAddr                       string // of the embedded store of another process, to be used; "" = start one
}

// Default sets what only the flags of [Flags.Group] choose, for commands with flags of another tool.
func (f *Flags) Default(env command.Environment) {
	f.env, f.hostSelect, f.engine, f.Signature = env, "weighed", "auto", "S3V4"
	f.EmbeddedMemory, f.Options.listTimeout = defaultEmbeddedMemory, store.ListTimeout
}

// Group returns the flags for the store and its credentials.
func (f *Flags) Group(env command.Environment) command.Group {
	f.env = env
	return command.Group{Title: targetTitle, Flags: []cli.Flag{
		&cli.StringFlag{Name: "host", Aliases: []string{"base-uri"}, Value: defaultHost, Destination: &f.Host, Sources: env.Vars("WARP_HOST"),
			Usage: "`HOST`:PORT of the store; several as a,b or node{1...8}:900{0...3} or file:NAME; embedded is a store in memory"},
		&cli.StringFlag{Name: "access-key", Aliases: []string{"s3-access-key"}, Destination: &f.AccessKey, Sources: env.Vars("WARP_ACCESS_KEY"),
			Usage: "access `KEY`, or account of Azure; default: AWS environment variables, then profiles"},
		&cli.StringFlag{Name: "secret-key", Aliases: []string{"s3-secret-key"}, Destination: &f.SecretKey, Sources: env.Vars("WARP_SECRET_KEY"),
			Usage: "secret `KEY`"},
		&cli.BoolFlag{Name: "tls", Destination: &f.TLS, Sources: env.Vars("WARP_TLS"), Usage: "use HTTPS"},
		&cli.StringFlag{Name: "bucket", Value: DefaultBucket, Destination: &f.Bucket,
			Usage: "`BUCKET` to use, or several, such as b{1...4}; warp creates a missing bucket and never touches other objects in it"},
	}, Also: []cli.Flag{
		&flagtype.Choice{Name: "provider", Config: flagtype.Choices(engines.ProviderNames()), Destination: &f.ProviderName, Sources: env.Vars("WARP_PROVIDER"),
			DefaultText: "from host or bucket, else s3", Usage: "`KIND` of store, if neither host nor bucket (gs://NAME) identifies it: " + strings.Join(engines.ProviderNames(), ", ")},
		&cli.StringFlag{Name: "region", Aliases: []string{"s3-region"}, Destination: &f.Region, Sources: env.Vars("WARP_REGION"),
			Usage: "`REGION` of the store; by default warp asks the store"},
		&cli.StringFlag{Name: "session-token", Destination: &f.sessionToken, Sources: env.Vars("WARP_SESSION_TOKEN"),
			Usage: "session `TOKEN` of temporary credentials"},
		&cli.StringFlag{Name: "access-token", Hidden: true, Destination: &f.accessToken, Sources: env.Vars("WARP_ACCESS_TOKEN"),
			Usage: "bearer `TOKEN`, or a shared access signature of Azure, for stores that take one"},
		&cli.StringFlag{Name: "credentials-file", Destination: &f.CredentialsFile, TakesFile: true,
			Usage: "use several credentials in turn; `FILE` has one ACCESS:SECRET or ACCESS:SECRET:TOKEN per line"},
		&cli.StringFlag{Name: "sts-web-token", Destination: &f.webToken, Hidden: true, Sources: env.Vars("WARP_STS_WEB_TOKEN"),
			Usage: "with --signature=STS_WEB_TOKEN: web identity `TOKEN` to exchange for credentials, or file:NAME"},
		&cli.StringFlag{Name: "profile", Destination: &f.Profile, Usage: "take credentials from this `PROFILE` of the shared AWS configuration"},
		&flagtype.Choice{Name: "host-select", Value: "weighed", Config: flagtype.Choices{"weighed", "roundrobin"}, Destination: &f.hostSelect,
			Usage: "choose each request's host by `HOW`: weighed (fewest requests in flight, then longest idle) or roundrobin"},
		&flagtype.Choice{Name: "engine", Value: "auto", Config: flagtype.Choices{"auto", "lean", "minio"}, Destination: &f.engine,
			Usage: "use the HTTP client `WHAT`: lean (warp's own, least CPU), minio (minio-go) or auto (lean if possible)"},
		&flagtype.Size{Name: "embedded.memory", Hidden: true, Value: defaultEmbeddedMemory, Destination: &f.EmbeddedMemory,
			Usage: "with --host=embedded: maximum `SIZE` of the store"},
		&cli.BoolFlag{Name: "resolve-host", Destination: &f.ResolveHost, Hidden: true,
			Usage: "use every address of a host name as a separate host"},
		&flagtype.Choice{Name: "signature", Value: "S3V4", Config: flagtype.Choices{"S3V4", "IAM", "S3V2", "STS_WEB_TOKEN"}, Destination: &f.Signature, Hidden: true,
			Usage: "signature `KIND`: S3V4, S3V2, IAM (credentials of this machine's instance profile) or STS_WEB_TOKEN (credentials for a web identity token)"},
	}}
}

// Traffic returns the flags for requests and connections. Parts is the usage of
// --part.size; without it there is no such flag.
func (f *Flags) Traffic(env command.Environment, parts string) command.Group {
	also := f.Options.requestFlags()
	also = append(also,
		&cli.BoolFlag{Name: "disable-sha256-payload", Destination: &f.Unsigned,
			Usage: "do not hash the payload of uploads for their signatures"},
	)
	if parts != "" {
		also = append(also, f.Options.partFlag(parts))
	}
	return command.Group{Title: TrafficTitle, Also: append(also, f.ConnectionFlags(env)...)}
}

// ConnectionFlags returns the flags for connections, which all commands have that talk to a store.
func (f *Flags) ConnectionFlags(env command.Environment) []cli.Flag {
	return append([]cli.Flag{
		&cli.BoolFlag{Name: "insecure", Destination: &f.Insecure, Usage: "with --tls: accept any certificate"},
		&cli.StringFlag{Name: "ca-file", Destination: &f.CAFile, TakesFile: true, Usage: "with --tls: PEM `FILE` of additional certificate authorities"},
		&cli.StringFlag{Name: "redirect-hosts", Destination: &f.redirectHosts, Hidden: true,
			Usage: "follow redirects, with credentials, also to these `HOSTS` outside the store's own domain; *.DOMAIN is every name below it"},
	}, f.Options.connectionFlags(env)...)
}

// Check refuses flags that contradict each other or the store. It sends nothing.
func (f *Flags) Check() error {
	switch {
	case f.Signature == signSTS && f.webToken == "":
		return exit.Usagef("--signature=STS_WEB_TOKEN needs --sts-web-token")
	case f.Signature != signSTS && f.webToken != "":
		return exit.Usagef("--sts-web-token needs --signature=STS_WEB_TOKEN")
	case f.CredentialsFile != "" && (f.AccessKey != "" || f.SecretKey != "" || f.sessionToken != "" || f.Profile != ""):
		return exit.Usagef("--credentials-file cannot be combined with --access-key, --secret-key, --session-token and --profile (or their variables)")
	case f.accessToken != "" && (f.AccessKey != "" || f.SecretKey != "" || f.CredentialsFile != "" || f.Signature != "S3V4"):
		return exit.Usagef("--access-token (WARP_ACCESS_TOKEN) cannot be combined with --access-key, --secret-key, --credentials-file and --signature")
	case f.AccessKey != "" && f.SecretKey == "":
		return exit.Usagef("--access-key (WARP_ACCESS_KEY) is given without --secret-key (WARP_SECRET_KEY)").WithHint("give both")
	case f.AccessKey == "" && f.SecretKey != "":
		return exit.Usagef("--secret-key (WARP_SECRET_KEY) is given without --access-key (WARP_ACCESS_KEY)").WithHint("give both")
	case f.AccessKey == "" && f.sessionToken != "" && f.Host != EmbeddedHost:
		return exit.Usagef("--session-token (WARP_SESSION_TOKEN) is given without --access-key and --secret-key").WithHint("give all three")
	case f.Profile != "" && f.AccessKey != "":
		return exit.Usagef("--profile and --access-key cannot be combined")
	case f.CredentialsFile != "" && (f.Signature == "IAM" || f.Signature == signSTS):
		return exit.Usagef("--signature=%s and --credentials-file cannot be combined", f.Signature)
	case f.Bucket == "":
		return exit.Usagef("--bucket is empty")
	case strings.ContainsFunc(f.Region, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return exit.Usagef("--region=%q is not a region: it has a blank or a control character", f.Region)
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
	case f.Insecure && !f.TLS:
		return exit.Usagef("--insecure needs --tls")
	case f.CAFile != "" && !f.TLS:
		return exit.Usagef("--ca-file needs --tls")
	case f.Host != EmbeddedHost && f.EmbeddedMemory != defaultEmbeddedMemory:
		return exit.Usagef("--embedded.memory needs --host=embedded")
	case f.Host != EmbeddedHost:
		if err := f.checkOptions(); err != nil {
			return err
		}
		if err := f.Options.check(f.TLS, f.Signature); err != nil {
			return err
		}
		return CheckCertificates("--ca-file", f.CAFile, f.Options.clientCert, f.Options.clientKey)
	case f.Profile != "" || f.Signature != "S3V4" || f.ResolveHost || f.CredentialsFile != "":
		return exit.Usagef("--host=embedded cannot be combined with --profile, --signature, --credentials-file and --resolve-host")
	case f.TLS:
		return exit.Usagef("--host=embedded and --tls cannot be combined: the embedded store has no TLS")
	case f.EmbeddedMemory < 16<<20:
		return exit.Usagef("--embedded.memory is less than 16MiB")
	}
	if name := f.Options.beyondEmbedded(); name != "" {
		return exit.Usagef("--host=embedded does not support %s: leave it out, or point --host at a store", name)
	}
	return f.Options.check(f.TLS, f.Signature)
}

// CheckCertificates refuses files without certificates. Flag names the one for caFile.
func CheckCertificates(flag, caFile, cert, key string) error {
	if _, err := dial.Roots(&store.Config{CAFile: caFile}); err != nil {
		return exit.Usagef("%s: %w", flag, err)
	}
	if _, err := dial.ClientCertificates(&store.Config{Options: store.Options{ClientCert: cert, ClientKey: key}}); err != nil {
		return exit.Usagef("--client-cert and --client-key: %w", err)
	}
	return nil
}

// OneBucket refuses several buckets, for the reason in what.
func (f *Flags) OneBucket(what string) error {
	if len(f.Buckets) > 1 {
		return exit.Usagef("%s, and --bucket names %d: name one", what, len(f.Buckets))
	}
	return nil
}

// BucketList returns the buckets with commas between them.
func (f *Flags) BucketList() string { return strings.Join(f.Buckets, ",") }

// MayDestroy reports whether --destroy names exactly the buckets of the run.
func (f *Flags) MayDestroy(destroy string) bool {
	_, named, err := parseBuckets(destroy)
	slices.Sort(named)
	return err == nil && slices.Equal(named, slices.Sorted(slices.Values(f.Buckets)))
}

// A Target is an open store.
type Target struct {
	Client   *store.Client
	embedded *s3mem.Embedded // nil for other stores
}

// Close closes connections, and ends the embedded store.
func (t *Target) Close() {
	if t.Client != nil {
		t.Client.Close()
	}
	if t.embedded != nil {
		_ = t.embedded.Close()
	}
}

// Open prepares connections to the store, or starts the embedded one, which calls
// full when it has no more room.
func (f *Flags) Open(ctx context.Context, inv *command.Invocation, concurrency int, full func(error)) (*Target, error) {
	t := &Target{}
	cfg, err := f.config(inv.Version, concurrency)
	if err != nil {
		return nil, err
	}
	if f.Host == EmbeddedHost {
		if err := bench.FileLimit(2*concurrency, concurrency, 1); err != nil { // both ends are here
			return nil, exit.Errorf("%w", err)
		}
		err = f.openEmbedded(t, &cfg, full)
	} else {
		err = f.findStore(ctx, inv, &cfg)
	}
	if err != nil {
		return nil, err
	}
	if t.Client, err = engines.New(cfg); err != nil {
		t.Close()
		return nil, exit.Usagef("%w", err)
	}
	t.Client.WatchListings(func(l store.ListNews) {
		inv.Notef("listing %q in bucket %s: %s in %s", l.Prefix, l.Bucket, human.Count(l.Names, "name", "names"), human.Brief(l.Took))
	})
	inv.Debugf("hosts: %s; requests go through %s", strings.Join(t.Client.Endpoints(), ", "), t.Client.EngineName())
	return t, nil
}

// EmbeddedAddr returns the address of the embedded store that Open has started; "" for other stores.
func (t *Target) EmbeddedAddr() string {
	if t.embedded == nil {
		return ""
	}
	return t.embedded.Addr()
}

func (f *Flags) openEmbedded(t *Target, cfg *store.Config, full func(error)) error {
	addr := f.EmbeddedAddr
	if addr == "" {
		e, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: f.EmbeddedMemory, OnFull: func(error) {
			full(exit.Errorf("the embedded store is full (--embedded.memory=%s)", flagtype.FormatSize(f.EmbeddedMemory)).
				WithHint("give it more, use smaller or fewer objects, or point --host at a store"))
		}})
		if err != nil {
			return exit.Errorf("cannot start the embedded store: %w", err)
		}
		t.embedded, addr = e, e.Addr()
	}
	cfg.Hosts = []store.Address{{Name: addr}}
	// It takes any region and any keys.
	cfg.Region = cmp.Or(f.Region, "us-east-1")
	cfg.Credentials = store.Keys{AccessKey: cmp.Or(f.AccessKey, "embedded"), SecretKey: cmp.Or(f.SecretKey, "embedded"), SessionToken: f.sessionToken}
	return nil
}

func (f *Flags) findStore(ctx context.Context, inv *command.Invocation, cfg *store.Config) error {
	var err error
	if cfg.Hosts, err = f.addresses(ctx, f.Hosts); err != nil {
		return exit.Errorf("--resolve-host: %w", err)
	}
	if f.Provider.Identify != nil {
		return f.identify(inv, cfg)
	}
	all, err := f.credentials(ctx, inv, cfg)
	if err != nil {
		return err
	}
	cfg.Credentials, cfg.Others = all[0], all[1:]
	return nil
}

func (f *Flags) addresses(ctx context.Context, hosts []string) ([]store.Address, error) {
	if f.ResolveHost {
		port := "80"
		if f.TLS {
			port = "443"
		}
		return store.ResolveHosts(ctx, hosts, port, net.DefaultResolver.LookupHost)
	}
	return store.Addresses(hosts), nil
}

// config returns the configuration that the flags describe, without hosts and keys.
func (f *Flags) config(version string, concurrency int) (store.Config, error) {
	options, err := f.Options.options()
	return store.Config{
		TLS: f.TLS, Insecure: f.Insecure, CAFile: f.CAFile, Region: f.Region,
		HostSelect: f.hostSelect, AppVersion: version, Concurrency: concurrency,
		Engine: f.engine, Provider: f.Provider.Name, UnsignedPayload: f.Unsigned, RedirectHosts: f.redirects, Settings: f.Settings, Options: options,
	}, err
}

// Describe returns all that another machine needs to open the store, with the
// contents of files.
func (f *Flags) Describe(ctx context.Context, inv *command.Invocation, concurrency int) (*protocol.Store, error) {
	cfg, err := f.config(inv.Version, concurrency)
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
