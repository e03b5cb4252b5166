package s3

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// An Engine is the lean engine of one host. Unusual requests are unsupported; package engines sends those through minio-go.
type Engine struct {
	cfg      *store.Config
	client   *httpclient.Client
	path     string    // the path in front of all others
	sessions *Sessions // sessions of directory buckets; nil without them
	zonal    bool      // each bucket has its own host, below this one
	dialTo   string    // the address of such hosts; "" = resolve their names
	name     string    // the name of the host, with its port if it has one
	creds    store.Credentials
	region   string // "" = ask
	unsigned bool
	maxPut   int64 // the max size of an upload in one request
	fields   fieldSet
	checksum minio.ChecksumType // for uploads
	trailer  string             // the name of its header
	md5      bool               // uploads carry Content-MD5
	regions  *Regions           // shared by all hosts
	counters *store.Counters    // shared by all hosts

	located  atomic.Pointer[location]   // a bucket whose region is known
	lastHost atomic.Pointer[bucketHost] // the host of the bucket that was used last
}

// New returns an engine for one host. It gets the region of a bucket from regions if cfg does not
// contain one.
func New(cfg *store.Config, a store.Address, regions *Regions, counters *store.Counters) (*Engine, error) {
	e := &Engine{
		cfg: cfg, name: a.Name, path: a.Path, creds: cfg.Credentials, region: cfg.Region, unsigned: cfg.UnsignedPayload,
		checksum: ChecksumType(cfg.Checksum), md5: cfg.MD5, regions: regions, counters: counters,
	}
	e.trailer, e.fields = e.checksum.Key(), newFields(&cfg.Options, e.checksum)
	if e.maxPut = cmp.Or(cfg.PartSize, maxPut); cfg.DisableMultipart {
		e.maxPut = math.MaxInt64
	}
	api := &httpclient.API{Name: "lean", NewState: func() any { return new(state) }}
	var err error
	e.client, err = api.NewOwn(cfg, a, counters)
	return e, err
}

// NewExpress returns an engine for directory buckets. It signs requests with the keys of sessions.
// The region in cfg must not be empty.
func NewExpress(cfg *store.Config, a store.Address, sessions *Sessions, counters *store.Counters) (*Engine, error) {
	e, err := New(cfg, a, NewRegions(nil), counters)
	if err != nil {
		return nil, err
	}
	e.sessions, e.zonal, e.dialTo = sessions, IsAWS(a.Name), a.Dial
	return e, nil
}

// WhyNot returns why the engine cannot talk to a host; "" = it can.
func WhyNot(cfg *store.Config, a store.Address) string {
	if why := httpclient.WhyNotOwn(cfg, a); why != "" {
		return why
	}
	host := store.Address{Name: a.Name}
	u, err := url.Parse(host.URL(cfg.TLS))
	if err != nil {
		return err.Error()
	}
	if cfg.Provider != Express && (s3utils.IsVirtualHostSupported(*u, "bucket") || s3utils.IsAmazonEndpoint(*u) || s3utils.IsGoogleEndpoint(*u) ||
		strings.Contains(strings.ToLower(u.Hostname()), "amazonaws.com")) {
		return "its buckets are part of the host name"
	}
	if signsV2(cfg.Credentials) {
		return "it does not sign by V2"
	}
	return ""
}

func signsV2(c store.Credentials) bool {
	if c == nil {
		return false
	}
	keys, err := c.Keys(context.Background())
	return err == nil && keys.Signature == SignV2
}

// Close closes idle connections now and the others when their requests end.
func (e *Engine) Close() { e.client.Close() }

