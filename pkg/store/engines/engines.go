// Package engines opens stores: it knows all engines, and chooses the one for a
// run.
package engines

import (
	"context"
	"fmt"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/minio"
	"warp/pkg/store/s3"
)

// New returns a client for the hosts of cfg, with the engine that it asks for. It sends nothing.
func New(cfg store.Config) (*store.Client, error) {
	if err := s3.CheckOptions(&cfg.Options, cfg.TLS); err != nil {
		return nil, err
	}
	cfg.UnsignedPayload = cfg.UnsignedPayload || cfg.TLS // which protects it as well
	name, err := choose(&cfg)
	if err != nil {
		return nil, err
	}
	var client *store.Client
	regions := s3.NewRegions(func(ctx context.Context, bucket string) (string, error) { return client.Region(ctx, bucket) })
	driver := store.Driver{Name: name, Engine: openMinio, Admin: openAdmin}
	if name == engineLean {
		driver.Engine = func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return openLean(cfg, a, regions, n)
		}
	}
	client, err = store.New(cfg, driver)
	return client, err
}

// The engines that send a client's requests.
const (
	engineAuto  = "auto"
	engineLean  = "lean"
	engineMinio = "minio"
)

// choose takes the lean engine where it can talk to all hosts: half a store's
// requests through one engine and half through another would compare the
// engines.
func choose(cfg *store.Config) (string, error) {
	switch cfg.Engine {
	case engineMinio:
		return engineMinio, nil
	case engineAuto, engineLean, "":
	default:
		return "", fmt.Errorf("unknown engine %q: use %s, %s or %s", cfg.Engine, engineAuto, engineLean, engineMinio)
	}
	for _, a := range cfg.Hosts {
		why := lean.WhyNot(cfg, a)
		if why != "" && cfg.Engine == engineLean {
			return "", fmt.Errorf("the lean engine cannot talk to %s: %s", a.Name, why)
		}
		if why != "" {
			return engineMinio, nil
		}
	}
	return engineLean, nil
}

func openMinio(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
	return minio.New(cfg, a, n)
}

func openAdmin(cfg *store.Config, a store.Address) (store.Admin, error) {
	return minio.NewAdmin(cfg, a)
}

// openLean opens the lean engine, with minio-go for what it does not support.
func openLean(cfg *store.Config, a store.Address, regions *s3.Regions, n *store.Counters) (store.Engine, error) {
	first, err := lean.New(cfg, a, regions, n)
	if err != nil {
		return nil, err
	}
	second, err := minio.New(cfg, a, n)
	if err != nil {
		return nil, err
	}
	return &withFallback{first, second}, nil
}
