// Package lean is an HTTP/1.1 client of our own for the requests that a
// benchmark is made of. It costs little more than the sockets do. Whatever is
// out of the ordinary it does not support.
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
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"warp/pkg/store"
	"warp/pkg/store/dial"
	"warp/pkg/store/s3"
)

// Engine is an HTTP/1.1 client of our own for the requests that a
// benchmark is made of. It costs little more than the sockets do, and leaves
// whatever is out of the ordinary to minio-go.
type Engine struct {
	host        string // for the Host header
	agent       string // the line end of Host, and the User-Agent header
	addr        string // to connect to
	tls         *tls.Config
	creds       *credentials.Credentials
	region      string // "" = ask
	unsigned    bool
	noKeepAlive bool  // no connection is used again
	maxPut      int64 // of an upload in one request
	fields      fieldSet
	checksum    minio.ChecksumType // of uploads
	trailer     string             // the name of its header
	md5         bool               // uploads carry Content-MD5
	piece       int                // payload is sent in pieces of this size
	dialer      *dial.Dialer
	limits      timeouts
	tick        time.Duration
	memory      sync.Pool       // of *memory
	second      atomic.Int64    // the time for signatures
	regions     *s3.Regions     // of all hosts
	counters    *store.Counters // of all hosts
	url         string          // of the host, for providers of credentials

	mu   sync.Mutex
	idle []*conn
	over bool // no further connection becomes idle
}

// New returns an engine for one host. It asks regions where buckets are, if cfg does not say so.
func New(cfg *store.Config, a store.Address, regions *s3.Regions, counters *store.Counters) (*Engine, error) {
	scheme := "http://"
	if cfg.TLS {
		scheme = "https://"
	}
	e := &Engine{
		url: scheme + a.Name, creds: cfg.Credentials, region: cfg.Region, unsigned: cfg.UnsignedPayload,
		host: hostHeader(a.Name, cfg.TLS), addr: withPort(cmp.Or(a.Dial, a.Name), cfg.TLS),
		piece:    pieceSize(cfg),
		agent:    "\r\nUser-Agent: warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") lean\r\n",
		checksum: s3.ChecksumType(cfg.Checksum), md5: cfg.MD5, noKeepAlive: cfg.NoKeepAlive,
		dialer: dial.NewDialer(cfg), limits: newTimeouts(cfg), tick: min(watchInterval, cfg.StallTimeout()/4),
		regions: regions, counters: counters,
	}
	e.memory.New = func() any { return &memory{in: make([]byte, maxLine)} }
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

// pieceSize is small enough to stay in the processor's cache between generating and
// sending, and large enough for the receiver not to fall asleep between two
// pieces, which costs more than they do. Many connections share 16 MiB. Under TLS a
// piece is a record, and the socket collects several.
func pieceSize(cfg *store.Config) int {
	if cfg.TLS {
		return 16 << 10
	}
	return min(max(16<<20/max(cfg.Concurrency, 1), chunkSize), 16*chunkSize) / chunkSize * chunkSize
}

// WhyNot says why the lean engine cannot talk to a host; "" = it can.
func WhyNot(cfg *store.Config, a store.Address) string {
	scheme := "http"
	if cfg.TLS {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + a.Name)
	if err != nil {
		return err.Error()
	}
	var proxy *url.URL
	if find := dial.ProxyFor(a.Dial); find != nil {
		proxy, err = find(&http.Request{URL: u})
	}
	switch host := strings.ToLower(u.Hostname()); {
	case proxy != nil || err != nil:
		return "the environment sets a proxy"
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

func signsV2(c *credentials.Credentials) bool {
	if c == nil {
		return false
	}
	value, err := c.GetWithContext(nil)
	return err == nil && value.SignerType.IsV2()
}

// unsupportedOptions says which of the options the lean engine does not do; "" = none.
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

func defaultPort(tls bool) string {
	if tls {
		return "443"
	}
	return "80"
}

// hostHeader is what goes into the Host header: without the port that the
// scheme implies.
func hostHeader(name string, tls bool) string {
	host, port, err := net.SplitHostPort(name)
	if err != nil || port != defaultPort(tls) {
		return name
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func withPort(name string, tls bool) string {
	if _, _, err := net.SplitHostPort(name); err == nil {
		return name
	}
	return net.JoinHostPort(strings.Trim(name, "[]"), defaultPort(tls))
}

func hostname(name string) string {
	if host, _, err := net.SplitHostPort(name); err == nil {
		return host
	}
	return strings.Trim(name, "[]")
}

// takes says whether requests on an object are for this engine. minio-go
// refuses odd names in words of its own.
func takes(ref *store.Ref) bool { return validKey(ref.Key) }

// Put uploads in one request what minio-go would upload in one request.
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
	if c.head.status != 200 {
		return store.Object{}, e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, sink{}); err != nil {
		return store.Object{}, e.failed(ctx, c, err, tr)
	}
	o := store.Object{Ref: q.ref, Size: p.Size}
	if c.head.objectSize > 0 {
		o.Size = c.head.objectSize // of an append
	}
	o.ETag, o.VersionID = c.etagString(tr), c.versionString("")
	e.release(c)
	return o, nil
}

// maxPut is the size above which minio-go uploads in parts.
const maxPut = int64(16 << 20)

// Get downloads and throws away.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	if !takes(&g.Ref) || g.Offset < 0 || g.Length < 0 || g.Part < 0 {
		return store.Download{}, store.ErrUnsupported
	}
	q := request{
		method: "GET", ref: g.Ref, offset: g.Offset, length: g.Length, fields: e.fields.read, headers: g.Headers,
		checksums: g.Checksum != nil,
	}
	if g.Part > 0 {
		q.paramNumber("partNumber", g.Part)
	}
	q.version(&g.Ref)
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return store.Download{}, err
	}
	if s := c.head.status; s != 200 && s != 206 {
		return store.Download{}, e.refused(ctx, c, &q, tr)
	}
	var d store.Download
	if d.Object, err = c.object(&q.ref, tr); err != nil {
		return store.Download{}, e.failed(ctx, c, err, tr)
	}
	if g.Checksum != nil {
		g.Checksum(c.head.storedChecksum())
	}
	if d.Bytes, err = c.receiveBody(tr, q.method, sink{into: g.Into}); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = store.Errorf(store.CodeShortRead, c.head.status, "the answer ended after %d of %s bytes", d.Bytes, announced(&c.head))
		}
		return d, e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return d, nil
}

