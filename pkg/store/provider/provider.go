// Package provider describes kinds of stores: their names, how to recognize their hosts, their
// credentials, what they lack, and how to open them. Each store's package has the description of its
// own; the table of all is in package engines.
package provider

import (
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
	Identify func(id *Identity, cfg *store.Config) (source string, secrets []string, err error)
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
	// Open returns the driver of the hosts in cfg. It may complete cfg, and sends nothing.
	Open func(cfg *store.Config) (store.Driver, error)
}

// LettersOf returns a check of names that consist of lower-case letters, digits and the given
// others.
func LettersOf(others, title string) func(name string) error {
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

// HostIn returns a HostFromEnv function for one variable, which contains a host or a URL.
func HostIn(variable string) func(*Identity) (host, from string, err error) {
	return func(id *Identity) (host, from string, err error) {
		if host = id.Getenv(variable); host != "" && !strings.Contains(host, "://") {
			host = "http://" + host
		}
		return host, variable, nil
	}
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
