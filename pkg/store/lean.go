package store

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
)

// leanEngine is an HTTP/1.1 client of our own for the requests that a
// benchmark is made of. It costs little more than the sockets do, and leaves
// whatever is out of the ordinary to minio-go.
type leanEngine struct {
	Extras   // through fallback
	fallback *minioEngine
	host     string // for the Host header
	agent    string // the line end of Host, and the User-Agent header
	addr     string // to connect to
	tls      *tls.Config
	creds    *credentials.Credentials
	region   string // "" = ask
	unsigned bool
	once     bool  // no connection is used again
	most     int64 // of an upload in one request
	fields   leanFields
	checksum minio.ChecksumType // of uploads
	trailer  string             // the name of its header
	md5      bool               // uploads carry Content-MD5
	piece    int                // payload is sent in pieces of this size
	dialer   *dialer
	limits   leanLimits
	tick     time.Duration
	memory   sync.Pool     // of *leanMemory
	second   atomic.Int64  // the time for signatures
	regions  *regions      // of all hosts
	dialed   *atomic.Int64 // connections opened so far, over all hosts

	mu   sync.Mutex
	idle []*leanConn
	over bool // no further connection becomes idle
}

// errNotLean says that a request is one for minio-go.
var errNotLean = errors.New("not for the lean engine")

func (c *Client) newLeanEngine(cfg *Config, a Address, fallback *minioEngine) (*leanEngine, error) {
	e := &leanEngine{
		Extras: fallback, fallback: fallback, creds: cfg.Credentials, region: cfg.Region, unsigned: cfg.UnsignedPayload,
		host: hostHeader(a.Name, cfg.TLS), addr: withPort(cmp.Or(a.Dial, a.Name), cfg.TLS),
		piece:    pieceSize(cfg),
		agent:    "\r\nUser-Agent: warp/" + cfg.AppVersion + " (" + runtime.GOOS + "; " + runtime.GOARCH + ") lean\r\n",
		checksum: cfg.Checksum.libraryType(), md5: cfg.MD5, once: cfg.NoKeepAlive,
		dialer: newDialer(cfg), limits: newLeanLimits(cfg), tick: min(leanTick, cfg.patience()/4),
		regions: &c.regions, dialed: &c.dialed,
	}
	e.memory.New = func() any { return &leanMemory{in: make([]byte, leanLineMost)} }
	e.trailer, e.fields = e.checksum.Key(), newLeanFields(&cfg.Options, e.checksum)
	if e.most = cmp.Or(cfg.PartSize, leanPutMost); cfg.DisableMultipart {
		e.most = math.MaxInt64
	}
	if e.once {
		e.agent += "Connection: close\r\n"
	}
	if !cfg.TLS {
		return e, nil
	}
	var err error
	if e.tls, err = newTLSConfig(cfg); err != nil {
		return nil, err
	}
	e.tls.ServerName = hostname(a.Name)
	return e, nil
}

// pieceSize is small enough to stay in the processor's cache between generating and
// sending, and large enough for the receiver not to fall asleep between two
// pieces, which costs more than they do. Many connections share 16 MiB. Under TLS a
// piece is a record, and the socket collects several.
func pieceSize(cfg *Config) int {
	if cfg.TLS {
		return 16 << 10
	}
	return min(max(16<<20/max(cfg.Concurrency, 1), leanChunk), 16*leanChunk) / leanChunk * leanChunk
}

