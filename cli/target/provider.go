package target

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/pkg/store"
	"warp/pkg/store/engines"
	"warp/pkg/store/provider"
)

// checkStore determines the kind of store and its address from --bucket, --provider and --host.
func (f *Flags) checkStore() error {
	scheme, buckets, err := parseBuckets(f.Bucket)
	if err != nil {
		return exit.Usagef("--bucket: %w", err)
	}
	f.Buckets = buckets
	f.Provider = scheme
	if f.ProviderName != "" {
		if f.Provider, err = engines.FindProvider(f.ProviderName); err != nil {
			return exit.Usagef("--provider: %w", err)
		}
		switch {
		case scheme == nil || scheme.Name == f.Provider.Name:
		case scheme.Name == engines.S3 && f.Provider.Scheme == "": // a kind of S3
		default:
			return exit.Usagef("--bucket=%s is a bucket of %s and cannot be combined with --provider=%s", f.Bucket, scheme.Title, f.ProviderName)
		}
	}
	if f.Host == EmbeddedHost {
		if f.Provider != nil && f.Provider.Name != engines.S3 {
			return exit.Usagef("--host=embedded is an S3 store, not %s", f.Provider.Title)
		}
		f.Provider, err = engines.FindProvider(engines.S3)
		return err
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	if err := f.providerOfBuckets(); err != nil {
		return err
	}
	if f.Provider.BucketName != nil {
		for _, name := range f.Buckets {
			if err := f.Provider.BucketName(name); err != nil {
				return exit.Usagef("--bucket: %w", err)
			}
		}
	}
	if f.Provider.Locate == nil {
		return nil
	}
	if f.Hosts, f.Region, err = f.Provider.Locate(f.Hosts, f.Buckets, f.Region); err != nil {
		return exit.Usagef("%w", err)
	}
	return nil
}

// parseBuckets parses names of buckets, with or without a scheme. The provider is nil if none has a scheme.
func parseBuckets(spec string) (p *provider.Provider, buckets []string, err error) {
	var names []string
	for item := range store.ListItems(spec) {
		said, name, err := engines.ProviderOfBucket(item)
		switch {
		case err != nil:
			return nil, nil, err
		case said != nil && p != nil && said.Name != p.Name:
			return nil, nil, errors.New("all buckets of a run must be in one kind of store, but these are in " + p.Title + " and in " + said.Title)
		case said != nil:
			p = said
		}
		names = append(names, name)
	}
	buckets, err = store.ParseBuckets(strings.Join(names, ","))
	return p, buckets, err
}

// checkHosts parses --host, or finds the host if it is not given. The scheme of a URL sets TLS.
func (f *Flags) checkHosts() (err error) {
	if err := f.findHost(); err != nil {
		return err
	}
	if p, _, err := engines.ProviderOfBucket(f.Host); p != nil && err == nil {
		return exit.Usagef("%s: %q is a bucket, not a host: write --bucket=%s", f.hostFrom, f.Host, f.Host)
	}
	var scheme string
	if f.Hosts, scheme, err = store.ParseEndpoints(f.Host); err != nil {
		return exit.Usagef("%s: %w", f.hostFrom, err)
	}
	if err := f.providerOfHosts(); err != nil {
		return err
	}
	switch secure := scheme == "https"; {
	case scheme == "" && f.ownTLS():
		f.TLS = true
	case scheme == "" || secure == f.TLS:
	case f.Given("tls"):
		return exit.Usagef("%s names an %s URL and cannot be combined with --tls=%t", f.hostFrom, scheme, f.TLS)
	case !secure && !f.Given("host"):
		return exit.Usagef("%s names an http URL and cannot be combined with WARP_TLS: unset one of them", f.hostFrom)
	default:
		f.TLS = secure
	}
	return nil
}

// providerOfBuckets completes the provider by the names of the buckets, which at some hosts say which kind of S3 is meant.
func (f *Flags) providerOfBuckets() error {
	if f.Provider.Name != engines.S3 {
		return nil
	}
	p, err := engines.ProviderOfBuckets(f.Hosts, f.Buckets)
	if err != nil {
		return exit.Usagef("--bucket: %w", err)
	}
	f.Provider = cmp.Or(p, f.Provider)
	return nil
}

// ownTLS reports whether the hosts belong to a provider with TLS, and no flag says anything else.
func (f *Flags) ownTLS() bool {
	if !f.Provider.TLS || f.AccessKey != "" && !f.Provider.OwnKeys || f.Given("tls") || f.env.Value("WARP_TLS") != "" {
		return false
	}
	return !slices.ContainsFunc(f.Hosts, func(host string) bool { return !f.Provider.Serves(host) })
}

// findHost sets a host that is not given: from the variables of the provider's own tools, or to its fixed address.
func (f *Flags) findHost() error {
	f.hostFrom = "--host"
	switch {
	case f.Given("host"):
		return nil
	case f.env.Value("WARP_HOST") != "":
		f.hostFrom = "WARP_HOST"
		return nil
	case f.Provider == nil:
		return nil
	}
	host := ""
	if f.Provider.HostFromEnv != nil {
		var from string
		var err error
		if host, from, err = f.Provider.HostFromEnv(&provider.Identity{Access: f.AccessKey, Getenv: f.env.Value}); err != nil {
			return exit.Usagef("%w", err)
		}
		if host != "" {
			f.hostFrom = from
		}
	}
	f.Host = cmp.Or(host, f.Provider.Host, f.Host)
	return nil
}

// providerOfHosts completes the provider by the names of the hosts, which have to agree with it. Whoever asks for the
// S3 interface of another store gets that.
func (f *Flags) providerOfHosts() (err error) {
	var named string
	for _, host := range f.Hosts {
		name, path, _ := strings.Cut(host, "/")
		p := engines.ProviderOfHost(name)
		switch {
		case p != nil && path != "":
			return exit.Usagef("%s: %s is %s, whose addresses have no path", f.hostFrom, name, p.Title).WithHint("write --host=%s, and the bucket in --bucket", name)
		case p == nil || f.Provider != nil && (f.Provider.Name == p.Name || f.Provider.Name == engines.S3):
		case f.Provider == nil && f.speaksS3():
			f.Provider, err = engines.FindProvider(engines.S3)
			return err
		case f.Provider == nil:
			f.Provider, named = p, host
		case named != "":
			return exit.Usagef("%s: %s is %s, and %s is %s: a run talks to one kind of store", f.hostFrom, named, f.Provider.Title, host, p.Title)
		default:
			return exit.Usagef("%s: %s is %s, but %s is %s; name only one of them", f.hostFrom, host, p.Title, f.saidProvider(), f.Provider.Title)
		}
	}
	if f.Provider == nil {
		f.Provider, err = engines.FindProvider(engines.S3)
	}
	return err
}

// saidProvider returns the flag that sets the provider.
func (f *Flags) saidProvider() string {
	if strings.Contains(f.Bucket, "://") {
		return "--bucket=" + f.Bucket
	}
	return "--provider=" + f.Provider.Name
}

// speaksS3 reports whether flags were given that mean S3's own credentials or engine. With a host alone they go on to
// mean the S3 interface of whatever store is there.
func (f *Flags) speaksS3() bool {
	return f.Profile != "" || f.sessionToken != "" || f.Signature == "S3V2" || f.Signature == signSTS || f.engine == "minio" ||
		f.Options.lookup == store.LookupHost
}

// identify finds out as whom to talk to a store that has credentials of its own kind.
func (f *Flags) identify(inv *command.Invocation, cfg *store.Config) error {
	home, _ := os.UserHomeDir()
	source, secrets, err := f.Provider.Identify(&provider.Identity{
		Token: f.accessToken, Access: f.AccessKey, Secret: f.SecretKey, File: f.CredentialsFile, Metadata: f.Signature == "IAM",
		Home: home, Getenv: f.env.Value,
	}, cfg)
	switch {
	case err != nil && (f.CredentialsFile != "" || f.accessToken != "" || f.AccessKey != ""):
		return exit.Usagef("%w", err)
	case err != nil:
		return exit.Errorf("%w", err)
	}
	f.source = source
	inv.Hide.Add(secrets...)
	inv.Debugf("credentials are from %s", source)
	return nil
}

// CredentialSource names the source of the credentials; "" = the sources of S3.
func (f *Flags) CredentialSource() string { return f.source }

// Require refuses what needs a feature that the store lacks, if it is given: a flag
// or a command.
func (f *Flags) Require(given bool, what string, feature provider.Feature) error {
	if !given {
		return nil
	}
	err := f.Provider.Check(what, feature)
	var lack *provider.LackError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &lack) && lack.Hint != "":
		return exit.Usagef("%w", err).WithHint("%s", lack.Hint)
	}
	return exit.Usagef("%w", err)
}

