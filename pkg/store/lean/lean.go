// Package lean is an HTTP/1.1 client for the requests that make up a benchmark. It costs little
// more than its system calls. Unusual requests are unsupported; package engines sends those
// through minio-go.
package lean

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"warp/pkg/store"
	"warp/pkg/store/dial"
	"warp/pkg/store/lean/answer"
	"warp/pkg/store/s3"
)

// An Engine sends requests to one host over HTTP/1.1.
type Engine struct {
	store.Unsupported // for requests that lean leaves to another engine

	cfg         *store.Config
	host        string // for the Host header
	path        string // the path in front of all others
	redirects   *store.Redirects
	peers       peers        // hosts of redirects and of buckets that have their own
	sessions    *s3.Sessions // sessions of directory buckets; nil without them
	zonal       bool         // each bucket has its own host, below this one
	ownHost     bool         // this is the host of one bucket, so paths begin with the key
	dialTo      string       // the address of such hosts; "" = resolve their names
	name        string       // the name of the host, with its port if it has one
	agent       string       // the line end of Host, and the User-Agent header
	addr        string       // the address to connect to
	tls         *tls.Config
	creds       store.Credentials
	region      string // "" = ask
	unsigned    bool
	noKeepAlive bool  // no connection is used again
	maxPut      int64 // the max size of an upload in one request
	fields      fieldSet
	checksum    minio.ChecksumType // for uploads
	trailer     string             // the name of its header
	md5         bool               // uploads carry Content-MD5
	piece       int                // payload is sent in pieces of this size
	dialer      *dial.Dialer
	limits      timeouts
	tick        time.Duration
	memory      sync.Pool       // of *memory
	second      atomic.Int64    // the current time for signatures
	regions     *s3.Regions     // shared by all hosts
	counters    *store.Counters // shared by all hosts
	url         string          // the URL of the host, to which redirects are relative

	mu   sync.Mutex
	idle []*conn
	over bool // no more connections become idle
}

// New returns an engine for one host. It gets the region of a bucket from regions if cfg does not
// contain one.
func New(cfg *store.Config, a store.Address, regions *s3.Regions, counters *store.Counters) (*Engine, error) {
	e := &Engine{
		cfg: cfg, name: a.Name, url: a.URL(cfg.TLS), path: a.Path, redirects: store.NewRedirects(cfg, &a), creds: cfg.Credentials, region: cfg.Region, unsigned: cfg.UnsignedPayload,
		host: hostHeader(a.Name, cfg.TLS), addr: dial.WithPort(cmp.Or(a.Dial, a.Name), cfg.TLS),
		piece:    pieceSize(cfg),
		agent:    "\r\nUser-Agent: warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") lean\r\n",
		checksum: s3.ChecksumType(cfg.Checksum), md5: cfg.MD5, noKeepAlive: cfg.NoKeepAlive,
		dialer: dial.NewDialer(cfg), limits: newTimeouts(cfg), tick: min(watchInterval, cfg.StallTimeout()/4),
		regions: regions, counters: counters,
	}
	e.memory.New = func() any { return &memory{in: make([]byte, answer.MaxLine)} }
	e.trailer, e.fields = e.checksum.Key(), newFields(&cfg.Options, e.checksum)
	if e.maxPut = cmp.Or(cfg.PartSize, maxPut); cfg.DisableMultipart {
		e.maxPut = math.MaxInt64
	}
	if e.noKeepAlive {
		e.agent += "Connection: close\r\n"
	}
	if !cfg.TLS {
		return e, nil
	}
	var err error
	if e.tls, err = dial.NewTLSConfig(cfg); err != nil {
		return nil, err
	}
	e.tls.ServerName = hostname(a.Name)
	return e, nil
}

// NewExpress returns an engine for directory buckets. It signs requests with the keys of sessions.
// The region in cfg must not be empty.
func NewExpress(cfg *store.Config, a store.Address, sessions *s3.Sessions, counters *store.Counters) (*Engine, error) {
	e, err := New(cfg, a, s3.NewRegions(nil), counters)
	if err != nil {
		return nil, err
	}
	e.sessions, e.zonal, e.dialTo = sessions, s3.IsAWS(a.Name), a.Dial
	return e, nil
}

