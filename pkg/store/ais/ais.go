// Package ais is the engine of AIStore's own API. A request goes to any proxy of the cluster, which
// redirects requests about an object to the target that has it.
//
// An object's ETag is its checksum, of the type that its bucket uses. Its time is when it was last
// used, because AIStore keeps no other. Until somebody reads the object, this is when it was
// written.
package ais

import (
	"cmp"
	"context"
	"net/url"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/tokens"
)

// Open returns the driver for the hosts of cfg. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	api := &httpclient.API{Name: "ais", Keeps: "ais-"}
	if cfg.Bearer.Token != "" {
		api.Auth = tokens.Static(cfg.Bearer.Token)
	}
	api.Hosts = func(ctx context.Context) ([]string, error) { return nodes(ctx, cfg, api) }
	return store.Driver{
		Name: "ais",
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			client, err := api.New(cfg, a, n)
			if err != nil {
				return nil, err
			}
			return newEngine(cfg, client, a.Path), nil
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return newAdmin(cfg, a, api) },
	}, nil
}

// An Engine sends requests to one proxy of the cluster.
type Engine struct {
	client *httpclient.Client
	path   string // the path below which the API is
	bucket string // the parameters with the bucket's backend and namespace
	opts   store.Options
	ais    store.AIStore

	ignoreMissing bool // a missing object counts as deleted
}

// ownBackend is the backend of buckets in AIStore itself.
const ownBackend = "ais"

func newEngine(cfg *store.Config, client *httpclient.Client, path string) *Engine {
	e := &Engine{client: client, path: path, opts: cfg.Options, ais: cfg.AIStore}
	e.ais.Backend = cmp.Or(e.ais.Backend, ownBackend)
	e.bucket = "provider=" + url.QueryEscape(e.ais.Backend)
	if e.ais.Namespace != "" {
		e.bucket += "&namespace=" + url.QueryEscape(e.ais.Namespace)
	}
	return e
}

// Close closes idle connections now and the others when their requests end.
func (e *Engine) Close() { e.client.Close() }
