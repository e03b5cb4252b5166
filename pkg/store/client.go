package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// Config says how to reach a store.
type Config struct {
	Hosts       []Address
	TLS         bool
	Insecure    bool                       // accept any certificate
	CAFile      string                     // PEM file of further certificate authorities
	CAPEM       []byte                     // its content, instead of the file
	CertPEM     []byte                     // the content of ClientCert, instead of that file
	KeyPEM      []byte                     // and of ClientKey
	Region      string                     // "" asks the store
	HostSelect  string                     // weighed or roundrobin
	Credentials *credentials.Credentials   `json:"-"`
	Others      []*credentials.Credentials `json:"-"` // take turns with Credentials, request by request
	AppVersion  string                     // warp's version, for the User-Agent
	Concurrency int                        // connections worth keeping open per host
	Engine      string                     // auto (or ""), lean or minio

	UnsignedPayload bool // let the signature of an upload not cover its payload
	Options
}

// An Address is a host as the user wrote it, and where to connect to if that
// is something else (--resolve-host).
type Address struct {
	Name string // host:port, goes into the request
	Dial string // ip:port; "" = Name
}

// A Host is one host of the store. It sends requests through its Engine, and
// bookkeeping over connections of its own, so that neither disturbs the other.
type Host struct {
	Engine
	Endpoint string // as it stands in logs: scheme://host:port
	desk     *minioEngine
	hangUp   func() // what Engine does at Close
	index    int
	turns    *turns // nil where there is one identity
}

// turns are the same host under each of several identities.
type turns struct {
	hosts []*Host
	next  atomic.Uint64
}

// A Client is the store: all its hosts and the choice between them.
type Client struct {
	hosts    []*Host
	selector *Selector
	region   string
	engine   string
	options  Options
	sse      encrypt.ServerSide // with SSE-C the key to read with; nil otherwise
	dialed   atomic.Int64
	hashed   atomic.Int64   // bytes of payload
	refused  []atomic.Int64 // by host
	answered atomic.Int32   // the host that bookkeeping heard from last
	heard    atomic.Bool    // there was one
	regions  regions
}

// libraryRetries makes minio-go never wait: it sleeps after a failed request
// even when it is not going to repeat it, and that sleep would be measured.
var libraryRetries sync.Once

// New returns a client for the hosts of cfg. It sends nothing.
func New(cfg Config) (*Client, error) {
	if len(cfg.Hosts) == 0 {
		return nil, errors.New("no host is given")
	}
	if err := cfg.check(cfg.TLS); err != nil {
		return nil, err
	}
	libraryRetries.Do(func() { minio.DefaultRetryUnit = 0 })
	cfg.UnsignedPayload = cfg.UnsignedPayload || cfg.TLS // which protects it as well
	selector, err := NewSelector(cfg.HostSelect, len(cfg.Hosts))
	if err != nil {
		return nil, err
	}
	c := &Client{selector: selector, region: cfg.Region, options: cfg.Options, refused: make([]atomic.Int64, len(cfg.Hosts))}
	c.regions.ask = c.askRegion
	if cfg.Encryption.Kind == SSEC {
		if c.sse, err = cfg.Encryption.serverSide(); err != nil {
			return nil, err
		}
	}
	if c.engine, err = chooseEngine(&cfg); err != nil {
		return nil, err
	}
	for i, a := range cfg.Hosts {
		h, err := c.newHost(&cfg, a)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", a.Name, err)
		}
		h.index = i
		if err := c.addIdentities(h, &cfg, a); err != nil {
			return nil, fmt.Errorf("host %s: %w", a.Name, err)
		}
		c.hosts = append(c.hosts, h)
	}
	return c, nil
}

// The engines that send a client's requests.
const (
	engineAuto  = "auto"
	engineLean  = "lean"
	engineMinio = "minio"
)