// pieceSize is small enough for a piece to stay in the processor's cache between generating and
// sending it. It is large enough that the receiver does not go to sleep between two pieces, which
// would cost more. Many connections share 16 MiB. Under TLS a piece is a record, and the socket
// collects several.
func pieceSize(cfg *store.Config) int {
	if cfg.TLS {
		return 16 << 10
	}
	return min(max(16<<20/max(cfg.Concurrency, 1), chunkSize), 16*chunkSize) / chunkSize * chunkSize
}

// WhyNot returns why the lean engine cannot talk to a host; "" = it can.
func WhyNot(cfg *store.Config, a store.Address) string {
	scheme := "http"
	if cfg.TLS {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + a.Name)
	if err != nil {
		return err.Error()
	}
	switch host := strings.ToLower(u.Hostname()); {
	case proxied(u, a):
		return "the environment sets a proxy"
	case cfg.Provider == s3.Express: // it knows the hosts
	case s3utils.IsVirtualHostSupported(*u, "bucket"), s3utils.IsAmazonEndpoint(*u), s3utils.IsGoogleEndpoint(*u),
		strings.Contains(host, "amazonaws.com"):
		return "its buckets are part of the host name"
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "its host name is not ASCII"
	}
	if signsV2(cfg.Credentials) {
		return "it does not sign by V2"
	}
	return unsupportedOptions(&cfg.Options)
}

// WhyNoCalls returns why a [Caller] cannot talk to a host; "" = it can.
func WhyNoCalls(cfg *store.Config, a store.Address) string {
	scheme := "http"
	if cfg.TLS {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + a.Name)
	switch {
	case err != nil:
		return err.Error()
	case proxied(u, a):
		return "the environment sets a proxy"
	case strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r <= ' ' || r > '~' }):
		return "its host name is not ASCII"
	}
	return unsupportedOptions(&cfg.Options)
}

// proxied reports whether the environment sets a proxy for a host, or an invalid one.
func proxied(u *url.URL, a store.Address) bool {
	find := dial.ProxyFor(a.Dial)
	if find == nil {
		return false
	}
	proxy, err := find(&http.Request{URL: u})
	return proxy != nil || err != nil
}

func signsV2(c store.Credentials) bool {
	if c == nil {
		return false
	}
	keys, err := c.Keys(context.Background())
	return err == nil && keys.Signature == s3.SignV2
}

// unsupportedOptions returns the options that the lean engine does not support; "" = none.
func unsupportedOptions(o *store.Options) string {
	var all []string
	add := func(asked bool, what string) {
		if asked {
			all = append(all, what)
		}
	}
	add(o.Lookup == store.LookupHost, "bucket names in host names")
	add(o.HTTP2, "HTTP/2")
	add(o.KTLS, "kernel TLS")
	if len(all) == 0 {
		return ""
	}
	return "it does not do " + strings.Join(all, ", ")
}

// hostHeader returns the value of the Host header: the host without the scheme's default port.
func hostHeader(name string, tls bool) string {
	host, port, err := net.SplitHostPort(name)
	if err != nil || port != dial.DefaultPort(tls) {
		return name
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func hostname(name string) string {
	if host, _, err := net.SplitHostPort(name); err == nil {
		return host
	}
	return strings.Trim(name, "[]")
}

// takes reports whether this engine sends requests for an object. It leaves unusual names to
// minio-go, which rejects some of them with its own messages.
func takes(ref *store.Ref) bool { return validKey(ref.Key) }

// Put uploads everything that minio-go would upload in one request.
func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	parts := p.Size > e.maxPut && len(p.Headers) == 0 && !p.Whole
	if p.Size < 0 || parts || !takes(&p.Ref) {
		return store.Object{}, store.ErrUnsupported
	}
	q := request{
		method: "PUT", ref: store.Ref{Bucket: p.Bucket, Key: p.Key}, body: p.Body, size: p.Size,
		contentType: cmp.Or(p.ContentType, "application/octet-stream"), fields: e.fields.put, headers: p.Headers,
		md5: e.md5, trailer: e.trailer != "" && p.Size > 0,
	}
	if p.Size == 0 {
		q.fields = e.fields.empty
	}
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return store.Object{}, err
	}
	if c.head.Status != 200 {
		return store.Object{}, e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, sink{}); err != nil {
		return store.Object{}, e.failed(ctx, c, err, tr)
	}
	o := store.Object{Ref: q.ref, Size: p.Size}
	if c.head.ObjectSize > 0 {
		o.Size = c.head.ObjectSize // of an append
	}
	o.ETag, o.VersionID = c.etagString(tr), c.versionString("")
	c.release()
	return o, nil
}

