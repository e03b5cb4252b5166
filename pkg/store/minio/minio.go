// Package minio sends requests through minio-go. It supports everything, and uses several times the
// CPU time of package s3.
package minio

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// New returns an engine for one host.
func New(cfg *store.Config, a store.Address, n *store.Counters) (*Engine, error) {
	return openEngine(cfg, a, answerCheck{}, cfg.StallTimeout(), nil, n)
}

// openAdmin opens an engine for bookkeeping. directory is as in openEngine.
func openAdmin(cfg *store.Config, a store.Address, directory *express) (*Engine, error) {
	check := answerCheck{total: store.AdminTimeout, admin: true}
	return openEngine(cfg.ForAdmin(), a, check, store.AdminTimeout, directory, new(store.Counters))
}

// libraryRetries stops minio-go from waiting. It sleeps after a failed request even if it is not
// going to repeat it, and that sleep would be measured.
var libraryRetries sync.Once

// openEngine opens an engine, for directory buckets if directory is not nil.
func openEngine(cfg *store.Config, a store.Address, check answerCheck, answer time.Duration, directory *express, n *store.Counters) (*Engine, error) {
	libraryRetries.Do(func() { minio.DefaultRetryUnit = 0 })
	transport, err := nethttp.NewTransport(cfg, a, answer, &n.Connections)
	if err != nil {
		return nil, err
	}
	traced := nethttp.Tracer{Next: transport, HTTP2: cfg.HTTP2, Check: checkPage}
	sent := &wire{
		next: traced, path: a.Path, redirects: store.NewRedirects(cfg, &a), creds: cfg.Credentials, checksum: s3.ChecksumType(cfg.Checksum),
		express: directory,
	}
	check.next, check.documents = sent, &n.Documents
	host := a.Name
	if directory != nil && s3.IsAWS(host) {
		host = placeholder
	}
	mc, err := minio.New(host, &minio.Options{
		Creds:      identity(cfg.Credentials),
		Secure:     cfg.TLS,
		Transport:  check,
		Region:     cfg.Region,
		MaxRetries: 1, // the run decides about retries, and counts them

		BucketLookup:    bucketLookup(cfg.Lookup),
		TrailingHeaders: cfg.Checksum != store.NoChecksum, // otherwise minio-go sends its own checksums
	})
	if err != nil {
		return nil, err
	}
	mc.SetAppInfo("warp", cfg.AppVersion)
	sse, err := serverSide(&cfg.Encryption)
	if err != nil {
		return nil, err
	}
	return &Engine{
		core: minio.Core{Client: mc}, part: uint64(cfg.PartSize), unsigned: cfg.UnsignedPayload, counters: n,
		opts: cfg.Options, sse: sse, checksum: s3.ChecksumType(cfg.Checksum),
		transport: sent, agent: "warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") form",
		closeIdle: transport.CloseIdleConnections, directories: directory != nil,
	}, nil
}

// identity has minio-go ask c for every request; nil = the requests are anonymous.
func identity(c store.Credentials) *credentials.Credentials {
	if c == nil {
		return nil
	}
	return credentials.New(provider{c})
}

// A provider makes Credentials available to minio-go. They renew themselves.
type provider struct{ store.Credentials }

func (p provider) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	ctx := context.Background()
	if cc != nil && cc.Context != nil {
		ctx = cc.Context
	}
	keys, err := p.Keys(ctx)
	v := credentials.Value{AccessKeyID: keys.AccessKey, SecretAccessKey: keys.SecretKey, SessionToken: keys.SessionToken, Expiration: keys.Expires}
	switch {
	case keys.Anonymous():
		v = credentials.Value{SignerType: credentials.SignatureAnonymous}
	case keys.Signature == s3.SignV2:
		v.SignerType = credentials.SignatureV2
	}
	return v, err
}

func (p provider) Retrieve() (credentials.Value, error) { return p.RetrieveWithCredContext(nil) }

func (provider) IsExpired() bool { return true }

// Close closes idle connections now and the others when their requests end.
func (e *Engine) Close() { e.closeIdle() }
