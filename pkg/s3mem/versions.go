package s3mem

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
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

// push adds the newest version of an object. While versions are suspended, it has no id, and replaces the one without.
func (b *backend) push(bk *bucket, o *object) {
	version := gofakes3.VersionID("")
	if !bk.suspended {
		version = gofakes3.VersionID(fmt.Sprintf("%016x", b.versions.Add(1)))
	} else if null := bk.find(o.key, noVersion); null != nil {
		b.replace(bk, null, nil)
	}
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

// deleteVersion removes one version for good. If it does not exist, that is not an error.
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
		v.SetEnabled(!bk.suspended)
	}
	return v, nil
}

// SetVersioningConfiguration turns versions on, or suspends them.
func (b *backend) SetVersioningConfiguration(name string, v gofakes3.VersioningConfiguration) error {
	bk, err := b.bucket(name)
	if err != nil {
		return err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	if !v.Enabled() && bk.locks {
		return &refusal{http.StatusConflict, "InvalidBucketState", "A bucket with object lock keeps its versions."}
	}
	bk.versioned, bk.suspended = true, !v.Enabled()
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

// ListBucketVersions is not called: gofakes3 gives its document another name than S3.
func (b *backend) ListBucketVersions(string, *gofakes3.Prefix, *gofakes3.ListBucketVersionsPage) (*gofakes3.ListBucketVersionsResult, error) {
	return nil, gofakes3.ErrNotImplemented
}

// maxVersions is the max number of versions in a page.
const maxVersions = 1000

// A versionPage is the document of a listing of versions, which is filled until its limit.
type versionPage struct {
	XMLName             xml.Name `xml:"ListVersionsResult"`
	Xmlns               string   `xml:"xmlns,attr"`
	Name                string
	Prefix              string
	Delimiter           string `xml:",omitempty"`
	KeyMarker           string
	VersionIDMarker     string `xml:"VersionIdMarker"`
	NextKeyMarker       string `xml:",omitempty"`
	NextVersionIDMarker string `xml:"NextVersionIdMarker,omitempty"`
	MaxKeys             int
	IsTruncated         bool
	Entries             []any // versions and delete markers, in order
	CommonPrefixes      []gofakes3.CommonPrefix

	entries         int
	lastKey, lastID string
}

// listVersions answers a listing of versions with one page. The markers are the last entry of the page before.
func (e *Embedded) listVersions(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	name, _ := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	p := &versionPage{Xmlns: namespace, Name: name, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"),
		KeyMarker: q.Get("key-marker"), VersionIDMarker: q.Get("version-id-marker"), MaxKeys: maxVersions}
	if n, err := strconv.Atoi(q.Get("max-keys")); err == nil && n > 0 {
		p.MaxKeys = min(n, maxVersions)
	}
	p.fill(bk)
	return respond(w, p)
}

// fill adds entries until the page is full or the listing ends.
func (p *versionPage) fill(bk *bucket) {
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	if p.VersionIDMarker != "" {
		if o := bk.find(p.KeyMarker, gofakes3.VersionID(p.VersionIDMarker)); o != nil && !p.add(o.older(), false) {
			return
		}
	}
	prefix := &gofakes3.Prefix{HasPrefix: p.Prefix != "", Prefix: p.Prefix, HasDelimiter: p.Delimiter != "", Delimiter: p.Delimiter}
	c := bk.objects.after(prefix, p.KeyMarker)
	for o := c.object(); o != nil && strings.HasPrefix(o.key, p.Prefix); o = c.object() {
		if common := commonPrefix(o.key, prefix); common != "" {
			if !p.take(common, "") {
				return
			}
			p.CommonPrefixes = append(p.CommonPrefixes, gofakes3.CommonPrefix{Prefix: common})
			c = bk.objects.seekBeyond(common)
			continue
		}
		if !p.add(o, true) {
			return
		}
		c.next()
	}
}

// take counts an entry, or ends the page.
func (p *versionPage) take(key, id string) bool {
	if p.entries == p.MaxKeys {
		p.IsTruncated, p.NextKeyMarker, p.NextVersionIDMarker = true, p.lastKey, p.lastID
		return false
	}
	p.entries, p.lastKey, p.lastID = p.entries+1, key, id
	return true
}

// add adds the versions of an object from o on.
func (p *versionPage) add(o *object, latest bool) bool {
	for ; o != nil; o, latest = o.older(), false {
		id := o.version()
		if id == "" {
			id = noVersion
		}
		if !p.take(o.key, string(id)) {
			return false
		}
		at := gofakes3.NewContentTime(o.modified)
		if o.isMarker() {
			p.Entries = append(p.Entries, &gofakes3.DeleteMarker{Key: o.key, VersionID: id, IsLatest: latest, LastModified: at})
			continue
		}
		p.Entries = append(p.Entries, &gofakes3.Version{Key: o.key, VersionID: id, IsLatest: latest, LastModified: at,
			Size: o.size, StorageClass: gofakes3.StorageStandard, ETag: o.etag()})
	}
	return true
}