// maxPut is the size above which minio-go uploads in parts.
const maxPut = int64(16 << 20)

// Get downloads an object, and discards the payload unless g.Into is set.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	if !takes(&g.Ref) || g.Offset < 0 || g.Length < 0 || g.Part < 0 {
		return store.Download{}, store.ErrUnsupported
	}
	q := request{
		method: "GET", ref: g.Ref, offset: g.Offset, length: g.Length, fields: e.fields.read, headers: g.Headers,
		checksums: g.Checksum != nil,
	}
	if g.Part > 0 {
		q.length = 0 // a part by its number, not by its range
		q.paramNumber("partNumber", g.Part)
	}
	q.version(&g.Ref)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return store.Download{}, err
	}
	if s := c.head.Status; s != 200 && s != 206 {
		return store.Download{}, e.refused(ctx, c, &q, tr)
	}
	var d store.Download
	if d.Object, err = c.object(&q.ref, tr); err != nil {
		return store.Download{}, e.failed(ctx, c, err, tr)
	}
	if g.Checksum != nil {
		g.Checksum(c.head.StoredChecksum())
	}
	if d.Bytes, err = c.receiveBody(tr, q.method, sink{into: g.Into}); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = store.Errorf(store.CodeShortRead, c.head.Status, "the answer ended after %d of %s bytes", d.Bytes, announced(&c.head))
		}
		return d, e.failed(ctx, c, err, tr)
	}
	c.release()
	return d, nil
}

func announced(h *answer.Head) string {
	if h.Chunked || h.Length < 0 {
		return "unknown"
	}
	return fmt.Sprint(h.Length)
}

// succeeded reports whether the status of a HEAD is a success. minio-go is as lenient.
func succeeded(status int) bool {
	return status == 200 || status == 202 || status == 204 || status == 206
}

// Stat returns an object's metadata.
func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	if !takes(&ref) {
		return store.Object{}, store.ErrUnsupported
	}
	q := request{method: "HEAD", ref: ref, fields: e.fields.read}
	q.version(&ref)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return store.Object{}, err
	}
	if !succeeded(c.head.Status) {
		return store.Object{}, e.refused(ctx, c, &q, tr)
	}
	tr.Complete()
	o, err := c.object(&q.ref, tr)
	if err != nil {
		return store.Object{}, e.failed(ctx, c, err, tr)
	}
	c.release()
	return o, nil
}

// do sends a request and receives the head of the answer. It follows a redirect.
func (e *Engine) do(ctx context.Context, q *request, tr *store.Trace) (*conn, error) {
	if err := fitHeaders(q.headers); err != nil {
		return nil, err
	}
	if e.zonal {
		var err error
		if e, err = e.hostOf(q.ref.Bucket); err != nil {
			return nil, err
		}
	}
	seen := tr.FirstByte()
	c, err := e.send(ctx, q, tr)
	if err == nil && q.redirects(c.head.Status) {
		return e.follow(ctx, c, q, seen, tr)
	}
	return c, err
}

// send sends a request and receives the head of its answer. It replaces a connection that turns out
// to be dead before it has answered anything. Each attempt uses up one idle connection, so this
// ends.
func (e *Engine) send(ctx context.Context, q *request, tr *store.Trace) (*conn, error) {
	for {
		c, err := e.acquire(ctx, tr)
		if err != nil {
			return nil, store.AsError(err, int(tr.Status()))
		}
		if err = c.exchange(ctx, q, tr); err == nil {
			return c, nil
		}
		if err == store.ErrUnsupported {
			c.abandon()
			return nil, err
		}
		again := c.reused && c.retryable(q, err)
		err = e.failed(ctx, c, err, tr)
		if !again || ctx.Err() != nil {
			return nil, err
		}
	}
}