// checkOptions refuses options that the store lacks.
func (f *Flags) checkOptions() error {
	o := &f.Options
	signs := f.Signature != "S3V4" && f.Signature != "IAM"
	for _, n := range []struct {
		given   bool
		what    string
		feature provider.Feature
	}{
		{o.Encrypt, "--encrypt", provider.CustomerKeys},
		{o.sseS3, "--sse-s3-encrypt", provider.StoreKeys},
		{o.kmsKey != "", "--sse-kms-key", provider.ServiceKeys},
		{o.class != "", "--storage-class", provider.Classes},
		{len(o.metadata) > 0, "--add-metadata", provider.ObjectData},
		{len(o.tags) > 0, "--tag", provider.Tags},
		{o.lookup == store.LookupHost, "--lookup=host", provider.HostBuckets},
		{o.http2, "--http2", provider.HTTP2},
		{signs, "--signature=" + f.Signature, provider.Signatures},
		{f.Profile != "", "--profile", provider.Signatures},
		{f.CredentialsFile != "", "--credentials-file", provider.Identities},
		{f.Given("region"), "--region", provider.Regions},
		{f.sessionToken != "", "--session-token", provider.Signatures},
		{f.accessToken != "", "--access-token", provider.BearerTokens},
		{f.engine == "minio", "--engine=minio", provider.MinioEngine},
	} {
		if err := f.Require(n.given, n.what, n.feature); err != nil {
			return err
		}
	}
	sum := store.Checksum(o.Checksum)
	if o.Checksum == "MD5" {
		sum = store.NoChecksum
	}
	if !f.Provider.TakesChecksum(sum) {
		return exit.Usagef("--checksum=%s is not supported by uploads to %s", o.Checksum, f.Provider.Title).WithHint("leave it out")
	}
	return nil
}