func announced(h *responseHead) string {
	if h.chunked || h.length < 0 {
		return "unknown"
	}
	return fmt.Sprint(h.length)
}

// succeeded says whether a HEAD's status is a success. minio-go is as lenient.
func succeeded(status int) bool {
	return status == 200 || status == 202 || status == 204 || status == 206
}

// Stat asks for an object's metadata.
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
	if !succeeded(c.head.status) {
		return store.Object{}, e.refused(ctx, c, &q, tr)
	}
	tr.Complete()
	o, err := c.object(&q.ref, tr)
	if err != nil {
		return store.Object{}, e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return o, nil
}

// do sends a request and receives the head of its answer. A connection that
// turns out to be dead before it has answered anything is replaced; each such
// attempt uses up one, so this ends.
func (e *Engine) do(ctx context.Context, q *request, tr *store.Trace) (*conn, error) {
	if err := fitHeaders(q.headers); err != nil {
		return nil, err
	}
	for {
		c, err := e.acquire(ctx, tr)
		if err != nil {
			return nil, store.AsError(err, int(tr.Status()))
		}
		if err = c.exchange(ctx, q, tr); err == nil {
			return c, nil
		}
		if err == store.ErrUnsupported {
			e.discard(c)
			return nil, err
		}
		again := c.reused && c.retryable(q, err)
		err = e.failed(ctx, c, err, tr)
		if !again || ctx.Err() != nil {
			return nil, err
		}
	}
}

// repeatable says whether a connection died between two requests, so that the
// later one is for another connection: none of it was sent, or the store has
// closed the connection in good order and the request changes nothing, or is an
// upload that came right behind the answer before. A reset is an error, or a
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

// failed gives up a connection and says why.
func (e *Engine) failed(ctx context.Context, c *conn, err error, tr *store.Trace) error {
	e.discard(c)
	var own *store.Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.verdict.Load() == verdictTimeout:
		return e.limits.exceeded(c.phase, int(tr.Status()))
	case errors.As(err, &own):
		return own
	case err == io.EOF, err == io.ErrUnexpectedEOF, err == errStale, err == errAnswered:
		return store.Errorf(store.CodeClosed, int(tr.Status()), "the store closed the connection before it had answered")
	}
	return store.AsError(err, int(tr.Status()))
}

// acquire takes a connection out of use, the one used last, or makes one.
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

// release keeps the connection for another request, if it is fit for one.
// Bytes after the end of an answer would be taken for the next one.
func (e *Engine) release(c *conn) {
	if c.sock.unsent() {
		c.sock.flushNow() // what TLS has to say beside
	}
	if c.head.close || e.noKeepAlive || c.broken || c.r != c.w || c.verdict.Load() != verdictNone || c.sock.unsent() {
		e.discard(c)
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

// Close closes the connections that are idle, and has those that are not closed by their requests.
func (e *Engine) Close() {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.over = nil, true
	e.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

func (e *Engine) discard(c *conn) {
	c.busy.Store(false)
	c.close()
	c.releaseMemory()
}

// forget takes c out of the idle connections; false where it is in use.
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

// locate has the region of the bucket known, for which the connection needs no
// memory: many may have to wait.
func (c *conn) findRegion(ctx context.Context, bucket string) error {
	generation := c.e.regions.Generation()
	if c.e.region != "" || c.located == bucket && c.locatedBy == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return store.ErrUnsupported
	}
	value, err := c.e.identity(ctx)
	if err == nil && !value.SignerType.IsAnonymous() {
		_, err = c.e.regions.Of(ctx, bucket)
	}
	if err != nil {
		return err
	}
	c.located, c.locatedBy = bucket, generation
	return nil
}

// identify has the signer use the right time, key and region. Credentials, which
// expire by the minute, are asked for as often as the time is.
func (c *conn) prepareSigner(ctx context.Context, bucket string) (err error) {
	generation, second := c.e.regions.Generation(), c.e.second.Load()
	if c.second == second && c.bucket == bucket && c.generation == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return store.ErrUnsupported
	}
	value := c.signer.value
	if c.second != second {
		c.signer.at(time.Now())
		if value, err = c.e.identity(ctx); err != nil {
			return err
		}
	}
	region := c.e.region
	if region == "" && !value.SignerType.IsAnonymous() {
		if region, err = c.e.regions.Of(ctx, bucket); err != nil {
			return err
		}
	}
	c.signer.use(value, region)
	c.second, c.bucket, c.generation = second, bucket, generation
	return nil
}

// identity is who signs now.
func (e *Engine) identity(ctx context.Context) (value credentials.Value, err error) {
	if e.creds == nil {
		return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
	}
	asking := credentials.CredContext{Context: ctx, Client: http.DefaultClient, Endpoint: e.url}
	if value, err = e.creds.GetWithContext(&asking); err == nil && value.SignerType.IsV2() {
		err = store.ErrUnsupported
	}
	return value, err
}