// retryable reports whether the connection died between two requests, so that the second one may be
// sent again on another connection. This is the case if none of the request was sent. It is also
// the case if the store closed the connection in good order, and the request changes nothing or is
// an upload that directly followed the previous answer. A reset is an error, because otherwise a
// store that resets connections would look healthy.
func (c *conn) retryable(q *request, err error) bool {
	switch {
	case c.answered:
		return false
	case c.sock.begun:
		return (c.livenessSkipped || !q.mutates()) && err == io.EOF
	}
	return err == errStale || err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed discards the connection and returns the error to report.
func (e *Engine) failed(ctx context.Context, c *conn, err error, tr *store.Trace) error {
	c.abandon()
	var own *store.Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.verdict.Load() == verdictTimeout:
		return c.e.limits.exceeded(c.phase, int(tr.Status()))
	case errors.As(err, &own):
		return own
	case err == io.EOF, err == io.ErrUnexpectedEOF, err == errStale, err == errAnswered:
		return store.Errorf(store.CodeClosed, int(tr.Status()), "the store closed the connection before it had answered")
	}
	return store.AsError(err, int(tr.Status()))
}

// acquire returns the idle connection that was used last, or a new one.
func (e *Engine) acquire(ctx context.Context, tr *store.Trace) (*conn, error) {
	e.mu.Lock()
	if n := len(e.idle); n > 0 {
		c := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		return c, nil
	}
	e.mu.Unlock()
	return e.dial(ctx, tr)
}

// release keeps the connection for another request if it can be reused. Bytes after the end of an
// answer would be taken for the next answer.
func (c *conn) release() {
	e := c.e
	if c.sock.unsent() {
		c.sock.flushNow() // what TLS has to send as well
	}
	if c.head.Close || e.noKeepAlive || c.broken || c.r != c.w || c.verdict.Load() != verdictNone || c.sock.unsent() {
		c.abandon()
		return
	}
	c.reused = true
	c.releaseMemory()
	c.busy.Store(false)
	e.mu.Lock()
	over := e.over
	if !over {
		e.idle = append(e.idle, c)
	}
	e.mu.Unlock()
	if over {
		c.close()
	}
}

// Close closes the idle connections. The others are closed when their requests end.
func (e *Engine) Close() {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.over = nil, true
	e.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	e.peers.close()
}

// abandon closes the connection.
func (c *conn) abandon() {
	c.busy.Store(false)
	c.close()
	c.releaseMemory()
}

// removeIdle removes c from the idle connections. It returns false if c is in use.
func (e *Engine) removeIdle(c *conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.Index(e.idle, c)
	if i < 0 {
		return false
	}
	e.idle = slices.Delete(e.idle, i, i+1)
	return true
}

// findRegion makes sure that the region of the bucket is known. The connection holds no memory
// while it waits, because many may have to.
func (c *conn) findRegion(ctx context.Context, bucket string) error {
	if c.e.sessions != nil && c.located != bucket {
		if _, err := c.e.sessions.Keys(ctx, bucket); err != nil {
			return err
		}
		c.located = bucket
	}
	generation := c.e.regions.Generation()
	if c.e.region != "" || c.located == bucket && c.locatedBy == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return store.ErrUnsupported
	}
	keys, err := c.e.identity(ctx, bucket)
	if err == nil && !keys.Anonymous() {
		_, err = c.e.regions.Of(ctx, bucket)
	}
	if err != nil {
		return err
	}
	c.located, c.locatedBy = bucket, generation
	return nil
}

// prepareSigner sets the signer's time, credentials and region. It asks for credentials once per
// second, because they may expire.
func (c *conn) prepareSigner(ctx context.Context, bucket string) (err error) {
	generation, second := c.e.regions.Generation(), c.e.second.Load()
	if c.second == second && c.bucket == bucket && c.generation == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return store.ErrUnsupported
	}
	keys := c.signer.keys
	if c.second != second || c.e.sessions != nil {
		c.signer.at(time.Now())
		if keys, err = c.e.identity(ctx, bucket); err != nil {
			return err
		}
	}
	region := c.e.region
	if region == "" && !keys.Anonymous() {
		if region, err = c.e.regions.Of(ctx, bucket); err != nil {
			return err
		}
	}
	c.signer.use(keys, region)
	c.second, c.bucket, c.generation = second, bucket, generation
	return nil
}

// identity returns the identity that signs now.
func (e *Engine) identity(ctx context.Context, bucket string) (keys store.Keys, err error) {
	if e.sessions != nil {
		return e.sessions.Keys(ctx, bucket)
	}
	if e.creds == nil {
		return keys, nil
	}
	if keys, err = e.creds.Keys(ctx); err == nil && keys.Signature == s3.SignV2 {
		err = store.ErrUnsupported
	}
	return keys, err
}
