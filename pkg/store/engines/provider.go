package engines

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/ais"
	"warp/pkg/store/azure"
	"warp/pkg/store/gcs"
	"warp/pkg/store/provider"
	"warp/pkg/store/s3provider"
)

// S3 is the name of the default provider.
const S3 = s3provider.Name

// Providers lists the kinds of stores. A new one is a package and a row here.
func Providers() []provider.Provider {
	return []provider.Provider{
		s3provider.S3(),
		s3provider.Express(),
		gcs.Provider(),
		ais.Provider(),
		azure.Provider(),
		azure.LakeProvider(),
	}
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
func FindProvider(name string) (*provider.Provider, error) {
	if name == "" {
		name = S3
	}
	all := Providers()
	if i := slices.IndexFunc(all, func(p provider.Provider) bool { return p.Name == name }); i >= 0 {
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
func ProviderOfHost(host string) *provider.Provider {
	for _, p := range Providers() {
		if p.Serves != nil && p.Serves(host) {
			return &p
		}
	}
	return nil
}

// ProviderOfBucket separates the scheme of a bucket from its name. The provider is nil without a
// scheme.
func ProviderOfBucket(bucket string) (p *provider.Provider, name string, err error) {
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
		return nil, "", fmt.Errorf("%q is the URL of a host, not the name of a bucket: give it to --host", bucket)
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
func ProviderOfBuckets(hosts, buckets []string) (*provider.Provider, error) {
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
		return nil, errors.New("all buckets of a run must be in one kind of store, but only some of these are in " + p.Title)
	}
	return nil, nil
}