// chooseEngine takes the lean engine where it can talk to all hosts: half a
// store's requests through one engine and half through another would compare
// the engines.
func chooseEngine(cfg *Config) (string, error) {
	switch cfg.Engine {
	case engineMinio:
		return engineMinio, nil
	case engineAuto, engineLean, "":
	default:
		return "", fmt.Errorf("unknown engine %q: use %s, %s or %s", cfg.Engine, engineAuto, engineLean, engineMinio)
	}
	for _, a := range cfg.Hosts {
		why := leanCan(cfg, a)
		if why == "" && signsV2(cfg.Credentials) {
			why = "it does not sign by V2"
		}
		if why != "" && cfg.Engine == engineLean {
			return "", fmt.Errorf("the lean engine cannot talk to %s: %s", a.Name, why)
		}
		if why != "" {
			return engineMinio, nil
		}
	}
	return engineLean, nil
}

func signsV2(c *credentials.Credentials) bool {
	if c == nil {
		return false
	}
	value, err := c.GetWithContext(nil)
	return err == nil && value.SignerType.IsV2()
}

func (c *Client) newHost(cfg *Config, a Address) (*Host, error) {
	library, err := newMinioEngine(cfg, a, answerCheck{}, cfg.patience(), &c.dialed)
	if err != nil {
		return nil, err
	}
	library.hashed = &c.hashed
	var engine Engine = library
	hangUp := library.hangUp
	if c.engine == engineLean {
		lean, err := c.newLeanEngine(cfg, a, library)
		if err != nil {
			return nil, err
		}
		engine, hangUp = lean, lean.hangUp
	}
	desk, err := newMinioEngine(cfg.forDesk(), a, answerCheck{total: deskTimeout, desk: true}, deskTimeout, new(atomic.Int64))
	if err != nil {
		return nil, err
	}
	scheme, shown := "http://", a.Name
	if cfg.TLS {
		scheme = "https://"
	}
	if a.Dial != "" {
		shown = a.Dial
	}
	return &Host{Engine: engine, Endpoint: scheme + shown, desk: desk, hangUp: hangUp}, nil
}

// addIdentities gives the host an engine for each further identity.
func (c *Client) addIdentities(h *Host, cfg *Config, a Address) error {
	if len(cfg.Others) == 0 {
		return nil
	}
	h.turns = &turns{hosts: []*Host{h}}
	for _, identity := range cfg.Others {
		as := *cfg
		as.Credentials = identity
		other, err := c.newHost(&as, a)
		if err != nil {
			return err
		}
		other.index = h.index
		h.turns.hosts = append(h.turns.hosts, other)
	}
	return nil
}

func newMinioEngine(cfg *Config, a Address, check answerCheck, answer time.Duration, dialed *atomic.Int64) (*minioEngine, error) {
	transport, err := newTransport(cfg, a.Dial, answer, dialed)
	if err != nil {
		return nil, err
	}
	traced := tracer{transport, cfg.HTTP2}
	check.next = traced
	mc, err := minio.New(a.Name, &minio.Options{
		Creds:      cfg.Credentials,
		Secure:     cfg.TLS,
		Transport:  check,
		Region:     cfg.Region,
		MaxRetries: 1, // repeating is for the run to decide, and to count

		BucketLookup:    cfg.bucketLookup(),
		TrailingHeaders: cfg.Checksum != NoChecksum, // minio-go would send checksums of its own
	})
	if err != nil {
		return nil, err
	}
	mc.SetAppInfo("warp", cfg.AppVersion)
	sse, err := cfg.Encryption.serverSide()
	if err != nil {
		return nil, err
	}
	return &minioEngine{
		hangUp: transport.CloseIdleConnections,
		core:   minio.Core{Client: mc}, part: uint64(cfg.PartSize), unsigned: cfg.UnsignedPayload,
		opts: cfg.Options, sse: sse, checksum: cfg.Checksum.libraryType(),
		transport: traced, agent: "warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") form",
	}, nil
}

// Acquire picks the host for one request, and as whom to talk to it; Release
// must follow.
func (c *Client) Acquire() *Host {
	h := c.hosts[c.selector.Acquire()]
	if h.turns == nil {
		return h
	}
	return h.turns.hosts[(h.turns.next.Add(1)-1)%uint64(len(h.turns.hosts))]
}

