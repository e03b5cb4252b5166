package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// checkStore finds out from --bucket, --provider and --host which kind of store is meant, and where it is.
func (f *targetFlags) checkStore() error {
	scheme, buckets, err := parseBuckets(f.bucket)
	if err != nil {
		return exit.Usagef("--bucket: %w", err)
	}
	f.buckets = buckets
	f.provider = scheme
	if f.providerName != "" {
		if f.provider, err = engines.FindProvider(f.providerName); err != nil {
			return exit.Usagef("--provider: %w", err)
		}
		switch {
		case scheme == nil || scheme.Name == f.provider.Name:
		case scheme.Name == engines.S3 && f.provider.Scheme == "": // a kind of S3
		default:
			return exit.Usagef("--bucket=%s is a bucket of %s, and --provider=%s contradicts it: leave out one of them", f.bucket, scheme.Title, f.providerName)
		}
	}
	if f.host == embeddedHost {
		if f.provider != nil && f.provider.Name != engines.S3 {
			return exit.Usagef("--host=embedded is a store of S3, and not %s: leave it out", f.provider.Title)
		}
		f.provider, err = engines.FindProvider(engines.S3)
		return err
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	if err := f.providerOfBuckets(); err != nil || f.provider.Locate == nil {
		return err
	}
	if f.hosts, f.region, err = f.provider.Locate(f.hosts, f.buckets, f.region); err != nil {
		return exit.Usagef("%w", err)
	}
	return nil
}

// parseBuckets reads names of buckets, which may have a scheme. The provider is nil where none has.
func parseBuckets(spec string) (p *engines.Provider, buckets []string, err error) {
	var names []string
	for item := range store.ListItems(spec) {
		said, name, err := engines.ProviderOfBucket(item)
		switch {
		case err != nil:
			return nil, nil, err
		case said != nil && p != nil && said.Name != p.Name:
			return nil, nil, errors.New("a run has buckets of one kind of store, and these are of " + p.Title + " and of " + said.Title)
		case said != nil:
			p = said
		}
		names = append(names, name)
	}
	buckets, err = store.ParseBuckets(strings.Join(names, ","))
	return p, buckets, err
}

// checkHosts reads --host, or finds the host where there is none. A URL says whether to talk TLS.
func (f *targetFlags) checkHosts() (err error) {
	if err := f.findHost(); err != nil {
		return err
	}
	var scheme string
	if f.hosts, scheme, err = store.ParseEndpoints(f.host); err != nil {
		return exit.Usagef("--host: %w", err)
	}
	if err := f.providerOfHosts(); err != nil {
		return err
	}
	switch secure := scheme == "https"; {
	case scheme == "" && f.ownTLS():
		f.tls = true
	case scheme == "" || secure == f.tls:
	case f.given("tls"):
		return exit.Usagef("--host names a URL of %s, and --tls=%t contradicts it: leave out one of them", scheme, f.tls)
	case !secure && !f.given("host"):
		return exit.Usagef("WARP_HOST names a URL of http, and WARP_TLS contradicts it: unset one of them")
	default:
		f.tls = secure
	}
	return nil
}

// providerOfBuckets completes the provider by the names of the buckets, which at some hosts say which kind of S3 is meant.
func (f *targetFlags) providerOfBuckets() error {
	if f.provider.Name != engines.S3 {
		return nil
	}
	p, err := engines.ProviderOfBuckets(f.hosts, f.buckets)
	if err != nil {
		return exit.Usagef("--bucket: %w", err)
	}
	f.provider = cmp.Or(p, f.provider)
	return nil
}

// ownTLS reports whether the hosts are such of a provider that talks TLS, and nobody has said anything else.
func (f *targetFlags) ownTLS() bool {
	if !f.provider.TLS || f.accessKey != "" && !f.provider.OwnKeys || f.given("tls") || f.getenv("WARP_TLS") != "" {
		return false
	}
	return !slices.ContainsFunc(f.hosts, func(host string) bool { return !f.provider.Serves(host) })
}

// findHost sets the host where nobody has: to what the variables of the provider's own tools say, or where it always is.
func (f *targetFlags) findHost() error {
	if f.getenv("WARP_HOST") != "" || f.given("host") || f.provider == nil {
		return nil
	}
	host := ""
	if f.provider.Surroundings != nil {
		var err error
		if host, err = f.provider.Surroundings(&engines.Identity{Access: f.accessKey, Getenv: f.getenv}); err != nil {
			return exit.Usagef("%w", err)
		}
	}
	f.host = cmp.Or(host, f.provider.Host, f.host)
	return nil
}

// providerOfHosts completes the provider by the names of the hosts, which have to agree with it. Whoever asks for the
// S3 interface of another store gets that.
func (f *targetFlags) providerOfHosts() (err error) {
	var named string
	for _, host := range f.hosts {
		p := engines.ProviderOfHost(host)
		switch {
		case p == nil || f.provider != nil && (f.provider.Name == p.Name || f.provider.Name == engines.S3):
		case f.provider == nil && f.speaksS3():
			f.provider, err = engines.FindProvider(engines.S3)
			return err
		case f.provider == nil:
			f.provider, named = p, host
		case named != "":
			return exit.Usagef("--host: %s is %s, and %s is %s: a run talks to one kind of store", named, f.provider.Title, host, p.Title)
		default:
			return exit.Usagef("--host: %s is %s, and not %s: leave out --provider, or name a bucket of the former", host, p.Title, f.provider.Title)
		}
	}
	if f.provider == nil {
		f.provider, err = engines.FindProvider(engines.S3)
	}
	return err
}

// speaksS3 reports whether flags were given that mean S3's own credentials or engine. With a host alone they go on to
// mean the S3 interface of whatever store is there.
func (f *targetFlags) speaksS3() bool {
	return f.profile != "" || f.sessionToken != "" || f.signature == "S3V2" || f.signature == signSTS || f.engine == "minio" ||
		f.options.lookup == store.LookupHost
}

// getenv is an environment variable, "" where it is not set.
func (f *targetFlags) getenv(name string) string {
	value, _ := f.env(name)
	return value
}

// identify finds out as whom to talk to a store that has credentials of its own kind.
func (f *targetFlags) identify(ctx context.Context, inv *command.Invocation, cfg *store.Config) error {
	home, _ := os.UserHomeDir()
	source, secrets, err := f.provider.Identify(ctx, engines.Identity{
		Token: f.accessToken, Access: f.accessKey, Secret: f.secretKey, File: f.credentialsFile, Metadata: f.signature == "IAM",
		Home: home, Getenv: f.getenv,
	}, cfg)
	switch {
	case err != nil && f.credentialsFile != "":
		return exit.Usagef("%w", err)
	case err != nil:
		return exit.Errorf("%w", err)
	}
	f.source = source
	inv.Hide.Add(secrets...)
	inv.Debugf("credentials are from %s", source)
	return nil
}

// A need is a feature of the store that a flag or a command needs.
type need struct {
	given   bool
	what    string
	feature engines.Feature
}

// checkNeeds refuses what the store lacks.
func (f *targetFlags) checkNeeds(needs []need) error {
	for _, n := range needs {
		if !n.given {
			continue
		}
		if err := f.provider.Check(n.what, n.feature); err != nil {
			var lack *engines.LackError
			errors.As(err, &lack)
			if lack.Hint != "" {
				return exit.Usagef("%w", err).WithHint("%s", lack.Hint)
			}
			return exit.Usagef("%w", err)
		}
	}
	return nil
}

// checkOptions refuses options that the store lacks.
func (f *targetFlags) checkOptions() error {
	o := &f.options
	signs := f.signature != "S3V4" && f.signature != "IAM"
	err := f.checkNeeds([]need{
		{o.encrypt, "--encrypt", engines.CustomerKeys},
		{o.sseS3, "--sse-s3-encrypt", engines.StoreKeys},
		{o.kmsKey != "", "--sse-kms-key", engines.ServiceKeys},
		{o.class != "", "--storage-class", engines.Classes},
		{len(o.metadata) > 0, "--add-metadata", engines.ObjectData},
		{len(o.tags) > 0, "--tag", engines.Tags},
		{o.lookup == store.LookupHost, "--lookup=host", engines.HostBuckets},
		{o.http2, "--http2", engines.HTTP2},
		{signs, "--signature=" + f.signature, engines.Signatures},
		{f.profile != "", "--profile", engines.Signatures},
		{f.credentialsFile != "", "--credentials-file", engines.Identities},
		{f.given("region"), "--region", engines.Regions},
		{f.sessionToken != "", "--session-token", engines.Signatures},
		{f.accessToken != "", "--access-token", engines.BearerTokens},
		{f.engine == "minio", "--engine=minio", engines.MinioEngine},
	})
	if err != nil {
		return err
	}
	sum := store.Checksum(o.checksum)
	if o.checksum == "MD5" {
		sum = store.NoChecksum
	}
	if !f.provider.TakesChecksum(sum) {
		return exit.Usagef("--checksum=%s is none that %s takes with an upload", o.checksum, f.provider.Title).WithHint("leave it out")
	}
	return nil
}
