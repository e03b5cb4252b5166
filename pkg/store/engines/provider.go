package engines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/store"
)

// A Provider is a kind of store: how it is named and recognised, what it lacks, and what opens it.
type Provider struct {
	Name   string // of --provider and [store.Config]
	Title  string // in messages
	Scheme string // of its buckets, as in gs://NAME
	Host   string // where it is, if the host is not given; "" = the host must be given
	// Serves reports whether a host, with or without port, is this provider's by its name; nil = no name says so.
	Serves func(host string) bool
	TLS    bool // hosts that are its own by their names talk TLS unless somebody says otherwise, and keys of S3 are not given
	// AccountPath is what follows the address of an emulator of it on this machine; "" = nothing.
	AccountPath string
	// OwnKeys says that --access-key and --secret-key are keys of its own, and not of an interface that speaks S3.
	OwnKeys bool
	// OwnsBucket reports whether a bucket of S3 is this provider's by its name and that of its host; nil = no names say so.
	OwnsBucket func(host, bucket string) bool
	// Locate returns where buckets are, if the hosts that were given only say in which cloud, and their region; nil = at the hosts.
	Locate func(hosts, buckets []string, region string) (at []string, in string, err error)
	// Surroundings returns the host that the variables of the provider's own tools name, and which variable or flag it is
	// from; nil = there are none.
	Surroundings func(id *Identity) (host, from string, err error)
	// Identify completes cfg with the credentials that id asks for, and returns where they come from and what is
	// secret about them; nil = the credentials are those of S3.
	Identify func(ctx context.Context, id Identity, cfg *store.Config) (source string, secrets []string, err error)
	// Accepts names the flags with credentials for Identify, as an alternative that somebody can choose.
	Accepts string
	// Portable refuses credentials of cfg that are of this machine alone; nil = there are no such.
	Portable func(cfg *store.Config) error
	// Lacks is what the store does not do, each with a hint, which may be empty.
	Lacks map[Feature]string
	// Checksums are those that it takes; nil = all.
	Checksums []store.Checksum

	open func(cfg *store.Config) (opened, error)
}

// An Identity is what somebody has said about who sends the requests.
type Identity struct {
	Access, Secret string // --access-key, --secret-key
	Token          string // --access-token
	File           string // --credentials-file
	Metadata       bool   // the machine's metadata server is asked (--signature=IAM)
	Home           string
	Getenv         func(string) string
}

// hostIn returns Surroundings for one variable, which has a host or the URL of one.
func hostIn(variable string) func(*Identity) (host, from string, err error) {
	return func(id *Identity) (host, from string, err error) {
		if host = id.Getenv(variable); host != "" && !strings.Contains(host, "://") {
			host = "http://" + host
		}
		return host, variable, nil
	}
}

// An opened provider is what it takes to make a client.
type opened struct {
	driver store.Driver
	ready  func(*store.Client) // is given the client; may be nil
}

// S3 is the name of the provider that a store is of unless something says otherwise.
const S3 = "s3"

// Providers lists the kinds of stores. A new one is a package and a row here.
func Providers() []Provider {
	return []Provider{s3Provider(), expressProvider(), gcsProvider(), aisProvider(), azureProvider(), lakeProvider()}
}

// ProviderNames are the values of --provider.
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

// CheckPortable refuses a configuration whose credentials depend on this machine.
func CheckPortable(cfg *store.Config) error {
	p, err := FindProvider(cfg.Provider)
	if err != nil || p.Portable == nil {
		return err
	}
	return p.Portable(cfg)
}

// ProviderOfHost returns the provider that the name of a host says; nil = it says none.
func ProviderOfHost(host string) *Provider {
	for _, p := range Providers() {
		if p.Serves != nil && p.Serves(host) {
			return &p
		}
	}
	return nil
}

// ProviderOfBucket separates the scheme of a bucket from its name. The provider is nil where there is no scheme.
func ProviderOfBucket(bucket string) (p *Provider, name string, err error) {
	scheme, name, ok := strings.Cut(bucket, "://")
	if scheme == "abfss" { // abfs over TLS, which is what is used anyway
		scheme = "abfs"
	}
	if !ok {
		return nil, bucket, nil
	}
	name, path, _ := strings.Cut(name, "/")
	var schemes []string
	for _, known := range Providers() {
		if known.Scheme == "" {
			continue
		}
		if known.Scheme == strings.ToLower(scheme) {
			p = &known
		}
		schemes = append(schemes, known.Scheme+"://")
	}
	switch {
	case scheme == "http" || scheme == "https":
		return nil, "", fmt.Errorf("%q is a URL of a host, and not the name of a bucket: give it to --host", bucket)
	case p == nil:
		return nil, "", fmt.Errorf("%q has a scheme that warp does not know: buckets are NAME, or %sNAME", bucket, strings.Join(schemes, "NAME, "))
	case p.Scheme == "abfs" && strings.Contains(name, "@"):
		container, host, _ := strings.Cut(name, "@")
		return nil, "", fmt.Errorf("the container has its host in it: write --bucket=%s://%s --host=%s", scheme, container, host)
	case path != "":
		return nil, "", fmt.Errorf("%q is more than a bucket: write --bucket=%s://%s --prefix=%s", bucket, scheme, name, strings.TrimSuffix(path, "/"))
	}
	return p, name, nil
}

// ProviderOfBuckets returns the kind of S3 that the names of buckets and hosts say; nil = they say none.
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

// A LackError says what a store does not do.
type LackError struct {
	What  string // needs it: a command or a flag
	Needs Feature
	Title string // of the store
	Hint  string
}

func (e *LackError) Error() string {
	return fmt.Sprintf("%s needs %s, which %s lacks", e.What, e.Needs, e.Title)
}

// Check returns a [*LackError] if the provider lacks what the command or flag named what needs.
func (p *Provider) Check(what string, needs Feature) error {
	hint, lacks := p.Lacks[needs]
	if !lacks {
		return nil
	}
	return &LackError{What: what, Needs: needs, Title: p.Title, Hint: hint}
}

// TakesChecksum reports whether uploads may carry such a checksum.
func (p *Provider) TakesChecksum(c store.Checksum) bool {
	return c == store.NoChecksum || p.Checksums == nil || slices.Contains(p.Checksums, c)
}