// Release says that the request on h has finished, and how. A host that cannot be connected to is left alone for a while
// where there are others.
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

// Refused is how many requests found no connection to each host, by endpoint. Hosts without any are left out.
func (c *Client) Refused() map[string]int64 {
	all := make(map[string]int64)
	for i, h := range c.hosts {
		if n := c.refused[i].Load(); n > 0 {
			all[h.Endpoint] = n
		}
	}
	return all
}

// Close closes the connections that no request uses, and each other one when its request ends. Whoever measures next,
// in this process or another, finds the store without them.
func (c *Client) Close() {
	for _, h := range c.hosts {
		h.close()
	}
}

func (h *Host) close() {
	h.hangUp()
	h.desk.hangUp()
	if h.turns != nil {
		for _, other := range h.turns.hosts[1:] {
			other.close()
		}
	}
}

// Connections is how many connections were opened for the load so far.
func (c *Client) Connections() int64 { return c.dialed.Load() }

// HashedPayload is how many bytes of payload were hashed for signatures so far,
// those of small uploads not counted.
func (c *Client) HashedPayload() int64 { return c.hashed.Load() }

// Options are those that the client was made with.
func (c *Client) Options() *Options { return &c.options }

// Heard says whether bookkeeping has had an answer that was no error.
func (c *Client) Heard() bool { return c.heard.Load() }

// EngineName says what sends the requests.
func (c *Client) EngineName() string { return c.engine }

// Endpoints lists all hosts as they stand in logs.
func (c *Client) Endpoints() []string {
	var all []string
	for _, h := range c.hosts {
		all = append(all, h.Endpoint)
	}
	return all
}

// Bookkeeping is repeated where the store is busy, within these bounds.
const (
	deskAttempts = 8
	deskPatience = 30 * time.Second // no further attempt after that
)

// anyHost calls do with one host after the other until one can be connected
// to, and again after a moment where the store is only busy. It is for what is
// done once and on whatever host, and is never measured.
func (c *Client) anyHost(ctx context.Context, do func(*Host) error) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		err := c.tryHosts(ctx, attempt-1, do)
		var nobody *UnreachableError
		if err == nil || !Repeatable(err) || errors.As(err, &nobody) || attempt == deskAttempts || time.Since(began) > deskPatience {
			return err
		}
		select {
		case <-time.After(25 * time.Millisecond << attempt):
		case <-ctx.Done():
			return err
		}
	}
}

// tryHosts goes on to the next host for every error that another one may not
// have. It begins with the one that answered last, each further attempt with
// another one.
func (c *Client) tryHosts(ctx context.Context, first int, do func(*Host) error) error {
	var unreachable []error
	var busy error
	began := time.Now()
	first += int(c.answered.Load())
	for i := range c.hosts {
		if i > 0 && busy != nil && time.Since(began) > deskPatience {
			return busy
		}
		h := c.hosts[(first+i)%len(c.hosts)]
		err := asError(do(h), nil)
		if err != nil && ctx.Err() == context.Canceled {
			err = &Error{Code: CodeCanceled, Message: context.Cause(ctx).Error()} // net/http says nothing but the cause
		}
		switch {
		case err == nil:
			c.answered.Store(int32(h.index))
			c.heard.Store(true)
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

// An UnreachableError says that not one host of the store can be connected to.
type UnreachableError struct {
	Hosts []string
	Err   error
}

func (e *UnreachableError) Error() string {
	first, _, _ := strings.Cut(e.Err.Error(), "\n")
	switch {
	case CodeOf(e.Err) == CodeTLS:
		return "no TLS connection with " + first // somebody does answer
	case len(e.Hosts) == 1:
		return "nothing answers at " + first
	}
	return fmt.Sprintf("none of %d hosts answers; the first: %s", len(e.Hosts), first)
}

func (e *UnreachableError) Unwrap() error { return e.Err }
