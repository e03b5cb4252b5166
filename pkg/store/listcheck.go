package store

import (
	"cmp"
	"net/http"
	"strings"
)

// A ListCheck checks the entries of a listing, page after page: names have the prefix and are in
// ascending order. A listing that invents entries has to violate one of the two, and one that
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

// NewListCheck returns a check of a listing of objects, or with versions of versions.
func NewListCheck(prefix string, versions bool) *ListCheck {
	return &ListCheck{prefix: prefix, versions: versions}
}

// Unordered has the check expect no order.
func (c *ListCheck) Unordered() { c.unordered = true }

// Entry checks an entry of a listing of objects or versions. Some stores repeat the last entry of
// a page at the start of the next; skip is true for the repetition.
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

// Each calls list, which lists entries, and passes each of them on that [ListCheck.Entry] accepts. It
// ends the listing at the first wrong one, whose error it returns.
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
// within a page. MinIO appends notes of its own to the name.
func (c *ListCheck) Page(marker string) error {
	marker, _, _ = strings.Cut(marker, "[minio_cache:")
	if marker < c.marker && !c.unordered {
		return BadAnswer(http.StatusOK, "the listing goes back, from %.60q to %.60q", c.marker, marker)
	}
	c.marker = marker
	return nil
}
