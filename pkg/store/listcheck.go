package store

import (
	"cmp"
	"net/http"
	"strings"
)

// A ListCheck checks the entries of a listing, page after page: names must have the prefix and be
// in ascending order. A listing that invents entries violates one of the two, and repeated entries
// would be counted twice.
type ListCheck struct {
	prefix    string
	unordered bool
	versions  bool   // a listing of versions: some stores list removed objects after all others, so only pages are in order
	key       string // the latest object
	version   string // of the latest entry
	repeated  bool   // the store repeated the latest entry
	common    string // the latest common prefix
	marker    string // the marker of the latest page of versions or uploads
}

// NewListCheck returns a check for a listing of objects, or of versions if versions is set.
func NewListCheck(prefix string, versions bool) *ListCheck {
	return &ListCheck{prefix: prefix, versions: versions}
}

// Unordered disables the check of the order.
func (c *ListCheck) Unordered() { c.unordered = true }

// Entry checks an entry of a listing of objects or versions. Some stores repeat the last entry of a
// page at the start of the next page; skip is true for the repetition.
func (c *ListCheck) Entry(o *Object) (skip bool, err error) {
	if err := c.Below(o.Key); err != nil || c.unordered {
		return false, err
	}
	last := &c.key
	if o.IsPrefix {
		last = &c.common
	}
	again := o.Key == *last && o.Key != "" && o.VersionID == c.version
	if o.Key < *last && !c.versions || again && c.repeated {
		return false, BadAnswer(http.StatusOK, "the listing is not in order: %.60q follows %.60q", o.Key, *last)
	}
	*last, c.version, c.repeated = o.Key, o.VersionID, again
	return again, nil
}

// Each calls list, which lists entries, and passes on every entry that [ListCheck.Entry] accepts.
// It stops the listing at the first wrong entry and returns its error.
func (c *ListCheck) Each(each func(Object) bool, list func(each func(Object) bool) error) error {
	var wrong error
	err := list(func(o Object) bool {
		skip, err := c.Entry(&o)
		if wrong = err; wrong != nil {
			return false
		}
		return skip || each(o)
	})
	return cmp.Or(wrong, err)
}

// Below checks that a name has the prefix that was asked for.
func (c *ListCheck) Below(key string) error {
	if strings.HasPrefix(key, c.prefix) {
		return nil
	}
	return BadAnswer(http.StatusOK, "the listing has %.60q, which is not below %.60q", key, c.prefix)
}

// Page checks where a listing of versions or uploads continues. Stores do not agree on the order
// within a page. MinIO appends its own notes to the name.
func (c *ListCheck) Page(marker string) error {
	marker, _, _ = strings.Cut(marker, "[minio_cache:")
	if marker < c.marker && !c.unordered {
		return BadAnswer(http.StatusOK, "the listing goes back, from %.60q to %.60q", c.marker, marker)
	}
	c.marker = marker
	return nil
}
