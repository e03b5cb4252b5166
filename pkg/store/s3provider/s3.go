// Package s3provider describes the kinds of stores that speak S3, and opens them: it chooses between
// the lean engine and minio-go, and passes requests that lean does not support to minio-go.
package s3provider

import (
	"context"
	"fmt"

	"warp/pkg/store"
	"warp/pkg/store/minio"
	"warp/pkg/store/provider"
	"warp/pkg/store/s3"
)

// Name is the name of S3 as a provider.
const Name = "s3"

// S3 is S3 and every store that speaks its API.
func S3() provider.Provider {
	return provider.Provider{Name: Name, Title: "S3", Scheme: "s3", Open: Open,
		Lacks: map[provider.Feature]string{provider.BearerTokens: "use --access-key and --secret-key"}}
}

// Open returns the driver of the engine in cfg. Its engines are [Complete].
func Open(cfg *store.Config) (driver store.Driver, err error) {
	cfg.UnsignedPayload = cfg.UnsignedPayload || cfg.TLS // which also protects the payload
	name, err := choose(cfg)
	if err != nil {
		return driver, err
	}
	driver = store.Driver{
		Name: name, Contract: s3.Contract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return minio.New(cfg, a, n)
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return minio.NewAdmin(cfg, a) },
	}
	if name != Lean {
		return driver, nil
	}
	var client *store.Client
	regions := s3.NewRegions(func(ctx context.Context, bucket string) (string, error) { return client.Region(ctx, bucket) })
	driver.Ready = func(c *store.Client) { client = c }
	driver.Engine = func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
		return openLean(cfg, a, regions, n)
	}
	return driver, nil
}

// Names of engines.
const (
	Auto  = "auto"
	Lean  = "lean"
	Minio = "minio"
)

// choose returns the lean engine if it can talk to all hosts. Requests through two engines would
// compare the engines instead of the hosts.
func choose(cfg *store.Config) (string, error) {
	switch cfg.Engine {
	case Minio:
		return Minio, nil
	case Auto, Lean, "":
	default:
		return "", fmt.Errorf("unknown engine %q: use %s, %s or %s", cfg.Engine, Auto, Lean, Minio)
	}
	for _, a := range cfg.Hosts {
		why := s3.WhyNot(cfg, a)
		if why != "" && cfg.Engine == Lean {
			return "", fmt.Errorf("the lean engine cannot talk to %s: %s", a.Name, why)
		}
		if why != "" {
			return Minio, nil
		}
	}
	return Lean, nil
}

// openLean opens the lean engine, and minio-go for what lean does not support.
func openLean(cfg *store.Config, a store.Address, regions *s3.Regions, n *store.Counters) (Complete, error) {
	first, err := s3.New(cfg, a, regions, n)
	if err != nil {
		return nil, err
	}
	second, err := minio.New(cfg, a, n)
	if err != nil {
		return nil, err
	}
	return &withFallback{second, first}, nil
}
