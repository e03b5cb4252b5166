package s3mem

import (
	"fmt"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// The versions of an object are a list from the newest to the oldest. The index has the newest one, which may be a
// delete marker.

// find returns a version of an object, or nil; without an id, the newest one.
func (bk *bucket) find(key string, id gofakes3.VersionID) *object {
	o := bk.objects.get(key)
	for id != "" && o != nil && !o.is(id) {
		o = o.older()
	}
	return o
}

// push adds the newest version of an object.
func (b *backend) push(bk *bucket, o *object) {
	version := gofakes3.VersionID(fmt.Sprintf("%016x", b.versions.Add(1)))
	*o = *o.with(func(x *extra) { x.version, x.older = version, bk.objects.get(o.key) })
	b.mem.used.Add(o.footprint())
	bk.objects.set(o)
}

// replace puts n in the place of one version, or removes that version if n is nil.
func (b *backend) replace(bk *bucket, o, n *object) {
	next := o.older()
	b.mem.used.Add(-o.footprint())
	if n != nil {
		next = n
		b.mem.used.Add(n.footprint())
	}
	head := bk.objects.get(o.key)
	switch {
	case head != o:
		for head.older() != o {
			head = head.older()
		}
		head.extra.older = next
	case next == nil:
		bk.objects.remove(o.key)
	default:
		bk.objects.set(next)
	}
}

// mark adds a delete marker.
func (b *backend) mark(bk *bucket, key string) gofakes3.VersionID {
	o := &object{key: strings.Clone(key), modified: time.Now(), extra: &extra{marker: true}}
	b.push(bk, o)
	return o.version()
}

// deleteVersion removes one version for good. It is no error if there is none.
func (b *backend) deleteVersion(bucketName, key string, id gofakes3.VersionID, bypass bool) (gofakes3.ObjectDeleteResult, error) {
	res := gofakes3.ObjectDeleteResult{VersionID: id}
	bk, err := b.bucket(bucketName)
	if err != nil {
		return res, err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	o := bk.find(key, id)
	if o == nil {
		return res, nil
	}
	if o.lock().prevents(bypass) {
		return res, errLocked
	}
	b.replace(bk, o, nil)
	res.IsDeleteMarker = o.isMarker()
	return res, nil
}

func (b *backend) VersioningConfiguration(name string) (v gofakes3.VersioningConfiguration, err error) {
	bk, err := b.bucket(name)
	if err != nil {
		return v, err
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	if bk.versioned {
		v.Status = gofakes3.VersioningEnabled
	}
	return v, nil
}

// SetVersioningConfiguration turns versions on. They cannot be suspended.
func (b *backend) SetVersioningConfiguration(name string, v gofakes3.VersioningConfiguration) error {
	if !v.Enabled() {
		return gofakes3.ErrNotImplemented
	}
	bk, err := b.bucket(name)
	if err != nil {
		return err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	bk.versioned = true
	return nil
}

// lookupVersion returns a version, which may be a delete marker.
func (b *backend) lookupVersion(bucketName, key string, id gofakes3.VersionID) (*object, error) {
	bk, err := b.bucket(bucketName)
	if err != nil {
		return nil, err
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	o := bk.find(key, id)
	switch {
	case o == nil && id != "":
		return nil, gofakes3.ResourceError(gofakes3.ErrNoSuchVersion, key)
	case o == nil, id == "" && o.isMarker():
		return nil, gofakes3.KeyNotFound(key)
	}
	return o, nil
}

func (b *backend) GetObjectVersion(bucketName, key string, id gofakes3.VersionID, rng *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	o, err := b.lookupVersion(bucketName, key, id)
	if err != nil {
		return nil, err
	}
	return o.open(rng)
}

func (b *backend) HeadObjectVersion(bucketName, key string, id gofakes3.VersionID) (*gofakes3.Object, error) {
	o, err := b.lookupVersion(bucketName, key, id)
	if err != nil {
		return nil, err
	}
	return o.describe(), nil
}

func (b *backend) DeleteObjectVersion(bucketName, key string, id gofakes3.VersionID) (gofakes3.ObjectDeleteResult, error) {
	return b.deleteVersion(bucketName, key, id, false)
}

func (b *backend) DeleteMultiVersions(bucketName string, ids ...gofakes3.ObjectID) (gofakes3.MultiDeleteResult, error) {
	return b.deleteAll(bucketName, ids, false)
}

func (b *backend) deleteAll(bucketName string, ids []gofakes3.ObjectID, bypass bool) (res gofakes3.MultiDeleteResult, err error) {
	for _, id := range ids {
		if id.VersionID == "" {
			_, err = b.DeleteObject(bucketName, id.Key)
		} else {
			_, err = b.deleteVersion(bucketName, id.Key, gofakes3.VersionID(id.VersionID), bypass)
		}
		switch err {
		case nil:
			res.Deleted = append(res.Deleted, id)
		case errLocked:
			res.Error = append(res.Error, gofakes3.ErrorResult{Key: id.Key, Code: codeLocked, Message: err.Error()})
		default:
			return res, err
		}
	}
	return res, nil
}

// A bypassing backend deletes locked versions, for requests with the header that bypasses governance.
type bypassing struct{ *backend }

func (b bypassing) DeleteMultiVersions(bucketName string, ids ...gofakes3.ObjectID) (gofakes3.MultiDeleteResult, error) {
	return b.deleteAll(bucketName, ids, true)
}

func (b bypassing) DeleteObjectVersion(bucketName, key string, id gofakes3.VersionID) (gofakes3.ObjectDeleteResult, error) {
	return b.deleteVersion(bucketName, key, id, true)
}

// ListBucketVersions returns one page. The markers are the last entry of the previous page.
func (b *backend) ListBucketVersions(name string, prefix *gofakes3.Prefix, page *gofakes3.ListBucketVersionsPage) (*gofakes3.ListBucketVersionsResult, error) {
	bk, err := b.bucket(name)
	if err != nil {
		return nil, err
	}
	if prefix == nil {
		prefix = &gofakes3.Prefix{}
	}
	list := gofakes3.NewListBucketVersionsResult(name, prefix, page)
	limit := int64(gofakes3.DefaultMaxBucketVersionKeys)
	if page.MaxKeys > 0 {
		limit = min(limit, page.MaxKeys)
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	p := versionPage{list: list, left: limit}
	if page.HasVersionIDMarker {
		if o := bk.find(page.KeyMarker, page.VersionIDMarker); o != nil && !p.add(o.older(), false) {
			return list, nil
		}
	}
	for c := bk.objects.after(prefix, page.KeyMarker); ; {
		o := c.object()
		if o == nil || !strings.HasPrefix(o.key, prefix.Prefix) {
			return list, nil
		}
		if common := commonPrefix(o.key, prefix); common != "" {
			if !p.addPrefix(common) {
				return list, nil
			}
			c = bk.objects.seekBeyond(common)
			continue
		}
		if !p.add(o, true) {
			return list, nil
		}
		c.next()
	}
}

// A versionPage is filled with versions until its limit.
type versionPage struct {
	list *gofakes3.ListBucketVersionsResult
	left int64
	key  string // the last entry
	id   gofakes3.VersionID
}

// take counts an entry, or ends the page.
func (p *versionPage) take(key string, id gofakes3.VersionID) bool {
	if p.left == 0 {
		p.list.IsTruncated, p.list.NextKeyMarker, p.list.NextVersionIDMarker = true, p.key, p.id
		return false
	}
	p.left, p.key, p.id = p.left-1, key, id
	return true
}

func (p *versionPage) addPrefix(common string) bool {
	if !p.take(common, "") {
		return false
	}
	p.list.CommonPrefixes = append(p.list.CommonPrefixes, gofakes3.CommonPrefix{Prefix: common})
	return true
}

// add adds the versions of an object from o on.
func (p *versionPage) add(o *object, latest bool) bool {
	for ; o != nil; o, latest = o.older(), false {
		id := o.version()
		if id == "" {
			id = noVersion
		}
		if !p.take(o.key, id) {
			return false
		}
		at := gofakes3.NewContentTime(o.modified)
		if o.isMarker() {
			p.list.Versions = append(p.list.Versions, &gofakes3.DeleteMarker{Key: o.key, VersionID: id, IsLatest: latest, LastModified: at})
			continue
		}
		p.list.Versions = append(p.list.Versions, &gofakes3.Version{Key: o.key, VersionID: id, IsLatest: latest, LastModified: at,
			Size: o.size, StorageClass: gofakes3.StorageStandard, ETag: o.etag()})
	}
	return true
}
