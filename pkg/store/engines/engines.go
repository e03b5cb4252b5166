// Package engines opens stores. It knows all engines and chooses one for a run.
package engines

import (
	"context"
	"fmt"

	"warp/pkg/store"
	"warp/pkg/store/minio"
	"warp/pkg/store/s3"
)

// New returns a client for the hosts of cfg, with the engine in cfg. It sends nothing.
func New(cfg store.Config) (*store.Client, error) {
	p, err := FindProvider(cfg.Provider)
	if err != nil {
		return nil, err
	}
	if err := s3.CheckOptions(&cfg.Options, cfg.TLS); err != nil {
		return nil, err
	}
	o, err := p.open(&cfg)
	if err != nil {
		return nil, err
	}
	client, err := store.New(cfg, o.driver)
	if err == nil && o.ready != nil {
		o.ready(client)
	}
	return client, err
}

func s3Provider() Provider {
	return Provider{Name: S3, Title: "S3", Scheme: "s3", open: openS3,
		Lacks: map[Feature]string{BearerTokens: "use --access-key and --secret-key"}}
}

// openS3 opens the engine in cfg.
func openS3(cfg *store.Config) (o opened, err error) {
	cfg.UnsignedPayload = cfg.UnsignedPayload || cfg.TLS // which also protects the payload
	name, err := choose(cfg)
	if err != nil {
		return o, err
	}
	o.driver = store.Driver{
		Name: name, Contract: s3.Contract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return minio.New(cfg, a, n)
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return minio.NewAdmin(cfg, a) },
	}
	if name != engineLean {
		return o, nil
	}
	var client *store.Client
	regions := s3.NewRegions(func(ctx context.Context, bucket string) (string, error) { return client.Region(ctx, bucket) })
	o.ready = func(c *store.Client) { client = c }
	o.driver.Engine = func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
		return openLean(cfg, a, regions, n)
	}
	return o, nil
}

// Names of engines.
const (
	engineAuto  = "auto"
	engineLean  = "lean"
	engineMinio = "minio"
)

// choose returns the lean engine if it can talk to all hosts. Requests through two engines would
// compare the engines instead of the hosts.
func choose(cfg *store.Config) (string, error) {
	switch cfg.Engine {
	case engineMinio:
		return engineMinio, nil
	case engineAuto, engineLean, "":
	default:
		return "", fmt.Errorf("unknown engine %q: use %s, %s or %s", cfg.Engine, engineAuto, engineLean, engineMinio)
	}
	for _, a := range cfg.Hosts {
		why := s3.WhyNot(cfg, a)
		if why != "" && cfg.Engine == engineLean {
			return "", fmt.Errorf("the lean engine cannot talk to %s: %s", a.Name, why)
		}
		if why != "" {
			return engineMinio, nil
		}
	}
	return engineLean, nil
}

// openLean opens the lean engine, and minio-go for what lean does not support.
func openLean(cfg *store.Config, a store.Address, regions *s3.Regions, n *store.Counters) (complete, error) {
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
