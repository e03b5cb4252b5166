// Package azure contains the engines of Azure Storage, over its REST API: one for Blob Storage, and
// one for Data Lake Storage Gen2 through its dfs endpoint. Both sign requests with an account's
// key, or use a shared access signature or a token of Entra ID.
package azure

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Settings are the settings that only Azure Storage has.
type Settings struct {
	SAS string `json:"sas,omitempty"` // the parameters of a shared access signature, which go into URLs
}

// A Store contains the state that the hosts of a client share.
type Store struct {
	auth *authorizer

	uploads   sync.Map // by ID: the store.Put that started each
	versioned sync.Map // by container: whether an upload returned a version
}

// Open returns the driver of Blob Storage. It sends nothing.
func Open(cfg *store.Config) (store.Driver, error) {
	s, err := newStore(cfg)
	if err != nil {
		return store.Driver{}, err
	}
	return store.Driver{
		Name: "azure", Contract: Contract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			h, err := s.host(cfg, a, n)
			return &Engine{h}, err
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) {
			h, err := s.adminHost(cfg, a)
			return &Admin{&Engine{h}}, err
		},
	}, nil
}

// OpenLake returns the driver of Data Lake Storage Gen2. It sends nothing.
func OpenLake(cfg *store.Config) (store.Driver, error) {
	s, err := newStore(cfg)
	if err != nil {
		return store.Driver{}, err
	}
	return store.Driver{
		Name: "adls", Contract: LakeContract(),
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			h, err := s.host(cfg, a, n)
			return &Lake{h}, err
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) {
			h, err := s.adminHost(cfg, a)
			return &LakeAdmin{&Lake{h}}, err
		},
	}, nil
}

func newStore(cfg *store.Config) (*Store, error) {
	for _, a := range cfg.Metadata {
		if !validMetadata(a.Key) {
			return nil, fmt.Errorf("--add-metadata: %q is not a valid metadata name in Azure: use letters, digits and underscores, and begin with a letter", a.Key)
		}
	}
	auth, err := newAuthorizer(cfg)
	if err != nil {
		return nil, err
	}
	return &Store{auth: auth}, nil
}

// validMetadata reports whether the store accepts a name of metadata, which has to be a C#
// identifier.
func validMetadata(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// A host is the destination of requests.
type host struct {
	store  *Store
	client *httpclient.Client
	name   string // host:port
	tls    bool
	path   string // the path below which the store is, such as /devstoreaccount1
	opts   store.Options

	ignoreMissing bool // a missing object counts as deleted
}

// keptHeaders is the prefix of the headers of answers to keep besides the usual ones.
const keptHeaders = "x-ms-"

func (s *Store) api() *httpclient.API {
	return &httpclient.API{Name: "azure", Keeps: keptHeaders, Auth: s.auth}
}

func (s *Store) host(cfg *store.Config, a store.Address, n *store.Counters) (host, error) {
	c, err := s.api().New(cfg, a, n)
	return host{store: s, client: c, name: a.Name, tls: cfg.TLS, path: a.Path, opts: cfg.Options}, err
}

func (s *Store) adminHost(cfg *store.Config, a store.Address) (host, error) {
	c, own, err := s.api().NewAdmin(cfg, a, store.AdminTimeout)
	return host{store: s, client: c, name: a.Name, tls: own.TLS, path: a.Path, opts: own.Options, ignoreMissing: true}, err
}

// Close closes idle connections now and the others when their requests end, and stops renewing
// tokens.
func (h *host) Close() {
	h.store.auth.Stop()
	h.client.Close()
}

// A request is a request of the REST API.
type request struct{ *httpclient.Request }

// begin returns a request about a container, or a blob in it. End has to follow.
func (h *host) begin(method, container, key string) request {
	q := request{httpclient.NewRequest(method, h.path)}
	q.Raw("/")
	q.Raw(container)
	if key != "" {
		q.Path(key)
	}
	return q
}

// version makes the request one about a version; "" = the current one.
func (q request) version(id string) {
	if id != "" {
		q.Param("versionid", id)
	}
}

// xml makes an XML document the body of the request.
func (q request) xml(text []byte) { q.Document("application/xml", text) }

// send sends a request. Any answer but a success is an error.
func (h *host) send(ctx context.Context, q request, tr *store.Trace) (*httpclient.Reply, error) {
	h.store.auth.sign(q)
	r, err := h.client.Do(ctx, q.Request, tr)
	if err == nil && r.Status/100 != 2 {
		err = refusal(r)
	}
	return r, err
}

// do is send for a request whose answer is not needed.
func (h *host) do(ctx context.Context, q request, tr *store.Trace) error {
	_, err := h.send(ctx, q, tr)
	return err
}

// validKey reports whether the store accepts a name unchanged.
func validKey(key string) bool {
	if key == "" || len(key) > 1024 || key[0] == '/' {
		return false
	}
	for at := 0; at <= len(key); {
		end := at
		for end < len(key) && key[end] != '/' {
			end++
		}
		if segment := key[at:end]; segment == "." || segment == ".." {
			return false
		}
		at = end + 1
	}
	return true
}

func badName(key string) error {
	return store.Errorf("RequestFailed", 0, "%.60q is not a valid blob name", key)
}

// defaultBlock is the default size of blocks, and the size up to which an upload is one request.
const (
	defaultBlock = 16 << 20
	maxSingle    = 256 << 20
)

func (h *host) block() int64 { return cmp.Or(h.opts.PartSize, defaultBlock) }

// single returns the size up to which an upload is one request.
func (h *host) single() int64 { return cmp.Or(h.opts.PartSize, maxSingle) }
