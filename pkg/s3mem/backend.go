package s3mem

import (
	"io"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// backend is the storage below gofakes3. gofakes3's own was rejected: it joins multipart uploads
// outside of any limit, keeps the headers of each request with the object, hashes every upload
// twice under one lock, and pages delimited listings incorrectly.
type backend struct {
	mem     *memory
	mu      sync.RWMutex
	buckets map[string]*bucket

	versions atomic.Uint64 // ids given
}

type bucket struct {
	created time.Time
	mu      sync.RWMutex
	gone    bool
	objects index
	uploads map[gofakes3.UploadID]*upload

	tags []tag

	versioned, suspended, locks bool // versions were ever on; are suspended; object lock is on
}

var (
	_ gofakes3.Backend          = (*backend)(nil)
	_ gofakes3.VersionedBackend = (*backend)(nil)
	_ gofakes3.MultipartBackend = (*backend)(nil)
)

func newBackend(mem *memory) *backend { return &backend{mem: mem, buckets: map[string]*bucket{}} }

func (b *backend) bucket(name string) (*bucket, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if bk := b.buckets[name]; bk != nil {
		return bk, nil
	}
	return nil, gofakes3.BucketNotFound(name)
}

func (b *backend) ListBuckets() ([]gofakes3.BucketInfo, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	list := make([]gofakes3.BucketInfo, 0, len(b.buckets))
	for name, bk := range b.buckets {
		list = append(list, gofakes3.BucketInfo{Name: name, CreationDate: gofakes3.NewContentTime(bk.created)})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, nil
}

func (b *backend) BucketExists(name string) (bool, error) {
	_, err := b.bucket(name)
	return err == nil, nil
}

func (b *backend) CreateBucket(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buckets[name] != nil {
		return gofakes3.ResourceError(gofakes3.ErrBucketAlreadyExists, name)
	}
	b.buckets[name] = &bucket{created: time.Now(), uploads: map[gofakes3.UploadID]*upload{}}
	return nil
}

func (b *backend) DeleteBucket(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	bk := b.buckets[name]
	if bk == nil {
		return gofakes3.BucketNotFound(name)
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	if bk.objects.n > 0 || len(bk.uploads) > 0 {
		return gofakes3.ResourceError(gofakes3.ErrBucketNotEmpty, name)
	}
	bk.gone = true
	delete(b.buckets, name)
	return nil
}

func (b *backend) ForceDeleteBucket(string) error { return gofakes3.ErrNotImplemented }

func (b *backend) HeadObject(bucketName, key string) (*gofakes3.Object, error) {
	return b.HeadObjectVersion(bucketName, key, "")
}

func (b *backend) GetObject(bucketName, key string, rng *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	return b.GetObjectVersion(bucketName, key, "", rng)
}

func (b *backend) PutObject(bucketName, key string, meta map[string]string, input io.Reader, size int64,
	conditions *gofakes3.PutConditions) (res gofakes3.PutObjectResult, err error) {
	bk, err := b.bucket(bucketName)
	if err != nil {
		return res, err
	}
	body, sum, err := readBody(input, size)
	if err != nil {
		return res, err
	}
	o := &object{key: strings.Clone(key), parts: [][]byte{body}, size: size, md5: sum, modified: time.Now(), meta: keptMeta(meta)}
	if o, err = o.tagged(meta); err != nil {
		return res, err
	}
	err = b.store(bk, o, conditions)
	res.VersionID = o.version()
	return res, err
}

// tagged returns an object with the tags in the headers of its upload.
func (o *object) tagged(meta map[string]string) (*object, error) {
	text := meta[taggingHeader]
	if text == "" {
		return o, nil
	}
	tags, err := parseTags(text)
	return o.with(func(x *extra) { x.tags = tags }), err
}

// checkConditions returns an error unless the conditions of a write hold for the current object. gofakes3's own check
// does not know the ETags of multipart uploads.
func checkConditions(c *gofakes3.PutConditions, now *object, key string) error {
	if now != nil && now.isMarker() {
		now = nil
	}
	switch {
	case c == nil:
	case c.IfNoneMatch != nil && *c.IfNoneMatch == "*" && now != nil:
		return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed, "The object already exists")
	case c.IfMatch != nil && now == nil:
		return gofakes3.KeyNotFound(key)
	case c.IfMatch != nil && *c.IfMatch != "*" && strings.Trim(*c.IfMatch, `"`) != strings.Trim(now.etag(), `"`):
		return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed, "The object's ETag is another one")
	}
	return nil
}

// store puts a finished object into its bucket, if the precondition allows it.
func (b *backend) store(bk *bucket, o *object, conditions *gofakes3.PutConditions) error {
	bk.mu.Lock()
	defer bk.mu.Unlock()
	return b.storeLocked(bk, o, conditions)
}

// storeLocked is store while the bucket is locked.
func (b *backend) storeLocked(bk *bucket, o *object, conditions *gofakes3.PutConditions) error {
	if bk.gone {
		return gofakes3.ErrNoSuchBucket
	}
	if err := checkConditions(conditions, bk.objects.get(o.key), o.key); err != nil {
		return err
	}
	if bk.versioned {
		b.push(bk, o)
		return nil
	}
	b.mem.used.Add(o.footprint())
	if old := bk.objects.set(o); old != nil {
		b.mem.used.Add(-old.footprint())
	}
	return nil
}

func (b *backend) DeleteObject(bucketName, key string) (res gofakes3.ObjectDeleteResult, err error) {
	return b.deleteIf(bucketName, key, nil)
}

// deleteIf deletes an object if the conditions hold, or hides it behind a delete marker in a bucket with versions.
// gofakes3 has no conditions for deletions.
func (b *backend) deleteIf(bucketName, key string, conditions *gofakes3.PutConditions) (res gofakes3.ObjectDeleteResult, err error) {
	bk, err := b.bucket(bucketName)
	if err != nil {
		return res, err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	if err := checkConditions(conditions, bk.objects.get(key), key); err != nil {
		return res, err
	}
	if bk.versioned {
		return gofakes3.ObjectDeleteResult{IsDeleteMarker: true, VersionID: b.mark(bk, key)}, nil
	}
	if old := bk.objects.remove(key); old != nil {
		b.mem.used.Add(-old.footprint())
	}
	return res, nil
}

func (b *backend) DeleteMulti(bucketName string, keys ...string) (res gofakes3.MultiDeleteResult, err error) {
	for _, key := range keys {
		if _, err := b.DeleteObject(bucketName, key); err != nil {
			return res, err
		}
		res.Deleted = append(res.Deleted, gofakes3.ObjectID{Key: key})
	}
	return res, nil
}

// CopyObject is answered before a request gets here.
func (b *backend) CopyObject(_, _, _, _ string, _ map[string]string) (res gofakes3.CopyObjectResult, err error) {
	return res, gofakes3.ErrNotImplemented
}
