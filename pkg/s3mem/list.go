package s3mem

import (
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// ListBucket returns one page. The marker is the last entry of the previous page: a key, or a
// common prefix, whose keys are then all skipped.
func (b *backend) ListBucket(name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	bk, err := b.bucket(name)
	if err != nil {
		return nil, err
	}
	if prefix == nil {
		prefix = &gofakes3.Prefix{}
	}
	list := gofakes3.NewObjectList()
	if page.MaxKeys <= 0 {
		return list, nil
	}
	bk.mu.RLock()
	defer bk.mu.RUnlock()
	c := bk.objects.after(prefix, page.Marker)
	last := ""
	for n := int64(0); ; n++ {
		o := c.object()
		if o == nil || !strings.HasPrefix(o.key, prefix.Prefix) {
			return list, nil
		}
		if o.isMarker() {
			n--
			c.next()
			continue
		}
		if n == page.MaxKeys {
			list.IsTruncated, list.NextMarker = true, last
			return list, nil
		}
		if common := commonPrefix(o.key, prefix); common != "" {
			list.AddPrefix(common)
			last = common
			c = bk.objects.seekBeyond(common)
			continue
		}
		list.Add(&gofakes3.Content{Key: o.key, LastModified: gofakes3.NewContentTime(o.modified), ETag: o.etag(),
			Size: o.size, StorageClass: gofakes3.StorageStandard})
		last = o.key
		c.next()
	}
}

// after returns the position where a page begins.
func (x *index) after(prefix *gofakes3.Prefix, marker string) cursor {
	if marker < prefix.Prefix {
		return x.seek(prefix.Prefix)
	}
	if common := commonPrefix(marker, prefix); common != "" && common == marker {
		return x.seekBeyond(common)
	}
	c := x.seek(marker)
	if o := c.object(); o != nil && o.key == marker && marker != "" {
		c.next()
	}
	return c
}

// commonPrefix returns the prefix under which a delimited listing groups a key, or "" for a
// separate key.
func commonPrefix(key string, p *gofakes3.Prefix) string {
	if p.Delimiter == "" || !strings.HasPrefix(key, p.Prefix) {
		return ""
	}
	if i := strings.Index(key[len(p.Prefix):], p.Delimiter); i >= 0 {
		return key[:len(p.Prefix)+i+len(p.Delimiter)]
	}
	return ""
}

// seekBeyond returns the position after all keys that begin with prefix.
func (x *index) seekBeyond(prefix string) cursor {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return cursor{x, len(x.chunks), 0}
	}
	b[len(b)-1]++
	return x.seek(string(b))
}
