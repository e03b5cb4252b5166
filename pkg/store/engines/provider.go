package engines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/store"
)

// A Provider is a kind of store: its names, how to recognize it, what it lacks, and how to open it.
type Provider struct {
	Name   string // as in --provider and [store.Config]
	Title  string // in messages
	Scheme string // of bucket URLs, as in gs://NAME
	Alias  string // another scheme that means the same; "" = none
	// CheckBucket returns an error for a name after the scheme that is more than a bucket's; nil = the
	// usual check is enough.
	CheckBucket func(scheme, name string) error
	// BucketName returns an error for the name of a bucket that the store never accepts; nil = the
	// usual check is enough.
	BucketName func(name string) error
	Host       string // the default host; "" = a host is required
	// Serves reports whether the name of a host, with or without port, is this provider's; nil = no
	// host name is.
	Serves func(host string) bool
	TLS    bool // use TLS by default for hosts that Serves recognizes, unless S3 keys are given
	// AccountPath returns the path that an emulator on this machine needs after its address; "" =
	// none.
	AccountPath string
	// OwnKeys says that --access-key and --secret-key are keys of its own API, not of an S3
	// interface.
	OwnKeys bool
	// OwnsBucket reports whether an S3 bucket is this provider's, by its name and the name of its
	// host; nil = no bucket is.
	OwnsBucket func(host, bucket string) bool
	// Locate returns the hosts and the region of buckets, if the given hosts only identify the
	// cloud; nil = the given hosts are right.
	Locate func(hosts, buckets []string, region string) (at []string, in string, err error)
	// HostFromEnv returns the host set by the variables of the provider's own tools, and the
	// variable or flag that it comes from; nil = there are none.
	HostFromEnv func(id *Identity) (host, from string, err error)
	// Identify completes cfg with the credentials that id asks for, and returns their source and
	// their secret parts; nil = S3 credentials.
	Identify func(ctx context.Context, id Identity, cfg *store.Config) (source string, secrets []string, err error)
	// Accepts names the flags with credentials for Identify, for messages.
	Accepts string
	// Portable returns an error if credentials in cfg work only on this machine; nil = there are no
	// such credentials.
	Portable func(cfg *store.Config) error
	// Lacks contains the functions that the store does not have, each with a hint, which may be
	// empty.
	Lacks map[Feature]string
	// Checksums lists the checksums that the store accepts; nil = all.
	Checksums []store.Checksum

	open func(cfg *store.Config) (opened, error)
}

// lettersOf returns a check of names that consist of lower-case letters, digits and the given
// others.
func lettersOf(others, title string) func(name string) error {
	return func(name string) error {
		for _, r := range name {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789"+others, r) {
				return fmt.Errorf("%q is not a bucket name of %s: it contains %q", name, title, r)
			}
		}
		return nil
	}
}

// An Identity contains the flags that say who sends the requests.
type Identity struct {
	Access, Secret string // --access-key, --secret-key
	Token          string // --access-token
	File           string // --credentials-file
	Metadata       bool   // ask the machine's metadata server (--signature=IAM)
	Home           string
	Getenv         func(string) string
}

// hostIn returns a HostFromEnv function for one variable, which contains a host or a URL.
func hostIn(variable string) func(*Identity) (host, from string, err error) {
	return func(id *Identity) (host, from string, err error) {
		if host = id.Getenv(variable); host != "" && !strings.Contains(host, "://") {
			host = "http://" + host
		}
		return host, variable, nil
	}
}

// An opened provider contains everything that a client needs.
type opened struct {
	driver store.Driver
	ready  func(*store.Client) // called with the client; may be nil
}

// S3 is the name of the default provider.
const S3 = "s3"

// Providers lists the kinds of stores. A new one is a package and a row here.
func Providers() []Provider {
	return []Provider{s3Provider(), expressProvider(), gcsProvider(), aisProvider(), azureProvider(), lakeProvider()}
}

