// Package azure contains the engines of Azure Storage, over its REST API: one for Blob Storage, and
// one for Data Lake Storage Gen2 through its dfs endpoint. Both sign requests with an account's
// key, or use a shared access signature or a token of Entra ID.
package azure

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/lean"
	"warp/pkg/store/rest"
)

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
		Name: "azure",
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			h, err := s.host(cfg, a, n)
			return newEngine(h), err
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) {
			h, err := s.adminHost(cfg, a)
			return &Admin{newEngine(h)}, err
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
		Name: "adls",
		Engine: func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
			h, err := s.host(cfg, a, n)
			return newLake(h), err
		},
		Admin: func(cfg *store.Config, a store.Address) (store.Admin, error) {
			h, err := s.adminHost(cfg, a)
			return &LakeAdmin{newLake(h)}, err
		},
	}, nil
}

func newStore(cfg *store.Config) (*Store, error) {
	for _, a := range cfg.Metadata {
		if !validMetadata(a.Key) {
			return nil, fmt.Errorf("--add-metadata: %q is no name of metadata in Azure: use letters, digits and underscores, and begin with a letter", a.Key)
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
	caller rest.Caller
	name   string // host:port
	tls    bool
	path   string // the path below which the store is, such as /devstoreaccount1
	opts   store.Options
}

// keptHeaders is the prefix of the headers of answers to keep besides the usual ones.
const keptHeaders = "x-ms-"

func (s *Store) api() *rest.API {
	return &rest.API{Name: "azure", Keeps: keptHeaders, Authorize: s.auth.appendHeaders}
}

func (s *Store) host(cfg *store.Config, a store.Address, n *store.Counters) (host, error) {
	c, err := s.api().New(cfg, a, n)
	return host{store: s, caller: c, name: a.Name, tls: cfg.TLS, path: a.Path, opts: cfg.Options}, err
}

func (s *Store) adminHost(cfg *store.Config, a store.Address) (host, error) {
	own := cfg.ForAdmin()
	own.Timeout = store.AdminTimeout
	c, err := s.api().NewHTTP(own, a, new(store.Counters), store.AdminTimeout)
	return host{store: s, caller: c, name: a.Name, tls: own.TLS, path: a.Path, opts: own.Options}, err
}

// Close closes idle connections now and the others when their requests end, and stops renewing
// tokens.
func (h *host) Close() {
	h.store.auth.stop()
	h.caller.Close()
}

// A work is a request being built. Its memory is reused.
type work struct {
	call   lean.Call
	target []byte
	query  bool // the target already has parameters
	onHead func(*rest.Reply)
}

var works = sync.Pool{New: func() any { return &work{target: make([]byte, 0, 512)} }}

// begin returns a request about a container, or a blob in it.
func (h *host) begin(method, container, key string) *work {
	w := works.Get().(*work)
	headers := w.call.Headers[:0]
	w.call = lean.Call{Method: method, Headers: headers}
	w.target = append(append(append(w.target[:0], h.path...), '/'), container...)
	w.query = false
	if key != "" {
		w.target = lean.AppendPath(append(w.target, '/'), key)
	}
	return w
}

func (w *work) end() {
	clear(w.call.Headers)
	w.call, w.onHead = lean.Call{Headers: w.call.Headers[:0]}, nil
	works.Put(w)
}

// param appends a parameter, after a question mark if it is the first.
func (w *work) param(name, value string) {
	separator := byte('?')
	if w.query {
		separator = '&'
	}
	w.query = true
	w.target = append(append(append(w.target, separator), name...), '=')
	w.target = lean.AppendEscaped(w.target, value)
}

func (w *work) header(name, value string) {
	w.call.Headers = append(w.call.Headers, store.Header{Name: name, Value: value})
}

// payload sets the request's body to an object, or to a part of one.
func (w *work) payload(body store.Body, size int64) {
	w.call.Payload, w.call.Body, w.call.Size = true, body, size
}

// send sends a request. Any answer but a success is an error.
func (h *host) send(ctx context.Context, w *work, tr *store.Trace) (rest.Reply, error) {
	r, err := h.exchange(ctx, w, tr)
	if err != nil {
		return r, err
	}
	if r.Status/100 != 2 {
		err := refusal(&r)
		r.Release()
		return r, err
	}
	return r, nil
}

// sendAndRelease is send for a request whose answer is not needed.
func (h *host) sendAndRelease(ctx context.Context, w *work, tr *store.Trace) error {
	r, err := h.send(ctx, w, tr)
	if err == nil {
		tr.Complete()
		r.Release()
	}
	return err
}

// exchange sends a request and receives the answer, whatever its status.
func (h *host) exchange(ctx context.Context, w *work, tr *store.Trace) (rest.Reply, error) {
	if err := h.store.auth.ready(ctx); err != nil {
		return rest.Reply{}, err
	}
	if sas := h.store.auth.sas; sas != "" {
		separator := byte('?')
		if w.query {
			separator = '&'
		}
		w.target = append(append(w.target, separator), sas...)
	}
	w.call.Target = w.target
	r, err := h.caller.Do(ctx, &w.call, w.onHead, tr)
	if err == nil && r.Status == http.StatusUnauthorized {
		h.store.auth.refused()
	}
	return r, err
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
	return store.Errorf("RequestFailed", 0, "%.60q is no name of a blob", key)
}

// defaultBlock is the default size of blocks, and the size up to which an upload is one request.
const (
	defaultBlock = 16 << 20
	maxSingle    = 256 << 20
)

func (h *host) block() int64 { return cmp.Or(h.opts.PartSize, defaultBlock) }

// single returns the size up to which an upload is one request.
func (h *host) single() int64 { return cmp.Or(h.opts.PartSize, maxSingle) }
