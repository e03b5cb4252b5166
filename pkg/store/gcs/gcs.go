// Package gcs is the engine of Google Cloud Storage. It speaks the JSON API over
// warp's own HTTP, with bearer tokens that are renewed in the background.
//
// An object has an MD5 unless it was composed of others, which is its ETag here
// as it is in the XML API; a composed one has its CRC32C in its place. A version
// is a generation.
package gcs

import (
	"cmp"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/rest"
)

// A Store is what the hosts of a client share.
type Store struct {
	tokens *rest.Tokens

	uploads   sync.Map // by ID: the store.Put that each began with
	versioned sync.Map // by name of bucket: whether it makes versions now, of those that have any
}

// Open returns the driver for the hosts of cfg. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	t, err := newTokens(cfg)
	if err != nil {
		return store.Driver{}, err
	}
	s := &Store{tokens: t}
	return store.Driver{
		Name: "gcs",
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return s.engine(cfg, a, n)
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return s.admin(cfg, a) },
	}, nil
}

// An Engine sends requests to one host.
type Engine struct {
	store.Unsupported // tags, retentions and the extensions of MinIO

	store     *Store
	caller    rest.Caller
	path      string // of the host, below which the store lies
	opts      store.Options
	chunk     int64 // larger uploads are resumable, in chunks of this size
	described bool  // uploads carry metadata, so that they have two parts
}

// keptHeaders is how the headers of answers begin that matter here, beside the usual ones.
const keptHeaders = "x-goog-"

func (s *Store) engine(cfg *store.Config, a store.Address, n *store.Counters) (*Engine, error) {
	c, err := s.api().New(cfg, a, n)
	if err != nil {
		return nil, err
	}
	return s.newEngine(cfg, c, a.Path), nil
}

func (s *Store) api() *rest.API {
	return &rest.API{Name: "gcs", Keeps: keptHeaders,
		Authorize: func(head []byte, _ *lean.Call) []byte { return append(head, s.tokens.Header()...) }}
}

func (s *Store) newEngine(cfg *store.Config, c rest.Caller, path string) *Engine {
	e := &Engine{store: s, caller: c, path: path, opts: cfg.Options, chunk: cmp.Or(cfg.PartSize, defaultChunk) / chunkUnit * chunkUnit}
	e.described = len(cfg.Metadata) > 0 || cfg.StorageClass != "" || cfg.MD5 || cfg.Checksum != store.NoChecksum
	return e
}

// Uploads of more are resumable, in chunks of this size unless somebody says otherwise. All but the last are multiples of the unit.
const (
	defaultChunk = 16 << 20
	chunkUnit    = 256 << 10
)

// Close closes the connections that no request uses, and each other one when its request ends. No token is renewed any
// more.
func (e *Engine) Close() {
	e.store.tokens.Stop()
	e.caller.Close()
}
