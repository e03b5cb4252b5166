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
	"warp/pkg/store/lean"
	"warp/pkg/store/rest"
)

// Open returns the driver for the hosts of cfg. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	api := &rest.API{Name: "ais", Keeps: "ais-", Authorize: authorize(cfg.Bearer.Token)}
	api.Hosts = func(ctx context.Context) ([]string, error) { return nodes(ctx, cfg, api) }
	return store.Driver{
		Name: "ais",
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			caller, err := api.New(cfg, a, n)
			if err != nil {
				return nil, err
			}
			return newEngine(cfg, caller, a.Path), nil
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return newAdmin(cfg, a, api) },
	}, nil
}

// authorize returns a function that appends the header with a token to a request.
func authorize(token string) func([]byte, *lean.Call) []byte {
	line := ""
	if token != "" {
		line = "Authorization: Bearer " + token + "\r\n"
	}
	return func(head []byte, _ *lean.Call) []byte { return append(head, line...) }
}

// An Engine sends requests to one proxy of the cluster.
type Engine struct {
	store.Unsupported // for parts, copies, tags, retentions and the extensions of MinIO

	caller rest.Caller
	path   string // the path below which the API is
	bucket string // the parameters with the bucket's backend and namespace, with the question mark
	opts   store.Options
	ais    store.AIStore
}

// ownBackend is the backend of buckets in AIStore itself.
const ownBackend = "ais"

func newEngine(cfg *store.Config, caller rest.Caller, path string) *Engine {
	e := &Engine{caller: caller, path: path, opts: cfg.Options, ais: cfg.AIStore}
	e.ais.Backend = cmp.Or(e.ais.Backend, ownBackend)
	e.bucket = "?provider=" + url.QueryEscape(e.ais.Backend)
	if e.ais.Namespace != "" {
		e.bucket += "&namespace=" + url.QueryEscape(e.ais.Namespace)
	}
	return e
}

// Close closes idle connections now and the others when their requests end.
func (e *Engine) Close() { e.caller.Close() }