// leanCan says why the lean engine cannot talk to a host; "" = it can.
func leanCan(cfg *Config, a Address) string {
	scheme := "http"
	if cfg.TLS {
		scheme = "https"
	}
	u, err := url.Parse(scheme + "://" + a.Name)
	if err != nil {
		return err.Error()
	}
	var proxy *url.URL
	if find := proxyFor(a.Dial); find != nil {
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
	return cfg.beyondLean()
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
func takes(ref *Ref) bool { return validKey(ref.Key) }

// Put uploads in one request what minio-go would upload in one request.
func (e *leanEngine) Put(ctx context.Context, p Put, tr *Trace) (Object, error) {
	parts := p.Size > e.most && len(p.Headers) == 0 && !p.Whole
	if p.Size < 0 || parts || !takes(&p.Ref) {
		return e.fallback.Put(ctx, p, tr)
	}
	q := leanQuery{
		method: "PUT", ref: Ref{Bucket: p.Bucket, Key: p.Key}, body: p.Body, size: p.Size,
		contentType: cmp.Or(p.ContentType, "application/octet-stream"), fields: e.fields.put, headers: p.Headers,
		md5: e.md5, trailer: e.trailer != "" && p.Size > 0,
	}
	if p.Size == 0 {
		q.fields = e.fields.empty
	}
	c, err := e.do(ctx, &q, tr)
	if err == errNotLean {
		return e.fallback.Put(ctx, p, tr)
	}
	if err != nil {
		return Object{}, err
	}
	if c.head.status != 200 {
		return Object{}, e.refused(ctx, c, &q, tr)
	}
	if _, err = c.receiveBody(tr, q.method, leanSink{}); err != nil {
		return Object{}, e.failed(ctx, c, err, tr)
	}
	o := Object{Ref: q.ref, Size: p.Size}
	if c.head.objectSize > 0 {
		o.Size = c.head.objectSize // of an append
	}
	o.ETag, o.VersionID = c.etagString(tr), c.versionString("")
	e.release(c)
	return o, nil
}

// leanPutMost is the size above which minio-go uploads in parts.
const leanPutMost = int64(16 << 20)

// Get downloads and throws away.
func (e *leanEngine) Get(ctx context.Context, g Get, tr *Trace) (Download, error) {
	if !takes(&g.Ref) || g.Offset < 0 || g.Length < 0 || g.Part < 0 {
		return e.fallback.Get(ctx, g, tr)
	}
	q := leanQuery{
		method: "GET", ref: g.Ref, offset: g.Offset, length: g.Length, fields: e.fields.read, headers: g.Headers,
		checksums: g.Checksum != nil,
	}
	if g.Part > 0 {
		q.paramNumber("partNumber", g.Part)
	}
	q.version(&g.Ref)
	c, err := e.do(ctx, &q, tr)
	if err == errNotLean {
		return e.fallback.Get(ctx, g, tr)
	}
	if err != nil {
		return Download{}, err
	}
	if s := c.head.status; s != 200 && s != 206 {
		return Download{}, e.refused(ctx, c, &q, tr)
	}
	var d Download
	if d.Object, err = c.object(&q.ref, tr); err != nil {
		return Download{}, e.failed(ctx, c, err, tr)
	}
	if g.Checksum != nil {
		g.Checksum(c.head.storedChecksum())
	}
	if d.Bytes, err = c.receiveBody(tr, q.method, leanSink{into: g.Into}); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = errorf(CodeShortRead, c.head.status, "the answer ended after %d of %s bytes", d.Bytes, announced(&c.head))
		}
		return d, e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return d, nil
}

func announced(h *leanHead) string {
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
func (e *leanEngine) Stat(ctx context.Context, ref Ref, tr *Trace) (Object, error) {
	if !takes(&ref) {
		return e.fallback.Stat(ctx, ref, tr)
	}
	q := leanQuery{method: "HEAD", ref: ref, fields: e.fields.read}
	q.version(&ref)
	c, err := e.do(ctx, &q, tr)
	if err == errNotLean {
		return e.fallback.Stat(ctx, ref, tr)
	}
	if err != nil {
		return Object{}, err
	}
	if !succeeded(c.head.status) {
		return Object{}, e.refused(ctx, c, &q, tr)
	}
	tr.received()
	o, err := c.object(&q.ref, tr)
	if err != nil {
		return Object{}, e.failed(ctx, c, err, tr)
	}
	e.release(c)
	return o, nil
}

// StartUpload is minio-go's: it is sent once in many parts.
func (e *leanEngine) StartUpload(ctx context.Context, p Put, tr *Trace) (Upload, error) {
	return e.fallback.StartUpload(ctx, p, tr)
}

// CopyPart is minio-go's.
func (e *leanEngine) CopyPart(ctx context.Context, c CopyPart, tr *Trace) (Part, error) {
	return e.fallback.CopyPart(ctx, c, tr)
}

// CompleteUpload is minio-go's.
func (e *leanEngine) CompleteUpload(ctx context.Context, u Upload, parts []Part, tr *Trace) (Object, error) {
	return e.fallback.CompleteUpload(ctx, u, parts, tr)
}

// AbortUpload is minio-go's.
func (e *leanEngine) AbortUpload(ctx context.Context, u Upload, tr *Trace) error {
	return e.fallback.AbortUpload(ctx, u, tr)
}

// do sends a request and receives the head of its answer. A connection that
// turns out to be dead before it has answered anything is replaced; each such
// attempt uses up one, so this ends.
func (e *leanEngine) do(ctx context.Context, q *leanQuery, tr *Trace) (*leanConn, error) {
	if err := fitHeaders(q.headers); err != nil {
		return nil, err
	}
	for {
		c, err := e.acquire(ctx, tr)
		if err != nil {
			return nil, asError(err, tr)
		}
		if err = c.exchange(ctx, q, tr); err == nil {
			return c, nil
		}
		if err == errNotLean {
			e.discard(c)
			return nil, err
		}
		again := c.reused && c.repeatable(q, err)
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
func (c *leanConn) repeatable(q *leanQuery, err error) bool {
	switch {
	case c.answered:
		return false
	case c.sock.begun:
		return (c.hasty || !q.changes()) && err == io.EOF
	}
	return err == errStale || err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failed gives up a connection and says why.
func (e *leanEngine) failed(ctx context.Context, c *leanConn, err error, tr *Trace) error {
	e.discard(c)
	var own *Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.verdict.Load() == verdictTimeout:
		return e.limits.exceeded(c.phase, int(tr.Status()))
	case errors.As(err, &own):
		return own
	case err == io.EOF, err == io.ErrUnexpectedEOF, err == errStale, err == errAnswered:
		return errorf(CodeClosed, int(tr.Status()), "the store closed the connection before it had answered")
	}
	return asError(err, tr)
}

// acquire takes a connection out of use, the one used last, or makes one.
func (e *leanEngine) acquire(ctx context.Context, tr *Trace) (*leanConn, error) {
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
func (e *leanEngine) release(c *leanConn) {
	if c.sock.unsent() {
		c.sock.flushNow() // what TLS has to say beside
	}
	if c.head.close || e.once || c.broken || c.r != c.w || c.verdict.Load() != verdictNone || c.sock.unsent() {
		e.discard(c)
		return
	}
	c.reused = true
	c.giveBack()
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

// hangUp closes the connections that are idle, and has those that are not closed by their requests.
func (e *leanEngine) hangUp() {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.over = nil, true
	e.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	e.fallback.hangUp()
}

func (e *leanEngine) discard(c *leanConn) {
	c.busy.Store(false)
	c.close()
	c.giveBack()
}

// forget takes c out of the idle connections; false where it is in use.
func (e *leanEngine) forget(c *leanConn) bool {
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
func (c *leanConn) locate(ctx context.Context, bucket string) error {
	generation := c.e.regions.generation.Load()
	if c.e.region != "" || c.located == bucket && c.locatedBy == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return errNotLean
	}
	value, err := c.e.identity(ctx)
	if err == nil && !value.SignerType.IsAnonymous() {
		_, err = c.e.regions.of(ctx, bucket)
	}
	if err != nil {
		return err
	}
	c.located, c.locatedBy = bucket, generation
	return nil
}

// identify has the signer use the right time, key and region. Credentials, which
// expire by the minute, are asked for as often as the time is.
func (c *leanConn) identify(ctx context.Context, bucket string) (err error) {
	generation, second := c.e.regions.generation.Load(), c.e.second.Load()
	if c.second == second && c.bucket == bucket && c.generation == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return errNotLean
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
		if region, err = c.e.regions.of(ctx, bucket); err != nil {
			return err
		}
	}
	c.signer.use(value, region)
	c.second, c.bucket, c.generation = second, bucket, generation
	return nil
}

// identity is who signs now.
func (e *leanEngine) identity(ctx context.Context) (value credentials.Value, err error) {
	if e.creds == nil {
		return credentials.Value{SignerType: credentials.SignatureAnonymous}, nil
	}
	asking := e.fallback.core.Client.CredContext()
	asking.Context = ctx
	if value, err = e.creds.GetWithContext(asking); err == nil && value.SignerType.IsV2() {
		err = errNotLean
	}
	return value, err
}
