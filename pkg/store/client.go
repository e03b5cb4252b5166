package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"warp/internal/pause"
	"warp/pkg/store/hostselect"
)

// Config says how to reach a store.
type Config struct {
	Hosts       []Address
	TLS         bool
	Insecure    bool          // accept any certificate
	CAFile      string        // PEM file with additional certificate authorities
	CAPEM       []byte        // the content of CAFile, instead of the file
	CertPEM     []byte        // the content of ClientCert, instead of the file
	KeyPEM      []byte        // the content of ClientKey, instead of the file
	Region      string        // "" asks the store
	HostSelect  string        // weighed or roundrobin
	Credentials Credentials   `json:"-"` // nil = anonymous
	Others      []Credentials `json:"-"` // alternate with Credentials, request by request
	AppVersion  string        // warp's version, for the User-Agent
	Concurrency int           // connections worth keeping open per host
	Engine      string        // auto (or ""), lean or minio
	Provider    string        // the kind of store: "" is S3

	Bearer   Bearer          // the source of bearer tokens, for stores that accept them
	Settings json.RawMessage `json:",omitempty"` // of this kind of store only, in the form of its package

	UnsignedPayload bool     // do not sign the payload of uploads
	RedirectHosts   []string // hosts outside the store's domain to which it may redirect requests; see Redirects
	Options
}

// A Bearer says where requests get their tokens. The zero value uses none.
type Bearer struct {
	Token    string // a fixed token, used until it expires
	File     []byte // the content of a credentials file
	Metadata bool   // use the metadata server of the machine
}

// Given reports whether any source of tokens is set.
func (b *Bearer) Given() bool { return b.Token != "" || len(b.File) > 0 || b.Metadata }

// An Address is a host as the user wrote it, and the address to connect to if it differs
// (--resolve-host).
type Address struct {
	Name string // host:port, as sent in requests
	Dial string // ip:port; "" = Name
	Path string // the path below which the store is, such as /s3; "" = the root
}

// URL returns the URL that requests go to, with the name instead of the resolved address.
func (a *Address) URL(tls bool) string {
	if tls {
		return "https://" + a.Name + a.Path
	}
	return "http://" + a.Name + a.Path
}

// A Host is one host of the store. It sends requests through its Engine and bookkeeping through its
// Admin. The two have separate connections, so that neither disturbs the other.
type Host struct {
	Engine
	Endpoint string // as in logs: scheme://host:port, and the path if there is one
	admin    Admin
	index    int
	rotation *credentialRotation // nil with a single identity
}

// A credentialRotation holds the same host once for each identity.
type credentialRotation struct {
	hosts []*Host
	next  atomic.Uint64
}

// A Driver opens the connections of a kind of store. Opening sends nothing.
type Driver struct {
	Name     string // the name of the engine, as in Config.Engine
	Contract Contract
	Engine   func(cfg *Config, a Address, n *Counters) (Engine, error)
	Admin    func(cfg *Config, a Address) (Admin, error)
	Ready    func(*Client) // called with the client once it is open; may be nil
}

// Counters count over all hosts of a client.
type Counters struct {
	Connections   atomic.Int64 // opened so far
	Documents     Documents    // kept in memory
	HashedPayload atomic.Int64 // bytes hashed for signatures, except small uploads
}

// A Client is the store: all its hosts, and the choice between them.
type Client struct {
	hosts       []*Host
	selector    *hostselect.Selector
	engine      string
	contract    Contract
	options     Options
	counters    Counters
	refused     []atomic.Int64 // refused connections, by host
	answered    atomic.Int32   // the host that answered bookkeeping last
	hasAnswered atomic.Bool    // answered is set
	listings    func(ListNews) // see WatchListings
}

// New returns a client for the hosts of cfg. It opens them with driver and sends nothing.
func New(cfg Config, driver Driver) (*Client, error) {
	if len(cfg.Hosts) == 0 {
		return nil, errors.New("no host is given")
	}
	selector, err := hostselect.New(cfg.HostSelect, len(cfg.Hosts))
	if err != nil {
		return nil, err
	}
	c := &Client{selector: selector, engine: driver.Name, contract: driver.Contract, options: cfg.Options, refused: make([]atomic.Int64, len(cfg.Hosts))}
	for i, a := range cfg.Hosts {
		h, err := c.newHost(&cfg, a, i, &driver)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", a.Name, err)
		}
		c.hosts = append(c.hosts, h)
	}
	if driver.Ready != nil {
		driver.Ready(c)
	}
	return c, nil
}

// newHost opens a host once for each identity.
func (c *Client) newHost(cfg *Config, a Address, index int, driver *Driver) (*Host, error) {
	h, err := c.openHost(cfg, a, index, driver)
	if err != nil || len(cfg.Others) == 0 {
		return h, err
	}
	h.rotation = &credentialRotation{hosts: []*Host{h}}
	for _, identity := range cfg.Others {
		as := *cfg
		as.Credentials = identity
		other, err := c.openHost(&as, a, index, driver)
		if err != nil {
			return nil, err
		}
		h.rotation.hosts = append(h.rotation.hosts, other)
	}
	return h, nil
}

func (c *Client) openHost(cfg *Config, a Address, index int, driver *Driver) (*Host, error) {
	engine, err := driver.Engine(cfg, a, &c.counters)
	if err != nil {
		return nil, err
	}
	admin, err := driver.Admin(cfg, a)
	if err != nil {
		return nil, err
	}
	shown := Address{Name: cmp.Or(a.Dial, a.Name), Path: a.Path}
	return &Host{Engine: engine, Endpoint: shown.URL(cfg.TLS), admin: admin, index: index}, nil
}

