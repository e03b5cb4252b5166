package s3

import (
	"net/http"
	"strings"

	"warp/pkg/store"
)

// A ListCheck holds the entries of a listing, page after page, against what a store promises: names lie below the
// prefix and are in ascending order. One that invents entry after entry has to break one or the other, and one that
// repeats them would have them counted twice.
type ListCheck struct {
	prefix    string
	unordered bool
	versions  bool   // of which some stores list those of removed objects behind all others; pages are in order
	key       string // the latest object
	version   string // of the latest entry
	repeated  bool   // the latest entry was there twice
	common    string // the latest common prefix
	marker    string // of the latest page of versions or uploads
}

// directoryBucket ends the names of buckets whose listings are in no order.
const directoryBucket = "--x-s3"

func NewListCheck(bucket, prefix string, versions bool) *ListCheck {
	return &ListCheck{prefix: prefix, versions: versions, unordered: strings.HasSuffix(bucket, directoryBucket)}
}

// entry checks an entry of a listing of objects or versions. Some stores begin a page with the last entry of the page
// before; such a repetition is to be skipped.
func (c *ListCheck) Entry(o *store.Object) (skip bool, err error) {
	if err := c.Below(o.Key); err != nil || c.unordered {
		return false, err
	}
	last := &c.key
	if o.IsPrefix {
		last = &c.common
	}
	again := o.Key == *last && o.Key != "" && o.VersionID == c.version
	if o.Key < *last && !c.versions || again && c.repeated {
		return false, store.BadAnswer(http.StatusOK, "the listing is not in order: %.60q follows %.60q", o.Key, *last)
	}
	*last, c.version, c.repeated = o.Key, o.VersionID, again
	return again, nil
}

// below checks that a name was asked for.
func (c *ListCheck) Below(key string) error {
	if strings.HasPrefix(key, c.prefix) {
		return nil
	}
	return store.BadAnswer(http.StatusOK, "the listing has %.60q, which is not below %.60q", key, c.prefix)
}

// page checks where a listing of versions or uploads goes on. Stores do not agree on the order inside of a page. MinIO
// puts notes of its own behind the name.
func (c *ListCheck) Page(marker string) error {
	marker, _, _ = strings.Cut(marker, "[minio_cache:")
	if marker < c.marker && !c.unordered {
		return store.BadAnswer(http.StatusOK, "the listing goes back, from %.60q to %.60q", c.marker, marker)
	}
	c.marker = marker
	return nil
}
