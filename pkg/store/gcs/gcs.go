// Package gcs is the engine of Google Cloud Storage. It uses the JSON API over warp's own HTTP
// client, with bearer tokens that are renewed in the background.
//
// The ETag of an object is its MD5, as in the XML API, or its CRC32C if it was composed and has no
// MD5. A version is a generation.
package gcs

import (
	"cmp"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/tokens"
)

// A Store contains the state that the hosts of a client share.
type Store struct {
	tokens *tokens.Source

	uploads   sync.Map // by ID: the store.Put that started each
	versioned sync.Map // by bucket: whether it makes versions now; only buckets that have any
}

// Settings are the settings that only Google Cloud Storage has.
type Settings struct {
	Project string `json:"project,omitempty"` // in which buckets are created
}

// Open returns the driver for the hosts of cfg. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	t, err := newTokens(cfg)
	if err != nil {
		return store.Driver{}, err
	}
	s := &Store{tokens: t}
	return store.Driver{
		Name: "gcs", Contract: Contract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			return s.engine(cfg, a, n)
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) { return s.admin(cfg, a) },
	}, nil
}

// An Engine sends requests to one host.
type Engine struct {
	store     *Store
	client    *httpclient.Client
	path      string // the path below which the store is
	opts      store.Options
	chunk     int64 // larger uploads are resumable, in chunks of this size
	described bool  // uploads have metadata, and so two parts

	ignoreMissing bool // a missing object counts as deleted
}

// keptHeaders is the prefix of the headers of answers to keep besides the usual ones.
const keptHeaders = "x-goog-"

func (s *Store) engine(cfg *store.Config, a store.Address, n *store.Counters) (*Engine, error) {
	c, err := s.api().New(cfg, a, n)
	if err != nil {
		return nil, err
	}
	return s.newEngine(cfg, c, a.Path), nil
}

func (s *Store) api() *httpclient.API {
	return &httpclient.API{Name: "gcs", Keeps: keptHeaders, Auth: s.tokens}
}

func (s *Store) newEngine(cfg *store.Config, c *httpclient.Client, path string) *Engine {
	e := &Engine{store: s, client: c, path: path, opts: cfg.Options, chunk: cmp.Or(cfg.PartSize, defaultChunk) / chunkUnit * chunkUnit}
	e.described = len(cfg.Metadata) > 0 || cfg.StorageClass != "" || cfg.MD5 || cfg.Checksum != store.NoChecksum
	return e
}

// Larger uploads are resumable, in chunks of this size by default. All chunks but the last are
// multiples of the unit.
const (
	defaultChunk = 16 << 20
	chunkUnit    = 256 << 10
)

// Close closes idle connections now and the others when their requests end, and stops renewing
// tokens.
func (e *Engine) Close() {
	e.store.tokens.Stop()
	e.client.Close()
}