// ProviderNames returns the values of --provider.
func ProviderNames() []string {
	var names []string
	for _, p := range Providers() {
		names = append(names, p.Name)
	}
	return names
}

// FindProvider returns the provider of that name; "" is S3.
func FindProvider(name string) (*Provider, error) {
	if name == "" {
		name = S3
	}
	all := Providers()
	if i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name }); i >= 0 {
		return &all[i], nil
	}
	return nil, fmt.Errorf("unknown provider %q: use %s", name, strings.Join(ProviderNames(), ", "))
}

// CheckPortable rejects a configuration whose credentials depend on this machine.
func CheckPortable(cfg *store.Config) error {
	p, err := FindProvider(cfg.Provider)
	if err != nil || p.Portable == nil {
		return err
	}
	return p.Portable(cfg)
}

// ProviderOfHost returns the provider that the name of a host implies; nil = none.
func ProviderOfHost(host string) *Provider {
	for _, p := range Providers() {
		if p.Serves != nil && p.Serves(host) {
			return &p
		}
	}
	return nil
}

// ProviderOfBucket separates the scheme of a bucket from its name. The provider is nil without a
// scheme.
func ProviderOfBucket(bucket string) (p *Provider, name string, err error) {
	scheme, name, ok := strings.Cut(bucket, "://")
	if !ok {
		return nil, bucket, nil
	}
	name, path, _ := strings.Cut(name, "/")
	var schemes []string
	for _, known := range Providers() {
		if known.Scheme == "" {
			continue
		}
		if lower := strings.ToLower(scheme); lower == known.Scheme || known.Alias != "" && lower == known.Alias {
			p = &known
		}
		schemes = append(schemes, known.Scheme+"://")
	}
	switch {
	case scheme == "http" || scheme == "https":
		return nil, "", fmt.Errorf("%q is a URL of a host, and not the name of a bucket: give it to --host", bucket)
	case p == nil:
		return nil, "", fmt.Errorf("%q has a scheme that warp does not know: buckets are NAME, or %sNAME", bucket, strings.Join(schemes, "NAME, "))
	case p.CheckBucket != nil && p.CheckBucket(p.Scheme, name) != nil:
		return nil, "", p.CheckBucket(p.Scheme, name)
	case path != "":
		return nil, "", fmt.Errorf("%q is more than a bucket: write --bucket=%s://%s --prefix=%s", bucket, p.Scheme, name, strings.TrimSuffix(path, "/"))
	}
	return p, name, nil
}

// ProviderOfBuckets returns the kind of S3 store that the names of buckets and hosts imply; nil =
// none.
func ProviderOfBuckets(hosts, buckets []string) (*Provider, error) {
	for _, p := range Providers() {
		if p.OwnsBucket == nil {
			continue
		}
		owned := 0
		for _, host := range hosts {
			for _, bucket := range buckets {
				if p.OwnsBucket(host, bucket) {
					owned++
				}
			}
		}
		switch owned {
		case 0:
			continue
		case len(hosts) * len(buckets):
			return &p, nil
		}
		return nil, errors.New("a run has buckets of one kind of store, and only some of these are of " + p.Title)
	}
	return nil, nil
}

// A LackError names a function that the store does not have.
type LackError struct {
	What  string // a command or flag that needs it
	Needs Feature
	Title string // of the store
	Hint  string
}

func (e *LackError) Error() string {
	return fmt.Sprintf("%s needs %s, which %s lacks", e.What, e.Needs, e.Title)
}

// Check returns a [*LackError] if the provider lacks a function that the command or flag named what
// needs.
func (p *Provider) Check(what string, needs Feature) error {
	hint, lacks := p.Lacks[needs]
	if !lacks {
		return nil
	}
	return &LackError{What: what, Needs: needs, Title: p.Title, Hint: hint}
}

// TakesChecksum reports whether uploads may carry that checksum.
func (p *Provider) TakesChecksum(c store.Checksum) bool {
	return c == store.NoChecksum || p.Checksums == nil || slices.Contains(p.Checksums, c)
}