// Put uploads everything that minio-go would upload in one request.
func (e *Engine) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	headers := WithCondition(p.Headers, p.If)
	parts := p.Size > e.maxPut && len(headers) == 0 && !p.Whole
	if p.Size < 0 || parts || !takes(p.Key) {
		return store.Object{}, store.ErrUnsupported
	}
	q := e.begin("PUT", p.Bucket, p.Key)
	defer q.end()
	q.Upload(p.Body, p.Size)
	q.ContentType, q.Idempotent = cmp.Or(p.ContentType, "application/octet-stream"), len(headers) == 0
	q.fields, q.headers, q.md5, q.trailer = e.fields.put, headers, e.md5, e.trailer != "" && p.Size > 0
	if p.Size == 0 {
		q.fields = e.fields.empty
	}
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return store.Object{}, err
	}
	if r.Status != 200 {
		return store.Object{}, e.refused(r, q)
	}
	o := store.Object{Ref: store.Ref{Bucket: p.Bucket, Key: p.Key, VersionID: r.Version("")}, ETag: r.ETag(tr), Size: p.Size}
	if size := r.Head().ObjectSize; size > 0 {
		o.Size = size // of an append
	}
	return o, nil
}

// maxPut is the size above which minio-go uploads in parts.
const maxPut = int64(16 << 20)

// PutPart uploads a part. It signs as Put does, except that minio-go never signs a part as a
// whole.
func (e *Engine) PutPart(ctx context.Context, p store.PutPart, tr *store.Trace) (store.Part, error) {
	if p.Size <= 0 || p.Number < 1 || p.ID == "" || !takes(p.Key) {
		return store.Part{}, store.ErrUnsupported
	}
	q := e.begin("PUT", p.Bucket, p.Key)
	defer q.end()
	q.Upload(p.Body, p.Size)
	q.Idempotent, q.part, q.fields, q.md5, q.trailer = true, true, e.fields.part, e.md5, e.trailer != ""
	if q.trailer {
		q.Keeps = checksumPrefix
	}
	q.Number("partNumber", p.Number)
	q.Param("uploadId", p.ID)
	part := store.Part{Number: p.Number, Size: p.Size}
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return part, err
	}
	if r.Status != 200 {
		return part, e.refused(r, q)
	}
	part.ETag = r.ETag(tr)
	if sum := r.Header(e.trailer); sum != "" {
		part.Checksums = map[string]string{e.trailer: sum}
	}
	return part, nil
}

// checksumPrefix begins the names of headers with checksums.
const checksumPrefix = "x-amz-checksum-"

// Get downloads an object, and discards the payload unless g.Into is set.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	if !takes(g.Key) || g.Offset < 0 || g.Length < 0 || g.Part < 0 || g.If.Absent {
		return store.Download{}, store.ErrUnsupported
	}
	q := e.begin("GET", g.Bucket, g.Key)
	defer q.end()
	q.fields, q.headers = e.fields.read, WithCondition(g.Headers, g.If)
	if g.Checksum != nil {
		q.Keeps = checksumPrefix
	}
	if g.Part > 0 { // a part by its number, not by its range
		q.Number("partNumber", g.Part)
	} else {
		q.Offset, q.Length = g.Offset, g.Length
	}
	q.version(&g.Ref)
	r, err := e.open(ctx, q, tr)
	if err != nil {
		return store.Download{}, err
	}
	if r.Status != 200 && r.Status != 206 {
		return store.Download{}, e.refused(r, q)
	}
	var d store.Download
	if d.Object, err = object(r, &g.Ref, tr); err != nil {
		return store.Download{}, err
	}
	if g.Checksum != nil {
		g.Checksum(storedChecksum(r))
	}
	d.Bytes, err = r.Receive(ctx, g.Into, tr)
	return d, err
}

// succeeded reports whether the status of a HEAD is a success. minio-go is as lenient.
func succeeded(status int) bool {
	return status == 200 || status == 202 || status == 204 || status == 206
}

// Stat returns an object's metadata.
func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	if !takes(ref.Key) {
		return store.Object{}, store.ErrUnsupported
	}
	q := e.begin("HEAD", ref.Bucket, ref.Key)
	defer q.end()
	q.fields = e.fields.read
	q.version(&ref)
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return store.Object{}, err
	}
	if !succeeded(r.Status) {
		return store.Object{}, e.refused(r, q)
	}
	return object(r, &ref, tr)
}

// do sends a request and receives the reply.
func (e *Engine) do(ctx context.Context, q *request, tr *store.Trace) (*httpclient.Reply, error) {
	client, err := e.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	return client.Do(ctx, &q.Request, tr)
}