// Acquire picks the host, and the identity, for one request. Release must follow.
func (c *Client) Acquire() *Host {
	h := c.hosts[c.selector.Acquire()]
	if h.rotation == nil {
		return h
	}
	return h.rotation.hosts[(h.rotation.next.Add(1)-1)%uint64(len(h.rotation.hosts))]
}

// Release ends the request on h, which returned err. A host that refuses connections is avoided for
// a while if there are others.
func (c *Client) Release(h *Host, err error) {
	if IsConnection(err) {
		c.refused[h.index].Add(1)
		c.selector.Refuse(h.index)
		return
	}
	c.selector.Release(h.index)
}

// Use calls do with the host for one request.
func (c *Client) Use(do func(*Host) error) error {
	h := c.Acquire()
	err := do(h)
	c.Release(h, err)
	return err
}

// Refused returns the number of requests that could not connect to each host, by endpoint. Hosts
// without any are left out.
func (c *Client) Refused() map[string]int64 {
	all := make(map[string]int64)
	for i, h := range c.hosts {
		if n := c.refused[i].Load(); n > 0 {
			all[h.Endpoint] = n
		}
	}
	return all
}

// Close closes idle connections now and the others when their requests end, so that the next
// measurement does not share the store with them.
func (c *Client) Close() {
	for _, h := range c.hosts {
		h.Close()
	}
}

// Close closes the connections of h, as [Client.Close] does.
func (h *Host) Close() {
	h.Engine.Close()
	h.admin.Close()
	if h.rotation != nil {
		for _, other := range h.rotation.hosts[1:] {
			other.Close()
		}
	}
}

// Connections returns how many connections the load has opened so far.
func (c *Client) Connections() int64 { return c.counters.Connections.Load() }

// HashedPayload returns how many bytes of payload were hashed for signatures so far, except for
// small uploads.
func (c *Client) HashedPayload() int64 { return c.counters.HashedPayload.Load() }

// Options returns the options that the client was made with.
func (c *Client) Options() *Options { return &c.options }

// HasAnswered reports whether bookkeeping has had an answer other than an error.
func (c *Client) HasAnswered() bool { return c.hasAnswered.Load() }

// EngineName returns the name of the engine that sends the requests.
func (c *Client) EngineName() string { return c.engine }

// Endpoints returns all hosts as they appear in logs.
func (c *Client) Endpoints() []string {
	var all []string
	for _, h := range c.hosts {
		all = append(all, h.Endpoint)
	}
	return all
}

// AdminTimeout limits one request of bookkeeping. These requests are small, and nobody should wait
// minutes to learn that the store hangs.
const AdminTimeout = 45 * time.Second

// Limits on repeating bookkeeping while the store is busy.
const (
	adminAttempts  = 8
	adminRetryTime = 30 * time.Second // no further attempt after this time
)

// anyHost calls do with one host after another until one accepts the connection, and again after a
// pause while the store is busy. It is for requests that any host can answer, and is never
// measured.
func (c *Client) anyHost(ctx context.Context, do func(*Host) error) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		err := c.tryHosts(ctx, attempt-1, do)
		var nobody *UnreachableError
		if err == nil || !Repeatable(err) || errors.As(err, &nobody) || attempt == adminAttempts || time.Since(began) > adminRetryTime {
			return err
		}
		if !pause.For(ctx, 25*time.Millisecond<<attempt) {
			return err
		}
	}
}

// tryHosts tries the next host after each error that another host might not have. The first attempt
// begins with the host that answered last, each further attempt with a different host.
func (c *Client) tryHosts(ctx context.Context, first int, do func(*Host) error) error {
	var unreachable []error
	var busy error
	began := time.Now()
	first += int(c.answered.Load())
	for i := range c.hosts {
		if i > 0 && busy != nil && time.Since(began) > adminRetryTime {
			return busy
		}
		h := c.hosts[(first+i)%len(c.hosts)]
		err := AsError(do(h), 0)
		if err != nil && ctx.Err() == context.Canceled {
			err = &Error{Code: CodeCanceled, Message: context.Cause(ctx).Error()} // net/http returns only the cause
		}
		switch {
		case err == nil:
			c.answered.Store(int32(h.index))
			c.hasAnswered.Store(true)
			return nil
		case ctx.Err() != nil:
			return err
		case IsConnection(err):
			unreachable = append(unreachable, fmt.Errorf("%s (%w)", h.Endpoint, err))
		case Repeatable(err):
			busy = err
		default:
			return err
		}
	}
	if busy != nil {
		return busy
	}
	return &UnreachableError{Hosts: c.Endpoints(), Err: errors.Join(unreachable...)}
}

// An UnreachableError means that no host of the store accepts connections.
type UnreachableError struct {
	Hosts []string
	Err   error
}

func (e *UnreachableError) Error() string {
	first, _, _ := strings.Cut(e.Err.Error(), "\n")
	switch {
	case CodeOf(e.Err) == CodeTLS:
		return "no TLS connection with " + first // something does answer
	case len(e.Hosts) == 1:
		return "nothing answers at " + first
	}
	return fmt.Sprintf("none of %d hosts answers; the first: %s", len(e.Hosts), first)
}

func (e *UnreachableError) Unwrap() error { return e.Err }
