// Package engines opens stores. It has the table of all kinds.
package engines

import (
	"warp/pkg/store"
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
	driver, err := p.Open(&cfg)
	if err != nil {
		return nil, err
	}
	return store.New(cfg, driver)
}
