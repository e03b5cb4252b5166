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

// Settings are the options of requests that only AIStore knows. The zero value asks for nothing.
type Settings struct {
	Backend    string `json:"backend,omitempty"`    // where the buckets are: "" or ais is AIStore itself; aws, gcp, azure, oci and ht are behind it
	Namespace  string `json:"namespace,omitempty"`  // the namespace of the buckets, as in @uuid#name
	Properties []byte `json:"properties,omitempty"` // the properties of new buckets, as a JSON document; nil = the cluster's defaults
	Latest     bool   `json:"latest,omitempty"`     // downloads check for a later version behind the cluster
	Cached     bool   `json:"cached,omitempty"`     // listings contain only the objects that are in the cluster
	ETL        string `json:"etl,omitempty"`        // the transformation that downloads go through; "" = none
}

// forAdmin returns the settings for bookkeeping, which sees all objects as they are.
func (s Settings) forAdmin() Settings {
	s.Latest, s.Cached, s.ETL = false, false, ""
	return s
}

// Open returns the driver for the hosts of cfg. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	var settings Settings
	if err := cfg.DecodeSettings(&settings); err != nil {
		return store.Driver{}, err
	}
	api := &httpclient.API{Name: "ais", Keeps: "ais-"}
	if cfg.Bearer.Token != "" {
		api.Auth = tokens.Static(cfg.Bearer.Token)
	}
	api.Hosts = func(ctx context.Context) ([]string, error) { return nodes(ctx, cfg, settings, api) }
	return store.Driver{
		Name: "ais", Contract: Contract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			client, err := api.New(cfg, a, n)
			if err != nil {
				return nil, err
			}
			return newEngine(cfg, settings, client, a.Path), nil
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return newAdmin(cfg, settings, a, api) },
	}, nil
}

// Contract returns what AIStore documents. Its own API has no conditions and no uploads in parts.
func Contract() store.Contract {
	const lacks, silent = "the API has no conditions", "the documentation does not promise it"
	return store.Contract{Breaks: map[store.Promise]string{
		store.Creates: lacks, store.Updates: lacks, store.Deletions: lacks, store.Completions: lacks,
		store.ReadsAfterWrite: silent, store.ListsAfterWrite: silent, store.WholeReads: silent,
	}}
}

// An Engine sends requests to one proxy of the cluster.
type Engine struct {
	client *httpclient.Client
	path   string // the path below which the API is
	bucket string // the parameters with the bucket's backend and namespace
	opts   store.Options
	ais    Settings

	ignoreMissing bool // a missing object counts as deleted
}

// ownBackend is the backend of buckets in AIStore itself.
const ownBackend = "ais"

func newEngine(cfg *store.Config, settings Settings, client *httpclient.Client, path string) *Engine {
	e := &Engine{client: client, path: path, opts: cfg.Options, ais: settings}
	e.ais.Backend = cmp.Or(e.ais.Backend, ownBackend)
	e.bucket = "provider=" + url.QueryEscape(e.ais.Backend)
	if e.ais.Namespace != "" {
		e.bucket += "&namespace=" + url.QueryEscape(e.ais.Namespace)
	}
	return e
}

// Close closes idle connections now and the others when their requests end.
func (e *Engine) Close() { e.client.Close() }