// open sends a request for a download.
func (e *Engine) open(ctx context.Context, q *request, tr *store.Trace) (*httpclient.Reply, error) {
	client, err := e.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	return client.Open(ctx, &q.Request, tr)
}

// prepare checks the headers of a request, and makes sure that the region of its bucket is known. It
// returns the client that sends it.
func (e *Engine) prepare(ctx context.Context, q *request) (*httpclient.Client, error) {
	if len(q.headers) > 0 {
		if err := httpclient.CheckHeaders(q.headers, ownHeaders...); err != nil {
			return nil, err
		}
	}
	client := e.client
	if e.zonal {
		var err error
		if client, err = e.hostOf(q.bucket); err != nil {
			return nil, err
		}
	}
	if err := e.findRegion(ctx, q.bucket); err != nil {
		return nil, err
	}
	return client, nil
}

// ownHeaders are the headers of S3 that warp sets.
var ownHeaders = []string{"x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length", SessionToken, "x-amz-security-token"}

// hostOf returns the client for a bucket that has its own host.
func (e *Engine) hostOf(bucket string) (*httpclient.Client, error) {
	if last := e.lastHost.Load(); last != nil && last.bucket == bucket {
		return last.Client, nil
	}
	if bucket == "" || strings.ContainsFunc(bucket, notInLabel) {
		return nil, store.ErrUnsupported // it would be another host
	}
	found, err := e.client.Peer(store.Address{Name: bucket + "." + e.name, Dial: e.dialTo})
	if err == nil {
		e.lastHost.Store(&bucketHost{found, bucket})
	}
	return found, err
}

// A bucketHost is the host of one bucket.
type bucketHost struct {
	*httpclient.Client
	bucket string
}

func notInLabel(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }

// A location is a bucket whose region is known, and the generation of the regions at that time.
type location struct {
	bucket     string
	generation uint32
}

// findRegion makes sure that the region of the bucket is known. No connection waits for it, because
// many requests may have to.
func (e *Engine) findRegion(ctx context.Context, bucket string) error {
	generation, known := e.regions.Generation(), e.located.Load()
	if known != nil && known.bucket == bucket && known.generation == generation {
		return nil
	}
	if e.sessions != nil || e.region == "" {
		if s3utils.CheckValidBucketName(bucket) != nil {
			return store.ErrUnsupported
		}
		keys, err := e.identity(ctx, bucket)
		if err == nil && e.region == "" && !keys.Anonymous() {
			_, err = e.regions.Of(ctx, bucket)
		}
		if err != nil {
			return err
		}
	}
	if known == nil || known.generation != generation { // not for each request of a run with several buckets
		e.located.Store(&location{bucket, generation})
	}
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
	if keys, err = e.creds.Keys(ctx); err == nil && keys.Signature == SignV2 {
		err = store.ErrUnsupported
	}
	return keys, err
}

// object returns the object that the reply's head describes, by minio-go's rules.
func object(r *httpclient.Reply, ref *store.Ref, tr *store.Trace) (store.Object, error) {
	h := r.Head()
	modified, err := r.Modified()
	if err != nil && len(h.Modified) > 0 { // some stores say the time in listings only
		return store.Object{}, store.Errorf("InternalError", h.Status, "Last-Modified is not a time: %q", h.Modified)
	}
	if len(h.SourceTime) > 0 {
		if modified, err = time.Parse(time.RFC3339Nano, string(h.SourceTime)); err != nil {
			return store.Object{}, store.Errorf("InternalError", h.Status, "X-Minio-Source-Mtime is not a time: %q", h.SourceTime)
		}
	}
	o := store.Object{Ref: *ref, Size: h.Length, LastModified: modified, DeleteMarker: h.DeleteMarker, HasMetadata: h.HasMetadata}
	if h.Chunked {
		o.Size = -1
	}
	o.ETag, o.VersionID = r.ETag(tr), r.Version(ref.VersionID)
	return o, nil
}

// storedChecksum returns the object's checksum in the head of a reply.
func storedChecksum(r *httpclient.Reply) store.StoredChecksum {
	header := make(http.Header)
	r.EachNamed(checksumPrefix, header.Set)
	return StoredChecksum(header)
}
